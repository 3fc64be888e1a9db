"""Games valued by engines, as the command `analyse` does it: many engines, one line or all, a cluster, likely moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path

from assay.engine.analysis import Outcome, value
from assay.engine.cluster import connect
from assay.engine.exchange import export, import_file
from assay.engine.identity import ALL_LINES, DEFAULT, DEFAULT_DEPTH, NO_DEPTH, LikelyDeeper, Search, find
from assay.engine.parsed import Wanted, wanted
from assay.engine.store import Store, writing
from assay.errors import InputError
from assay.games import Games, read
from assay.games.stream import Paths
from assay.moves.asked import Asked, File
from assay.moves.choice.likely import chooser
from assay.policy.chances import shipped
from assay.progress import duration
from assay.table import Answer, Table, columns_of, counted, reasons


@dataclass(frozen=True, eq=False, kw_only=True)
class ValuedPositions(Answer):
    """What each engine did, a row each; `work` are the positions, `outcomes` all that is known of the work."""

    work: Wanted
    outcomes: Sequence[Outcome]


def value_games(
    what: Paths | Games,
    *,
    store: File | None = None,
    engine: Sequence[str] = (),
    depth: int | None = None,
    lines: int = 50,
    nodes: int | None = None,
    workers: int | None = None,
    hash_mb: int = 16,
    options: Sequence[tuple[str, str]] = (),
    likely: bool = False,
    cluster: str | None = None,
    from_move: int = 9,
    where: str | None = None,
    limit: int | None = None,
    patience: float | None = None,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> ValuedPositions:
    """Store the values of all positions of some games; see :func:`assay.api.store_analyses`."""
    say = told or (lambda text: None)
    depth, engines = depth or (NO_DEPTH if nodes else DEFAULT_DEPTH), engine or (DEFAULT,)
    few = likely_to(depth, nodes) if likely else None
    searches = [Search(name, depth, lines, nodes or 0, hash_mb, tuple(options), likely=few) for name in engines]
    if not cluster:
        for name in engines:
            find(name)
    games, outcomes = read(what, where=where), list[Outcome]()
    with writing(Asked(store=store).place) as opened:
        work = wanted(islice(games, limit), from_move=from_move, ends=lines == 1, quiet=quiet)
        work.problems.update(games.problems)
        if not work.read:
            raise games.no_games()
        for line in _told_plan(work):
            say(line)
        with connect(cluster, workers) if cluster else nullcontext() as machines:
            for search in searches:
                done = value(
                    work,
                    opened,
                    search,
                    workers=workers,
                    patience=patience,
                    quiet=quiet,
                    cluster=machines,
                    deeper=chooser(shipped(), few) if few else None,
                )
                outcomes.append(done)
                for line in _told(done):
                    say(line)
    rows = [{"analysis": str(one.identity), "stored": one.known, "valued": one.valued} for one in outcomes]
    shown = Table(rows, columns_of(("analysis", "stored", "valued")))
    return ValuedPositions(shown=shown, work=work, outcomes=outcomes, problems=work.problems)


def likely_to(depth: int, nodes: int | None) -> LikelyDeeper:
    """A search that goes deeper with likely moves alone."""
    found = LikelyDeeper(shipped().identity)
    if nodes or depth <= found.wide:
        raise InputError(f"--likely goes deeper than {found.wide} with some moves: give a greater --depth alone.")
    return found


def _told_plan(work: Wanted) -> list[str]:
    """What the games hold."""
    out = reasons(work.left_out)
    games, positions = counted(len(work.games), "game"), counted(len(work.keys), "position")
    return [
        *([f"Games left out or damaged: {reasons(work.problems)}."] if work.problems else []),
        f"{games}, {positions} to value{f' (left out: {out})' if out else ''}.",
    ]


def _told(outcome: Outcome) -> list[str]:
    """What one engine did."""
    out = "".join(f", {reason} {count:,}" for reason, count in sorted(outcome.left_out.items()))
    busy = f" in {duration(outcome.seconds)}, engines busy {outcome.busy:.0%}" if outcome.valued else ""
    return [
        f"{outcome.identity}: {outcome.known:,} stored before, {outcome.valued:,} valued now{out}{busy}.",
        *([f"The engine was restarted {counted(outcome.restarts, 'time')}."] if outcome.restarts else []),
        *(f"Set aside after three tries ({position.why}): {position.fen}" for position in outcome.set_aside),
    ]


ANALYSES_COLUMNS = (
    *("engine", "net", "options", "lines", "nodes", "depth", "least_depth", "positions", "left_out", "games"),
)


def analyses_in(store: File | None = None, *, mend: bool = False) -> Answer:
    """What a store holds, a row for each analysis; see :func:`assay.api.analyses`."""
    path, remarks = Asked(store=store).place, list[str]()
    if mend:
        Store(path).close()  # refuses a file that is no store, instead of making one
        with writing(path) as opened:
            remarks.append(f"{counted(opened.mend(), 'damaged entry')} taken out of {path}.")
    with Store(path) as opened:
        rows = [
            {
                "engine": kept.identity.engine,
                "net": kept.identity.net,
                "options": " ".join(f"{name}={value}" for name, value in kept.identity.options),
                "lines": "all" if kept.identity.lines >= ALL_LINES else kept.identity.lines,
                "nodes": kept.identity.nodes or None,
                "depth": None if kept.depth in (0, NO_DEPTH) else kept.depth,
                "least_depth": None if kept.least_depth in (0, NO_DEPTH) else kept.least_depth,
                "positions": kept.positions,
                "left_out": kept.left_out,
                "games": kept.games,
            }
            for kept in opened.kept()
        ]
    columns = columns_of(ANALYSES_COLUMNS, wide=("net", "options", "least_depth"))
    return Answer(shown=Table(rows, columns), remarks=remarks)


def export_store(path: Path, store: File | None = None, *, quiet: bool = True) -> Answer:
    """Write a store for others; see :func:`assay.api.export_analyses`."""
    with Store(Asked(store=store).place) as opened:
        count = export(opened, path, quiet=quiet)
    shown = Table([{"file": str(path), "positions": count}], columns_of(("file", "positions")))
    return Answer(shown=shown, remarks=[f"{counted(count, 'position')} written to {path}."])


def import_into(
    files: File | Sequence[File],
    store: File | None = None,
    *,
    engine: str = DEFAULT,
    engine_name: str | None = None,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> Answer:
    """Take analyses in from files; see :func:`assay.api.import_analyses`."""
    say, rows, refused = told or (lambda text: None), [], Counter[str]()
    with writing(Asked(store=store).place) as opened:
        for file in [files] if isinstance(files, str | PathLike) else files:
            found = import_file(Path(file), opened, search=Search(engine), named=engine_name, quiet=quiet)
            games = f", {counted(found.games, 'game')}" if found.games else ""
            say(f"{file}: {counted(found.valued, 'position')}, {found.left_out:,} left out{games}.")
            if found.refused:
                most = reasons(dict(found.refused.most_common(5)))
                say(f"Rows refused: {most} (first: {found.first_refused}).")
            refused += found.refused
            rows.append(
                {"file": str(file), "positions": found.valued, "left_out": found.left_out, "games": found.games}
            )
    return Answer(shown=Table(rows, columns_of(("file", "positions", "left_out", "games"))), problems=refused)
