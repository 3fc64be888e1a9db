"""The answer: a row for each player with one rating, and beside it what each witness says alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.answer.joining import (
    LEARNED,
    MOVES,
    RESULTS,
    WITNESSES,
    Agreement,
    agreement,
    chosen,
    honest,
    joined,
    joint_of,
    normal_prior,
    population_of,
)
from assay.answer.voices import (
    BY,
    NO_PHASES,
    Units,
    Voice,
    evals_voice,
    learned_voice,
    moves_voice,
    results_voice,
    silent,
    units_of,
)
from assay.curve import GRID, Curve, Estimate, Floats, Honesty
from assay.engine.analysis import Analysis
from assay.engine.parsed import Plies, read_plies
from assay.errors import EngineError, InputError, NoTurns, StoreError
from assay.games import Game, GameArrays
from assay.games.columns import TEXT_TAGS
from assay.games.duplicates import Seen
from assay.games.split import players_of, tag_line
from assay.games.stream import Paths
from assay.moves.analysed import turns_in
from assay.moves.answers import FIDE_COLUMNS, fide_cells, told_scales
from assay.moves.asked import Asked, What
from assay.moves.evals import EvalTurns, with_evals
from assay.moves.evals_rating import scales_told, turns_with_evals
from assay.moves.evidence import Evidence, weigh
from assay.moves.groups import UNKNOWN, games_in_pool, is_standard, renamed
from assay.moves.performance import scale_note
from assay.players import did_you_mean, guessed, nearest
from assay.pools import POOLS
from assay.records import dataclass
from assay.table import Answer, Bound, Table, columns_of, counted, reasons, there_are, told_copies

NAMELESS = (
    "the games do not say who played: 'assay guess' rates each side of each game, and 'assay ipr --by game' or "
    "'--by band' rates them by their moves."
)
NO_BOUND = "what is known sets no bound"
BOUNDS = "< and >: no more than a bound is known."
PRIORS = ("none", "tag", "pool")


@dataclass(frozen=True)
class Said:
    """What is said of a unit: the joint estimate, that of each witness, and whether they agree."""

    player: str
    pool: str
    part: str
    games: int
    tag: float
    joint: Estimate
    alone: Mapping[str, Estimate]
    agreement: Agreement | None
    curves: Mapping[str, Floats] = field(default_factory=dict, repr=False)  # honest, to their powers

    @property
    def note(self) -> str:
        """What is to be known of the row."""
        if self.agreement is not None and self.agreement.alarm:
            return "the witnesses disagree"
        if np.isinf(self.joint.value):
            return NO_BOUND if np.isinf(self.joint.low) and np.isinf(self.joint.high) else str(self.joint)
        if not self.joint.known:
            return "; ".join(dict.fromkeys(one.note for one in self.alone.values() if one.note))
        return ""

    def values(self) -> dict[str, Any]:
        """The row as named values."""
        row: dict[str, Any] = {
            "player": self.player,
            "pool": self.pool,
            "part": self.part,
            "games": self.games,
            "tag": None if np.isnan(self.tag) else self.tag,
            **_three("rating", "", self.joint),
        }
        for name in WITNESSES:
            row |= _three(name, f"{name}_", self.alone.get(name, Estimate()))
        return row | {"p_agree": self.agreement.p if self.agreement else None, "note": self.note}

    def bounds(self) -> dict[str, Bound | str]:
        """What people see in the row where no more than a bound is known."""
        estimates = {"rating": self.joint, **self.alone}
        cells: dict[str, Bound | str] = {
            name: Bound(f">{one.low:.0f}" if np.isinf(one.high) else f"<{one.high:.0f}")
            for name, one in estimates.items()
            if one.known and np.isinf(one.low) != np.isinf(one.high)
        }
        # The bound says it: an interval of one end would only repeat it.
        cells |= {f"{'' if name == 'rating' else f'{name}_'}{end}": "" for name in [*cells] for end in ("low", "high")}
        return cells | ({"note": ""} if self.note == str(self.joint) else {})


def _three(name: str, begin: str, found: Estimate) -> dict[str, float | None]:
    bounds = {f"{begin}low": found.low, f"{begin}high": found.high}
    values = {name: found.value} | bounds
    return {key: float(value) if found.known and np.isfinite(value) else None for key, value in values.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class JointRatings(Answer):
    """The answer as a table; `said` has every row with what each witness says alone."""

    said: Sequence[Said]


@dataclass(frozen=True)
class Material:
    """Games read once, parsed once, valued where an engine or the store can; what is to be said of them."""

    games: Sequence[Game]
    frame: pl.DataFrame
    arrays: GameArrays
    counted: NDArray[np.bool_]
    evidence: Evidence | EvalTurns | None
    problems: Counter[str]
    remarks: list[str]

    def told(self, voices: Sequence[Voice]) -> list[str]:
        """The remarks, with the pools that have no scale of their own, and why a witness says nothing.

        Results are on the scale of the ratings in the tags, whatever that is; the others are on the nearest.
        """
        others = any(voice.name != RESULTS and np.ptp(voice.curves, axis=1).any() for voice in voices)
        note = scale_note(self.frame, np.flatnonzero(self.counted)) if others else ""
        nearest = [f"{note[0].upper()}{note[1:]}."] if note else []
        return [*self.remarks, *nearest, *(f"{voice.name}: {voice.note}." for voice in voices if voice.note)]


def rate_players(
    what: What,
    asked: Asked,
    *,
    by: str | None = None,
    witness: Sequence[str] = WITNESSES,
    prior: str = "none",
    level: float = 0.95,
    player: str | None = None,
    fide: bool = False,
    without: Sequence[int] = (),
    evals: bool = False,
) -> JointRatings:
    """One rating for each player; see :func:`assay.rate`."""
    _check(by, witness, prior)
    called = [] if player is None else [player]
    found = gather(what, asked, MOVES in witness, without=without, evals=evals, players=called)
    units = units_of(found.frame, found.counted, by)
    check_names(called, {name for name, _, _ in units.keys})
    units, voices = voices_of(found, units, by, witness, level)
    said = [_said(units, at, voices, prior, level) for at in range(len(units))]
    said = [one for one in said if player is None or one.player == player]
    said, unnamed = [one for one in said if one.player != UNKNOWN], said
    if unnamed and not said:
        raise InputError(NAMELESS)
    sides = [
        pair for pair, counts in zip(found.frame.select("white", "black").rows(), found.counted, strict=True) if counts
    ]
    first = guessed([(white or UNKNOWN, black or UNKNOWN) for white, black in sides])
    said.sort(
        key=lambda one: (
            one.player != first,
            # Months and years of a player follow each other; else the best comes first.
            (one.player, one.part) if by in ("year", "month") else ("", ""),
            -one.joint.value if one.joint.known else np.inf,
            one.player,
            one.part,
        )
    )
    remarks = [*found.told(voices), told_prior(prior, said)]
    if len(said) < len(unnamed):
        remarks.append("Sides without a name are left out: they may be of many people.")
    return _answer(said, by, chosen(witness), level, fide, remarks, found.problems)


def _check(by: str | None, witness: Sequence[str], prior: str) -> None:
    if by is not None and by not in BY:
        raise InputError(f"cannot rate by {by!r}: choose one of {', '.join(BY)}.")
    if wrong := [name for name in witness if name not in WITNESSES]:
        raise InputError(f"there is no witness {wrong[0]!r}: choose among {', '.join(WITNESSES)}.")
    if not witness:
        raise InputError(f"name at least one witness: {', '.join(WITNESSES)}.")
    if prior not in PRIORS:
        raise InputError(f"there is no prior {prior!r}: choose one of {', '.join(PRIORS)}.")


def check_names(players: Sequence[str], known: Iterable[str]) -> None:
    """Refuse a name that nobody bears, with the nearest one."""
    bearing = set(known) - {UNKNOWN}
    for name in players:
        if name not in bearing:
            raise InputError(f"nobody called {name!r} plays in these games.{did_you_mean(nearest(name, bearing))}")


def gather(
    what: What | list[Game],
    asked: Asked,
    with_moves: bool = True,
    *,
    without: Sequence[int] = (),
    evals: bool = False,
    players: Sequence[str] = (),
) -> Material:
    """Read, parse and value the games, each step once; without an engine they are not valued, and it is said.

    Whether all `players` play in them is asked before any engine starts.
    """
    if isinstance(what, Analysis) and (evals or asked.where or asked.rating):
        raise InputError("an analysis has its games and their values: give the games for where, rating or evals.")
    given, listed = None, tuple[str, ...]()
    if isinstance(what, Analysis):
        games = _games_in(what.plies.games)
    elif isinstance(what, list) and what and isinstance(what[0], Game):
        games = what
    else:
        lists = asked.read(cast(Paths, what))
        given, listed = lists.games, lists.remarks
        games = given.all()
    seen = Seen()
    names = asked.names(games)
    check_names(players, {names.get(name, name) for name in players_of(games)})
    keep = isinstance(what, Analysis) or asked.keep_duplicates
    once = np.array([keep or seen.add(one) for one in games], np.bool_)
    if isinstance(what, Analysis):
        once &= what.plies.counted
    if without and not 1 <= min(without) <= max(without) <= len(games):
        raise InputError(f"--without {max(without)}: {there_are(len(games), 'game')}.")
    once[np.array(without, np.intp) - 1] = False
    valued = ValuedGames(what.plies if isinstance(what, Analysis) else None)
    if with_moves:
        valued = _valued(what if isinstance(what, Analysis) else games, once, evals, asked)
    plies = read_plies(games, 1, once) if valued.plies is None else valued.plies
    frame = renamed(plies.games, names) if names else plies.games
    pooled = asked.pool or asked.scale_year
    frame = games_in_pool(frame, asked.pool, asked.scale_year) if pooled else frame
    evidence, remarks = valued.told(frame)
    standard = np.array(is_standard(frame), np.bool_)
    problems = (given.problems if given else Counter[str]()) + plies.problems
    told = [f"Games left out or damaged: {reasons(problems)}."] if problems else []
    remarks = [*listed, *told, *remarks, *told_copies(str(seen.duplicates) if seen.duplicates else "")]
    if not (once & standard).any():
        raise InputError(f"there are no games to rate in {given.named if given else 'what is given'}.")
    return Material(games, frame, plies.arrays, once & standard, evidence, problems, remarks)


def _games_in(frame: pl.DataFrame) -> list[Game]:
    """The tags of games that were read before, as games; their moves stand in the analysis."""
    found = []
    for row in frame.iter_rows(named=True):
        tags = {tag: row[name] for name, tag in TEXT_TAGS.items()}
        tags |= {
            f"{side.title()}Elo": str(int(row[f"{side}_elo"])) for side in ("white", "black") if row[f"{side}_elo"]
        }
        lines = [tag_line(tag, text) for tag, text in tags.items() if text]
        found.append(Game(row["source"], row["start_offset"], row["start_offset"], "\n".join(lines).encode()))
    return found


@dataclass(frozen=True)
class ValuedGames:
    """Games with the values of their moves, from an engine or from the games themselves; or why there are none."""

    plies: Plies | None
    evidence: Evidence | EvalTurns | None = None
    remark: str = ""

    def told(self, frame: pl.DataFrame) -> tuple[Evidence | EvalTurns | None, list[str]]:
        """The same about games with these tags, and what is to be said of it."""
        if isinstance(self.evidence, EvalTurns):
            turns = self.evidence.tagged(frame)
            scale = f"Moves: {counted(len(turns), 'turn')} with evaluations in the games; scale: {scales_told(turns)}."
            return turns, [line for line in (self.remark, scale) if line]
        if self.evidence is None or not len(self.evidence.turns):
            return None, [self.remark] if self.remark else []
        moved = replace(self.evidence.turns, games=frame)
        remark = (
            f"Moves: {counted(len(moved), 'turn')}, analysed by {moved.identities[0].engine} at depth {moved.depth}; "
            f"calibration {self.evidence.calibration.name}."
        )
        return replace(self.evidence, turns=moved), [remark, *told_scales(moved)]


def _valued(what: Sequence[Game] | Analysis, once: NDArray[np.bool_], evals: bool, asked: Asked) -> ValuedGames:
    """The values of the games' moves: by an engine or, where that is asked for or there is none, those they carry."""
    if evals and not isinstance(what, Analysis):
        turns = turns_with_evals(what, once)
        return ValuedGames(turns.plies, turns)
    try:
        evidence, plies = _judged(what, once, asked)
        return ValuedGames(plies, evidence)
    except (EngineError, NoTurns, StoreError) as error:
        if not isinstance(error, StoreError) and not isinstance(what, Analysis) and with_evals(what):
            turns = turns_with_evals(what, once)
            return ValuedGames(
                turns.plies, turns, f"{str(error).rstrip('.')}. The evaluations in the games are used instead."
            )
        return ValuedGames(what.plies if isinstance(what, Analysis) else None, None, f"Moves are not heard: {error}")


def _judged(what: Sequence[Game] | Analysis, once: NDArray[np.bool_], asked: Asked) -> tuple[Evidence | None, Plies]:
    """The games valued move by move, and judged."""
    given = isinstance(what, Analysis)
    chosen = asked.calibrated(what.depth if isinstance(what, Analysis) else None)
    network = asked.network
    analysis = what if isinstance(what, Analysis) else asked.analysed(what, chosen, once)
    try:
        turns = turns_in(analysis, chosen)
        turns = turns.only(once[turns.game]) if given else turns
        judge = asked.judge(analysis, chosen)
        return (weigh(turns, judge, network) if len(turns) else None), analysis.plies
    finally:
        if not given:
            analysis.close()


def voices_of(
    found: Material, units: Units, by: str | None, witness: Sequence[str], level: float
) -> tuple[Units, list[Voice]]:
    """What each witness that is asked for says of each unit."""
    asked, voices = chosen(witness), []
    moves = None
    if MOVES in asked:
        heard = found.evidence
        if isinstance(heard, EvalTurns):
            moves, units = evals_voice(heard, units, by, level)
        else:
            moves, units = moves_voice(heard, units, by, level)
    if RESULTS in asked:
        voices.append(silent(RESULTS, units, NO_PHASES) if by == "phase" else results_voice(found.frame, units, level))
    if moves is not None:
        voices.append(moves)
    if LEARNED in asked:
        voices.append(
            silent(LEARNED, units, NO_PHASES)
            if by == "phase"
            else learned_voice(found.games, found.arrays, units, level)
        )
    return units, voices


def _said(units: Units, at: int, voices: Sequence[Voice], prior: str, level: float) -> Said:
    name, pool, part = units.keys[at]
    joint, tag = joint_of(pool, int(units.games[at])), float(units.tag[at])
    heard = [voice for voice in voices if voice.says(at)]
    curves = {voice.kind: voice.curves[at] for voice in heard}
    before = None
    if prior == "tag" and np.isfinite(tag):
        before = normal_prior(tag, joint.tag(tag))
    elif prior == "pool":
        _, who = population_of(pool)
        before = normal_prior(who.mean, who.spread)
    total = joined(curves, joint, before) if curves else np.zeros(len(GRID))
    (whole,) = Curve(total[None], GRID).estimates(Honesty(), level)
    if len(heard) == 1 and before is None:  # powers are for sums
        whole = heard[0].estimates[at]
    alone = {voice.name: voice.estimates[at] for voice in voices}
    told = {voice.name: voice.curves[at] * joint.power(voice.kind) for voice in heard}
    return Said(name, pool, part, int(units.games[at]), tag, whole, alone, agreement(curves, joint), told)


def said_by(units: Units, some: Sequence[int], voices: Sequence[Voice], level: float) -> Said:
    """What is said of some units of one player together: of parts of his games."""
    if len(some) == 1:
        return _said(units, some[0], voices, "none", level)
    keys, games = units.keys[some[0]], int(units.games[list(some)].sum())
    joint = joint_of(keys[1], games)
    curves = {}
    for voice in voices:
        row = voice.plain[list(some)].sum(axis=0)
        if np.ptp(row) > 1e-9:
            error = max(voice.honesty[at].scale_error for at in some)
            curves[voice.kind] = honest(row, Honesty(1.0, error))
    total = joined(curves, joint) if len(curves) > 1 else sum(curves.values(), np.zeros(len(GRID)))
    (whole,) = Curve(total[None], GRID).estimates(Honesty(), level)
    return Said(keys[0], keys[1], "", games, np.nan, whole, {}, None)


def told_prior(prior: str, said: Sequence[Said] = ()) -> str:
    """What was believed before."""
    pools = sorted({one.pool for one in said})
    if prior == "tag":
        each = dict.fromkeys(f"{joint_of(pool).tag(one.tag):.0f}" for one in said for pool in [one.pool] if one.tag > 0)
        errors = sorted(map(int, each))
        spans = "" if not errors else f" of {errors[0]}" if len(errors) == 1 else f" of {errors[0]} to {errors[-1]}"
        return f"Prior: about the rating in the tags, with an error{spans}."
    if prior == "pool":
        found = dict(population_of(pool) for pool in pools)
        told = ", ".join(f"{POOLS.get(name, name)}: {one.mean:.0f} +- {one.spread:.0f}" for name, one in found.items())
        return f"Prior: who plays in the pool ({told})."
    return "No prior: a player's own rating in the tags is not looked at."


def _answer(
    said: Sequence[Said],
    by: str | None,
    witness: Sequence[str],
    level: float,
    fide: bool,
    remarks: Sequence[str],
    problems: Counter[str],
) -> JointRatings:
    several = len({one.pool for one in said}) > 1 or by == "pool"
    parted = by not in (None, "pool")
    names = ["player", *(["pool"] if several else []), *(["part"] if parted else []), "games", "tag"]
    # Who was not asked has no columns; who was, and says nothing, has empty ones, and it is told why.
    ends = [f"{name}_{end}" for name in witness for end in ("low", "high")]
    names += ["rating", "low", "high", *(FIDE_COLUMNS if fide else ()), *witness, *ends]
    names += ["p_agree", "note"] if len(witness) > 1 else ["note"]
    elo = dict.fromkeys(("tag", "rating", "low", "high", *FIDE_COLUMNS, *witness, *ends), 0)
    columns = columns_of(
        names,
        decimals=elo | {"p_agree": 3},
        wide=(*ends, "p_agree", *FIDE_COLUMNS[1:]),
        below=("note",),
        titles={"part": by or ""},
    )
    disagree = sum(one.agreement is not None and one.agreement.alarm for one in said)
    head = f"Ratings with {level:.0%} intervals, "
    head += "and what each witness says alone." if len(witness) > 1 else f"by {witness[0]} alone."
    if disagree:
        head += f" Witnesses disagree about {disagree} of {len(said)}; five in a hundred do by chance."
    named = {pool: POOLS.get(pool, pool) for pool in {one.pool for one in said}}
    rows = [one.values() | fide_cells(one.pool, one.joint) for one in said]
    bounds = [one.bounds() for one in said]
    return JointRatings(
        said=said,
        head=head,
        shown=Table([row | bound for row, bound in zip(rows, bounds, strict=True)], columns),
        data=Table(rows, columns),
        foot=BOUNDS if any(any(bound.values()) for bound in bounds) else "",
        estimates={
            one.player: replace(one.joint, note=one.note or ("" if len(named) == 1 else named[one.pool]))
            for one in reversed(said)
        },
        problems=problems,
        remarks=[line for line in remarks if line],
    )


def said_of(
    found: Material, level: float = 0.95, *, by: str | None = None, witness: Sequence[str] = WITNESSES
) -> list[Said]:
    """What is said of each player of some games in each pool, or of each part of these."""
    units, voices = voices_of(found, units_of(found.frame, found.counted, by), by, witness, level)
    return [_said(units, at, voices, "none", level) for at in range(len(units))]
