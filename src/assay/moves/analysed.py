"""Games valued by engines: as a calibration asks for it, and as the command `analyse` does it.

A calibration tells depth and width, the engine, and the moves that it counts; the command may name many engines, one
line or all, a cluster, likely moves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import lru_cache
from itertools import compress, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import Analysis, Outcome, analyse, stored_for, value
from assay.engine.cluster import connect
from assay.engine.identity import DEFAULT, NO_DEPTH, Identity, LikelyDeeper, Search, find, is_here, jury, likely_of
from assay.engine.parsed import Wanted, read_plies, wanted
from assay.engine.store import Store, writing
from assay.engine.turns import Turns, turns_of
from assay.errors import InputError
from assay.games import Game, Games, read, to_arrays
from assay.games.packed import as_bytes, pack
from assay.games.stream import Paths
from assay.moves.calibration import Calibration, for_engine
from assay.moves.choice.likely import chooser
from assay.paths import File, store_place
from assay.policy.chances import shipped
from assay.presets import ALL_LINES, DEFAULT_DEPTH
from assay.progress import Progress, duration
from assay.records import dataclass
from assay.table import Answer, Table, columns_of, counted, reasons


def analysed(
    games: Sequence[Game],
    store: str | Path,
    calibration: Calibration,
    *,
    counted: NDArray[np.bool_] | None = None,
    engine: str = DEFAULT,
    named: bool = True,
    strict: bool = False,
    no_analysis: bool = False,
    workers: int | None = None,
    quiet: bool = False,
    progress: Progress | None = None,
    each: Callable[[Analysis, int], None] | None = None,
    from_move: int | None = None,
) -> Analysis:
    """Games with their analyses at the calibration's depth and width; positions that the store lacks are valued first.

    Any engine will do, unless `strict`: Regan's way has no stand-in. Where the calibration was not `named`, stored
    analyses by any engine that has one of its own serve; an engine that is named and here is asked itself. See
    :func:`assay.engine.analysis.analyse` for the rest. `from_move` takes the place of the calibration's own. A
    calibration for likely moves has these searched deeper, by the policy that ships.
    """
    depth, serves = calibration.depth, _serves(calibration, named)
    likely = likely_of(calibration.options)
    return analyse(
        games,
        store=store,
        search=Search(engine, depth=calibration.depth, lines=min(calibration.lines, ALL_LINES), likely=likely),
        deeper=None if likely is None else chooser(shipped(), likely),
        from_move=from_move or int(calibration.settings["from_move"]),
        counted=counted,
        serves=serves if engine == DEFAULT or no_analysis or not is_here(engine) else None,
        check=lambda identity: calibration.check([identity], depth, any_engine=not strict),
        no_analysis=no_analysis,
        workers=workers,
        quiet=quiet,
        progress=progress,
        each=each,
    )


def turns_in(analysis: Analysis, calibration: Calibration) -> Turns:
    """The turns of an analysis that the calibration counts."""
    return analysis.turns(limit=float(calibration.settings["limit"]))


def analysed_turns(games: Sequence[Game], store: str | Path, calibration: Calibration, **how: Any) -> Turns:
    """The turns of some games, where nothing else is wanted of their analysis; `how` is as for :func:`analysed`."""
    with analysed(games, store, calibration, **how) as found:
        return turns_in(found, calibration)


def jury_turns(
    games: Sequence[Game],
    store: str | Path,
    calibration: Calibration,
    engines: Sequence[str],
    *,
    counted: NDArray[np.bool_] | None = None,
) -> Turns:
    """The turns of some games by the stored analyses of several engines, averaged; none of them is started."""
    with Store(Path(store)) as opened:
        identities = [opened.choose(name, depth=calibration.depth) for name in engines]
        calibration.check([jury(identities)], calibration.depth)
        plies = read_plies(games, int(calibration.settings["from_move"]), counted)
        limit = float(calibration.settings["limit"])
        return turns_of(plies, opened, identities, depth=calibration.depth, limit=limit)


def with_analyses(
    games: Iterable[tuple[int, Game]], store: str | Path, calibration: Calibration, named: bool = True
) -> Iterator[tuple[int, Game]]:
    """Of many games, each with its number, those that the store has analyses of at the calibration's depth.

    Most are told by the first position that counts, and so are parsed no further; openings are shared, so that of the
    others the last position tells.
    """
    from_move = int(calibration.settings["from_move"])
    with Store(store) as opened:
        identity = stored_for(opened, _serves(calibration, named)) or opened.choose(depth=calibration.depth)

        def known(some: Sequence[Game] | Sequence[bytes], last: bool) -> NDArray[np.bool_]:
            arrays = to_arrays(some)
            at = np.flatnonzero(arrays.fullmove >= from_move)
            game, first, count = np.unique(arrays.game[at], return_index=True, return_counts=True)
            keys = as_bytes(pack(arrays, at[first + count - 1 if last else first]))
            held = opened.holds(identity, calibration.depth, keys)
            out = opened.out(identity, [key for key in keys if key not in held])
            found = np.zeros(len(some), np.bool_)
            found[game] = [key in held or key in out for key in keys]
            return found

        stream = iter(games)
        while some := list(islice(stream, _GAMES)):
            openings = [until_move(game, from_move + 1) for _, game in some]
            each = list(dict.fromkeys(openings))
            of = dict(zip(each, known(each, last=False).tolist(), strict=True))
            begun = list(compress(some, (of[text] for text in openings)))
            yield from compress(begun, known([game for _, game in begun], last=True)) if begun else ()


def _serves(calibration: Calibration, named: bool) -> Callable[[Identity], bool]:
    """Whether analyses of an engine serve: by its own calibration of that depth, unless this one was asked for."""

    def serves(identity: Identity) -> bool:
        judge = for_engine(identity, calibration.depth, calibration if named else None)
        return not judge.refusal(identity, calibration.depth)

    return serves


_GAMES = 20_000


@lru_cache
def _numbered(number: int) -> re.Pattern[bytes]:
    return re.compile(rb"\s%d\." % number)


def until_move(game: Game, number: int) -> bytes:
    r"""The moves of a game before this one alone, where that can be seen at a glance; else the whole game.

    At a glance: no comments, no variations, no tag that a position depends on.

    >>> until_move(Game("-", 0, 35, b'[White "Ann"]\n\n1. e4 e5 2. Nf3 Nc6 *'), 2)
    b'1. e4 e5 *'
    """
    data = game.data
    moves = data.find(b"\n\n")
    if moves < 0 or b"{" in data or b"(" in data or b";" in data or b"[FEN " in data or b"[Variant " in data:
        return data
    found = _numbered(number).search(data, moves)
    return data[moves + 2 : found.start()] + b" *" if found else data


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
    with writing(store_place(store)) as opened:
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
