"""Games valued by engines, as the command `analyse` does it: many engines, one line or all, a cluster, likely moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice

from assay.engine.analysis import Outcome, value
from assay.engine.cluster import connect
from assay.engine.identity import DEFAULT, NO_DEPTH, LikelyDeeper, Search, find
from assay.engine.parsed import Wanted, wanted
from assay.engine.store import writing
from assay.errors import InputError
from assay.games import Games, read
from assay.games.stream import Paths
from assay.moves.asked import Asked
from assay.moves.choice.likely import chooser
from assay.paths import File
from assay.policy.chances import shipped
from assay.presets import DEFAULT_DEPTH
from assay.progress import duration
from assay.table import Answer, Table, columns_of, counted, reasons


@dataclass(frozen=True, eq=False, kw_only=True)
class ValuedPositions(Answer):
    """What each engine did, a row each; `work` are the positions, `outcomes` all that is known of the work."""

    work: Wanted
    outcomes: Sequence[Outcome]


def store_analyses(
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
    """Value every position of some games with one or several engines into a store, as `assay analyse` does.

    Where one calibration and one engine are meant, :func:`analyse` is simpler. docs/analysis.md explains the rest.

    >>> import assay
    >>> assay.store_analyses(assay.SAMPLE, engine=["no-such-engine"], store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.EngineError: no chess engine 'no-such-engine' found: give a path, or a name on PATH.
    """
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
