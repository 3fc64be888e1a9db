"""Ratings from moves as answers: by groups, through a game, beside what is expected of ratings; and calibrations."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.curve import Estimate
from assay.engine.analysis import Analysis
from assay.engine.identity import DEFAULT, Search, find, installed, jury
from assay.engine.local import identify
from assay.engine.store import Store
from assay.engine.turns import Turns
from assay.errors import EngineError, InputError, OutputError
from assay.games import Games, read
from assay.games.duplicates import Seen
from assay.games.people import told_alike
from assay.games.selection import GameSelection
from assay.games.split import players_of
from assay.games.stats import told_endings
from assay.games.stream import Paths
from assay.manifest import describe_inputs
from assay.moves.analysed import jury_turns, turns_in
from assay.moves.asked import Asked, What
from assay.moves.by_fit import ByFit, rated_games
from assay.moves.calibrating import describe, make_calibration
from assay.moves.calibration import Calibration, for_engine, load, save, slug
from assay.moves.calibration import shipped as shipped_calibrations
from assay.moves.evals import with_evals
from assay.moves.evals_rating import rate_evals, scales_told, told_units, turns_with_evals
from assay.moves.evidence import Evidence, unweighed, weigh
from assay.moves.fits import PROJECTED, Fitting
from assay.moves.groups import Moved, by_pool, games_in_pool, in_periods, in_pool, rename, renamed, weights_of
from assay.moves.performance import (
    BLUNDER_COLUMNS,
    BLUNDER_NAMES,
    CHOICE,
    How,
    Row,
    blunder_shares,
    rate_groups,
    sort_rows,
    with_blunders,
)
from assay.moves.performance import COLUMNS as IPR_COLUMNS
from assay.moves.reference import read as read_reference
from assay.moves.review import Running, running
from assay.moves.transfer import SHIPPED, pair, shipped_turns, transferred, value_turns
from assay.paths import File, own_calibrations, store_place
from assay.policy.chances import Network, open_network, shipped
from assay.pools import FIRST, words_of
from assay.presets import DEEP, DEFAULT_DEPTH, QUICK
from assay.records import dataclass
from assay.scales import in_fide
from assay.table import Answer, Table, columns_of, counted, reasons, there_are, told_copies

# Shorter words for the text table; CSV and JSON keep the names.
TITLES = {
    "performance": "perf",
    "mm_expected": "exp",
    "top3_expected": "exp",
    "ad_expected": "exp",
}
EVAL_COLUMNS = ("games", "turns", "elo", "performance", "ipr", "low", "high", "acpl", "loss", "note")
_IPR_WIDE = ("mm_expected", "top3", "top3_expected", "ad_expected", "s", "c", "method")


@dataclass(frozen=True)
class Ready:
    """Turns, what to judge them by, and what is to be said of them."""

    turns: Turns
    calibration: Calibration
    policy: Network | bool
    problems: Counter[str]
    remarks: tuple[str, ...]
    errors: Mapping[str, float] = field(default_factory=dict)  # of the ratings, if lists tell them


def ready(
    what: What,
    asked: Asked,
    *,
    game: int | None = None,
    without: Sequence[int] = (),
    check: Callable[[set[str], Mapping[str, str]], None] | None = None,
    by_fit: ByFit | None = None,
) -> Ready:
    """The turns of games, analysed where the store lacks them, and the calibration and policy to judge them by.

    `game` takes one game alone, `without` leaves some out, by their numbers. `check` is told who plays, and the main
    names of other names, before any engine starts. `by_fit` asks for Regan's way, on a scale of its own.
    """
    chosen = asked.calibrated(what.depth if isinstance(what, Analysis) else None, choice=by_fit is None)
    on_scale = list[str]()
    if by_fit is not None:
        chosen, on_scale = by_fit.calibrated(chosen, asked.place)
    network = asked.network
    duplicates, problems, names = "", Counter[str](), dict[str, str]()
    errors: dict[str, float] = {}
    told: Sequence[str] = ()
    alike: Sequence[str] = ()
    if isinstance(what, Analysis):
        if by_fit is not None and by_fit.jury:
            raise InputError("an analysis is by one engine: give a jury the games themselves.")
        turns, problems = turns_in(what, chosen), what.problems
    else:
        lists = asked.read(what)
        found, errors, told = lists.games, dict(lists.errors), lists.remarks
        games, seen = found.all(), Seen()
        problems = found.problems
        names = asked.names(games)
        if check is not None:
            check(players_of(games), names)
        if game is not None:
            if game > len(games):
                raise InputError(f"{there_are(len(games), 'game')} in {found.named}, and no game {game}.")
            games = games[game - 1 : game]
        once = np.array([asked.keep_duplicates or seen.add(one) for one in games], np.bool_)
        alike = told_alike([one for one, counts in zip(games, once, strict=True) if counts], names)
        if by_fit is not None and by_fit.jury:
            turns = jury_turns(games, asked.place, chosen, by_fit.jury, counted=once)
        else:
            named, strict = True if by_fit is not None else None, by_fit is not None
            with asked.analysed(games, chosen, once, named=named, strict=strict) as analysis:
                turns = turns_in(analysis, chosen)
        duplicates = str(seen.duplicates) if seen.duplicates else ""
    if by_fit is None:
        chosen = for_engine(turns.identities[0], chosen.depth, chosen if asked.calibration else None)
    remarks = [*told_of(turns, problems, chosen), *on_scale]
    remarks += told_copies(duplicates)
    remarks += alike
    if not len(turns):
        raise InputError("these games have no turns to judge: all are decided, forced, repeated or not analysed.")
    turns = in_pool(turns, asked.pool, asked.scale_year)
    remarks += told_scales(turns)
    remarks += told_endings(turns.games["termination"])
    turns = rename(turns, names) if names else turns
    if without:
        kept = _without(turns, without)
        numbers = ", ".join(str(one) for one in sorted(set(without)))
        remarks.append(f"Left out as asked: game {numbers}; {counted(len(turns) - len(kept), 'turn')}.")
        turns = kept
    errors = {names.get(name, name): error for name, error in errors.items()}
    return Ready(turns, chosen, network, problems + turns.problems, (*remarks, *told), errors)


def analyse_games(what: Paths | Games, asked: Asked) -> Analysis:
    """Games with their analyses, as the calibration of the depth asks for them; see :func:`assay.api.analyse`."""
    if unused := asked.given("policy", "aliases", "pool", "scale_year", "rating"):
        raise InputError(f"an analysis holds games as they are: give {unused[0]} to what rates it.")
    games, seen = asked.read(what).games.all(), Seen()
    once = np.array([asked.keep_duplicates or seen.add(one) for one in games], np.bool_)
    return asked.analysed(games, asked.calibrated(), once)


def told_of(turns: Turns, problems: Counter[str], calibration: Calibration) -> list[str]:
    """What a rating rests on, and what was left out."""
    told = problems + turns.problems
    return [
        *([f"Games left out or damaged: {reasons(told)}."] if told else []),
        f"{counted(turns.games.height, 'game')}, {counted(len(turns), 'turn')} counted; "
        f"left out: {reasons(turns.excluded) or 'none'}.",
        f"Analysed by {jury(turns.identities).engine} at depth {turns.depth}; calibration {calibration.name}.",
        *([calibration.stand_in.remedy] if calibration.stand_in else []),
    ]


def told_scales(turns: Turns) -> list[str]:
    """Which lines the games are rated on, where it is not the model's own scale alone."""
    lines = Counter(words_of(turns.games["line"][int(game)] or FIRST) for game in np.unique(turns.game))
    each = [f"{words} ({counted(games, 'game')})" for words, games in lines.most_common()]
    return [] if set(lines) == {words_of(FIRST)} else [f"Scale: {'; '.join(each)}."]


def _without(turns: Turns, games: Sequence[int]) -> Turns:
    """The turns of all games but some; numbers stay as they are."""
    if max(games) > turns.games.height or min(games) < 1:
        raise InputError(f"--without {max(games)}: {there_are(turns.games.height, 'game')}.")
    kept = turns.only(~np.isin(turns.game, np.array(games) - 1))
    if not len(kept):
        raise InputError("with these games left out there are no turns to judge.")
    return kept


def check_player(turns: Moved, player: str | None) -> None:
    """Refuse a name that nobody bears, with the nearest one."""
    names = sorted({str(name) for name in turns.player if name is not None})
    if player is not None and player not in names:
        near = get_close_matches(player, names, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"nobody called {player!r} moves in these games.{hint}")


@dataclass(frozen=True, eq=False, kw_only=True)
class MoveRatings(Answer):
    """Ratings from moves, a row for each group."""

    groups: Sequence[Row]
    by: str


def rate_by(
    what: What,
    asked: Asked,
    *,
    by: str = "player",
    player: str | None = None,
    without: Sequence[int] = (),
    evals: bool = False,
    fide: bool = False,
    how: How,
    by_fit: ByFit | None = None,
    periods: Sequence[str] = (),
    weights: Sequence[str] = (),
) -> MoveRatings:
    """Rate groups of turns; see :func:`assay.api.rate_moves`."""
    if weights and how.method != CHOICE:
        raise InputError(f"weights are for the choice model: leave out --weight, or --method {how.method}.")
    if evals or (why := _only_evals(what, asked)):
        if periods or weights:
            raise InputError("evaluations alone know no periods and no weights: leave these out, or --evals.")
        remark = [] if evals else [why]
        return _rate_by_evals(what, asked, by=by, player=player, without=without, fide=fide, how=how, said=remark)
    found = ready(what, asked, without=without, by_fit=by_fit)
    check_player(found.turns, player)
    turns = found.turns if player is None else found.turns.only(found.turns.player == player)
    turns = in_periods(turns, periods) if periods else turns
    heads = ("period", by) if periods and by != "period" else (by,)
    groups = by_pool(turns, *heads)
    judge = found.calibration
    evidence = weigh(turns, judge, found.policy) if judge.models else unweighed(turns, judge)
    weight, weighed = weights_of(turns, weights) if weights else (None, [])
    rows = rate_groups(replace(evidence, weight=weight), groups, how)
    keys = dict(zip(groups.labels, groups.keys, strict=True))
    names = {label: " / ".join(key[: len(heads)]) for label, key in keys.items()}
    shares = dict(zip(groups.labels, blunder_shares(evidence, groups, _tags(evidence)), strict=True))
    if by in ("player", "opponent"):
        rows = sort_rows(rows)
        rows = sorted(rows, key=lambda row: keys[row.group][0]) if len(heads) > 1 else rows
    decimals = dict.fromkeys(("elo", "performance", "ipr", "low", "high"), 0)
    decimals |= dict.fromkeys(("ad", "ad_expected", "s", "c", *BLUNDER_COLUMNS), 3)
    decimals |= dict.fromkeys(FIDE_COLUMNS, 0)
    columns = _with_fide(_with_pool([*heads, *with_blunders(IPR_COLUMNS)[1:]], [row.pool for row in rows]), fide)
    values = [
        row.values()
        | dict(zip(heads, keys[row.group], strict=False))
        | {
            name: share
            for name, share in shares[row.group].items()
            if row.expected is not None or name in BLUNDER_NAMES
        }
        | {"pool": row.pool}
        | fide_cells(row.pool, row.estimate)
        for row in rows
    ]
    return MoveRatings(
        groups=rows,
        by=by,
        shown=Table(
            values,
            columns_of(columns, decimals=decimals, titles=TITLES, wide=(*_IPR_WIDE, *BLUNDER_COLUMNS), below=("note",)),
        ),
        estimates={str(names[row.group]): replace(row.estimate, note=row.note) for row in reversed(rows)},
        problems=found.problems,
        remarks=(*found.remarks, *weighed),
    )


def _tags(evidence: Evidence) -> NDArray[np.float64]:
    """The rating in the tags of each turn's mover, nan where there is none."""
    sides = evidence.sides
    return sides.rating[sides.of]


def _only_evals(what: What, asked: Asked) -> str:
    """Why games are rated from their evaluations alone though nobody asked for it; nothing if they are not."""
    if isinstance(what, Analysis) or asked.given(
        "no_analysis", "store", "calibration", "depth", "quick", "deep", "engine"
    ):
        return ""
    try:
        find(DEFAULT)
    except EngineError:
        if with_evals(read(what, where=asked.where).all()):
            return "No engine is installed, and all games carry evaluations: rated from these alone, as with --evals."
    return ""


def _rate_by_evals(
    what: What,
    asked: Asked,
    *,
    by: str,
    player: str | None,
    without: Sequence[int],
    fide: bool,
    how: How,
    said: Sequence[str],
) -> MoveRatings:
    """Rate groups from the evaluations in the games; what an engine would need is not looked at."""
    if isinstance(what, Analysis):
        raise InputError("an analysis has the values of all moves: rate it without evals, or give the games.")
    if how.method != CHOICE:
        raise InputError(f"evaluations alone know no --method {how.method}: leave it out, or --evals.")
    lists = asked.read(what)
    found, games, seen = lists.games, lists.games.all(), Seen()
    counts = np.array([asked.keep_duplicates or seen.add(one) for one in games], np.bool_)
    if without and (max(without) > len(games) or min(without) < 1):
        raise InputError(f"--without {max(without)}: {there_are(len(games), 'game')}.")
    counts[np.array(without, np.intp) - 1] = False
    turns = turns_with_evals(games, counts)
    pooled = asked.pool or asked.scale_year
    tags = games_in_pool(turns.games, asked.pool, asked.scale_year) if pooled else turns.games
    turns = turns.tagged(renamed(tags, asked.names(games)) if asked.aliases else tags)
    check_player(turns, player)
    mine = turns if player is None else turns.only(turns.player == player)
    groups = by_pool(mine, by)
    rows = rate_evals(mine, groups, level=how.level, min_turns=how.min_turns)
    names = {label: key[0] for label, key in zip(groups.labels, groups.keys, strict=True)}
    rows = sort_rows(rows) if by in ("player", "opponent") else rows
    told = found.problems + turns.plies.problems
    remarks = [
        *said,
        *lists.remarks,
        *([f"Games left out or damaged: {reasons(told)}."] if told else []),
        f"{counted(int(counts.sum()), 'game')}, {counted(len(turns), 'turn')} with evaluations; "
        f"left out: {reasons(turns.excluded) or 'none'}.",
        f"Rated from the evaluations alone, times {told_units(turns)}. Scale: {scales_told(turns)}.",
        *told_endings(turns.games["termination"]),
        *told_copies(str(seen.duplicates) if seen.duplicates else ""),
    ]
    decimals = dict.fromkeys(("elo", "performance", "ipr", "low", "high", "acpl"), 0) | {"loss": 2}
    decimals |= dict.fromkeys(FIDE_COLUMNS, 0)
    columns = _with_fide(_with_pool([by, *EVAL_COLUMNS], [row.pool for row in rows]), fide)
    wide = ("performance", "acpl", "loss") if fide else ("loss",)
    values = [
        row.values()
        | fide_cells(row.pool, row.estimate)
        | {by: names[row.group], "pool": row.pool, "acpl": row.actual[0] / row.turns, "loss": row.actual[1] / row.turns}
        for row in rows
    ]
    return MoveRatings(
        groups=rows,
        by=by,
        shown=Table(values, columns_of(columns, decimals=decimals, titles=TITLES, wide=wide, below=("note",))),
        estimates={str(names[row.group]): replace(row.estimate, note=row.note) for row in reversed(rows)},
        problems=told,
        remarks=tuple(remarks),
    )


FIDE_COLUMNS = ("fide", "fide_low", "fide_high")


def _with_fide(columns: list[str], fide: bool) -> list[str]:
    """The columns of a table, with what ratings would be in FIDE's behind the interval, if that is asked for."""
    at = columns.index("high") + 1
    return [*columns[:at], *(FIDE_COLUMNS if fide else ()), *columns[at:]]


def fide_cells(pool: str | None, rating: Estimate) -> dict[str, float | None]:
    """What a rating of a pool would be in FIDE's, as cells of a row; empty where nobody knows."""
    found = in_fide(pool, rating)
    values = (found.value, found.low, found.high)
    return {name: value if np.isfinite(value) else None for name, value in zip(FIDE_COLUMNS, values, strict=True)}


def _with_pool(columns: Sequence[str], pools: Sequence[str | None]) -> list[str]:
    """The columns of a table, with one for the pool behind the first where rows are of several."""
    return [columns[0], *(["pool"] if len(set(pools)) > 1 else []), *columns[1:]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Followed(Answer):
    """The rating of both players after every move of a game; `sides` has it as arrays."""

    sides: Sequence[Running]
    level: float


def follow(
    what: What,
    asked: Asked,
    game: int = 1,
    *,
    prior: tuple[float, float] | str | None = None,
    level: float = 0.95,
) -> Followed:
    """What the moves of one game say so far, after each; see :func:`assay.api.posterior`."""
    found = ready(what, asked, game=game)
    at = game - 1 if isinstance(what, Analysis) else 0
    evidence = weigh(found.turns.only(found.turns.game == at), found.calibration, found.policy)
    sides = running(evidence, at, prior=prior, level=level)
    if not any(len(side.ply) for side in sides):
        raise InputError(f"game {game} has no turns to judge: all are before move 9, decided or repeated.")
    rows = [
        {
            "ply": int(ply) + 1,
            "move": f"{move}{'.' if side.white else '...'}",
            "player": side.player,
            "rating": said.value,
            "low": said.low,
            "high": said.high,
        }
        for side in sides
        for ply, move, said in zip(side.ply, side.move, side.estimates, strict=True)
    ]
    rows.sort(key=lambda row: int(str(row["ply"])))
    decimals = dict.fromkeys(("rating", "low", "high"), 0)
    return Followed(
        sides=sides,
        level=level,
        shown=Table(rows, columns_of(("ply", "move", "player", "rating", "low", "high"), decimals=decimals)),
        estimates={str(side.player): side.estimates[-1] for side in sides if len(side.estimates)},
        problems=found.problems,
        remarks=found.remarks,
    )


MARK_COLUMNS = (
    *("period", "elo", "games", "turns", "s", "s_error", "c", "c_error", "c_fit", "s_fit", "mm_predicted", "mm_actual"),
    *("ad_predicted", "ad_actual", "qfit", "ae_r", "ae_printed", "ipr", "ipr_error"),
)
_MARK_WIDE = ("s", "s_error", "c_error", "mm_predicted", "ad_predicted", "qfit", "ipr_error")
_PRINT_WIDE = ("turns", "ae_r", "ae_printed", "ipr")


TRANSFER_COLUMNS = (
    *("model", "games", "turns", "apart", "apart_error", "apart_per_400", "apart_per_400_error", "untouched"),
    *("untouched_error", "untouched_per_400", "untouched_per_400_error"),
)
_TRANSFER_WIDE = ("apart_per_400_error", "untouched_per_400", "untouched_per_400_error")


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationTable(Answer):
    """A calibration: its marks as a table, what identifies it in words above; `calibration` is it."""

    calibration: Calibration
    values: NDArray[np.float64] | None = None

    def save(self, path: File | None = None) -> Path:
        """Write it, for `calibration=` of later ratings: to a file, or to where it is found without being named."""
        place = own_calibrations() / f"{self.calibration.name}.json" if path is None else Path(path)
        if path is None:
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"cannot make the folder {place.parent}: {error.strerror or error}.") from error
        save(self.calibration, self.values, place)
        return place


def calibrated(found: Calibration, values: NDArray[np.float64] | None = None) -> CalibrationTable:
    """A calibration as an answer; the estimates are the ratings of its marks."""
    if said := found.figures.get("transfer"):
        rows = [{"model": kind} | dict(figures) for kind, figures in said.items()]
        decimals = dict.fromkeys(TRANSFER_COLUMNS, 0)
        shown = Table(rows, columns_of(TRANSFER_COLUMNS, decimals=decimals, wide=_TRANSFER_WIDE))
        return CalibrationTable(calibration=found, values=values, shown=shown, head=describe(found))
    names = [name for name in MARK_COLUMNS if any(mark.get(name) is not None for mark in found.marks)]
    decimals = {name: 3 for name in names if name[0] in "sc" or name.startswith(("mm", "ad"))}
    decimals |= {"qfit": 3, "ae_r": 4, "ae_printed": 4, "ipr": 0, "ipr_error": 0}
    # Print is shown as it was printed; of a calibration made here what its line rests on stands first.
    wide = _PRINT_WIDE if found.published else _MARK_WIDE if "s_fit" in names else ()
    columns = columns_of(names, decimals=decimals, titles=PROJECTED, wide=wide)
    marks = {str(mark["elo"]): (mark.get("ipr"), mark.get("ipr_error")) for mark in found.marks}
    return CalibrationTable(
        calibration=found,
        values=values,
        shown=Table(found.marks, columns),
        head=describe(found),
        estimates={
            name: Estimate(ipr, ipr - 1.96 * error, ipr + 1.96 * error)
            for name, (ipr, error) in marks.items()
            if ipr is not None and error is not None
        },
    )


def transfer(
    engine: str,
    *,
    reference: File | None = None,
    name: str | None = None,
    store: File | None = None,
    depth: int | None = None,
    turns: int | None = None,
    policy: Network | bool | str = True,
    workers: int | None = None,
    seed: int = 1,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> CalibrationTable:
    """Make a calibration for an engine that has none, as `assay calibrate --engine PATH --transfer` does.

    The engine values 4,320 positions that come with Assay (or a `reference` set; `turns` takes the first of them), what
    the `store` has costs nothing, and the model of Stockfish 15.1 is fitted anew to its values. The table tells how far
    apart the two are on held-out games.

    >>> import assay
    >>> assay.transfer("no-such-engine", store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.EngineError: no chess engine 'no-such-engine' found: give a path, or a name on PATH.
    """
    base = load(depth=depth or DEFAULT_DEPTH)
    found = read_reference(Path(reference), base.depth) if reference else shipped_turns(base.depth)
    found = found.first(turns) if turns else found
    place = store_place(store)
    outcome = value_turns(
        found, Search(engine, depth=base.depth, lines=base.lines), place, workers=workers, quiet=quiet
    )
    identity = outcome.identity
    with Store(place) as opened:
        paired = pair(found, opened, identity, base.depth)
    network = open_network(policy) if isinstance(policy, str) else shipped() if policy is True else policy or None
    made = transferred(
        paired,
        base,
        name=name or slug(identity.engine, base.depth),
        network=network,
        inputs=list(describe_inputs(sorted(Path(reference or SHIPPED).glob("*.parquet")))),
        seed=seed,
        told=told or (lambda text: None),
    )
    remarks = [f"Set aside after three tries ({position.why}): {position.fen}" for position in outcome.set_aside]
    return replace(calibrated(made), remarks=remarks)


def calibrations() -> Answer:
    """The calibrations that come with Assay, as `assay calibration list` prints them.

    >>> import assay
    >>> "stockfish-15.1-d8" in assay.calibrations().table["name"]
    True
    """
    rows = []
    for name in shipped_calibrations():
        found = load(name)
        figures = found.figures.get("policy", found.figures.get("engine", {}))
        rows.append(
            {
                "name": name,
                "engine": found.engine,
                "depth": found.depth,
                "lines": found.lines,
                "games": found.games or None,
                "turns": found.turns or None,
                "noise": figures.get("noise"),
                "line": f"{found.line.intercept:.0f} - {found.line.slope:.0f} AE" if found.line else None,
            }
        )
    names = ("name", "engine", "depth", "lines", "games", "turns", "noise", "line")
    return Answer(shown=Table(rows, columns_of(names, decimals={"noise": 0})))


ENGINE_COLUMNS = ("engine", "program", "net", "calibration", "off", "quick", "quick_off", "deep", "deep_off", "note")


def engines(programs: Sequence[str] = ()) -> Answer:
    """The chess engines of this machine, and `programs`, with the calibration each would use: `assay engines`.

    >>> import assay
    >>> assay.engines(["no-such-engine"]).table["note"][0]
    "no chess engine 'no-such-engine' found: give a path, or a name on PATH."
    """
    rows = engine_rows([*programs, *installed()])
    if not rows:
        find()  # says how to install one
    columns = columns_of(
        ENGINE_COLUMNS,
        decimals=dict.fromkeys(("off", "quick_off", "deep_off"), 0),
        below=("note",),
        wide=("net", "quick", "quick_off", "deep", "deep_off"),
    )
    return Answer(shown=Table(rows, columns))


def engine_rows(programs: Sequence[str]) -> list[dict[str, Any]]:
    """What each program says that it is, and which calibrations its analyses would be judged by."""
    rows: list[dict[str, Any]] = []
    asked = set[tuple[str, ...]]()
    for program in programs:
        row: dict[str, Any] = {"engine": None, "program": program, "note": ""}
        try:
            command = find(program)
            if command in asked:
                continue
            asked.add(command)
            identity = asyncio.run(identify(Search(program)))
        except EngineError as error:
            rows.append(row | {"note": str(error)})
            continue
        row |= {"engine": identity.engine, "net": identity.net}
        for prefix, wanted in (("", DEFAULT_DEPTH), ("quick", QUICK), ("deep", DEEP)):
            judge = for_engine(identity, wanted)
            off = judge.stand_in.off if judge.stand_in else None
            row |= {prefix or "calibration": judge.name, f"{prefix}_off".strip("_"): off}
        rows.append(row)
    return rows


def calibrate(
    what: Paths | Games,
    *,
    name: str = "calibration",
    store: File | None = None,
    depth: int | None = None,
    marks: Sequence[int] = range(1600, 2701, 100),
    within: float = 20.0,
    method: str = "equations",
    engine: Sequence[str] | str | None = None,
    policy: Network | bool | str = True,
    seed: int = 1,
    keep_duplicates: bool = False,
    where: str | None = None,
    selection: GameSelection | None = None,
    told: Callable[[str], None] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> CalibrationTable:
    """Calibrate the scale from moves to Elo on rated games that are analysed already, as `assay calibrate` does.

    `method` and `settings` (model, curve, k, cap, tie, scale) are for Regan's part. Several engines are a jury, which
    has Regan's part alone. `selection` leaves out team events and large Swisses, as the papers do.

    `.save(path)` of the answer writes a file that `calibration=` takes elsewhere. docs/rating.md explains the rest.

    >>> import assay
    >>> assay.calibrate(assay.SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from_move, depth = 9, depth or DEFAULT_DEPTH
    found = rated_games(
        what,
        depth,
        store_place(store),
        engine=engine,
        marks=marks,
        within=within,
        from_move=from_move,
        keep_duplicates=keep_duplicates,
        where=where,
        selection=selection,
    )
    remarks = list(found.remarks)
    if found.engines > 1:
        remarks.append("A jury has no choice model, which needs one engine: this calibration is for --method regan.")
    network = open_network(policy) if isinstance(policy, str) else shipped() if policy is True else policy or None
    made, values = make_calibration(
        found.turns,
        found.identity,
        depth,
        name=name,
        network=network,
        choice=found.engines == 1,
        fitting=Fitting(method=method, **settings or {}),  # type: ignore[arg-type]
        from_move=from_move,
        settings=found.settings,
        exclusions=found.excluded,
        inputs=found.inputs,
        seed=seed,
        told=told or (lambda text: None),
    )
    return replace(calibrated(made, values), remarks=remarks)
