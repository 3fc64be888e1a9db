"""A report as an answer: the players at a glance, and the file it can be written to."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from assay.engine.identity import DEFAULT
from assay.games import Games
from assay.games.stream import Paths
from assay.moves.answers import asked_calibration
from assay.paths import default_store
from assay.policy.chances import Network, open_network
from assay.reports import growing
from assay.reports.content import Report
from assay.reports.exports import COLUMNS, check_place, player_rows, write
from assay.reports.growing import Making
from assay.table import Answer, Table, columns_of, told_copies

KINDS = ("html", "pdf", "csv", "json", "pgn")


@dataclass(frozen=True, eq=False, kw_only=True)
class WrittenReport(Answer):
    """A report; its table is that of the players at a glance."""

    report: Report

    def write(self, path: str | PathLike[str], format: str | None = None) -> int:
        """Write it, as the name of the file says or as html, pdf, csv, json or pgn; how many bytes it has."""
        place = Path(path)
        suffix = place.suffix.lower().removeprefix(".")
        kind = format or (suffix if suffix in KINDS else "html")
        check_place(place, kind)
        return write(self.report, place, kind)


def report_on(
    what: Paths | Games,
    *,
    store: str | PathLike[str] | None = None,
    calibration: str | None = None,
    depth: int | None = None,
    quick: bool = False,
    deep: bool = False,
    engine: str = DEFAULT,
    any_engine: bool = False,
    policy: Network | bool | str = True,
    no_analysis: bool = False,
    workers: int | None = None,
    aliases: str | PathLike[str] | None = None,
    pool: str | None = None,
    keep_duplicates: bool = False,
    where: str | None = None,
    quiet: bool = True,
) -> WrittenReport:
    """Make a report; see :func:`assay.api.report`."""
    asked = asked_calibration(calibration, depth, quick, deep)
    making = Making(
        Path(store) if store else default_store(),
        engine,
        workers,
        calibration,
        any_engine,
        analyse_missing=not no_analysis,
        keep_duplicates=keep_duplicates,
        pool=pool,
        depth=asked.depth,
        policy=open_network(policy) if isinstance(policy, str) else policy,
        aliases=Path(aliases) if aliases else None,
    )
    made = growing.make(what, making, where=where, quiet=quiet)
    whole = dict.fromkeys(("tag", "result", "ipr", "learned"), 0) | {"points": 1}
    shown = ("player", "games", "points", "turns", "tag", "result", "ipr", "learned", "z")
    return WrittenReport(
        report=made,
        shown=Table(
            player_rows(made),
            columns_of(COLUMNS, decimals=whole, wide=[name for name in COLUMNS if name not in shown]),
        ),
        estimates={player.name: player.intrinsic for player in made.players},
        problems=made.provenance.problems,
        remarks=told_copies(made.provenance.duplicates),
    )
