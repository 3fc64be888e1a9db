"""Review a game: what every move lost, what players of the ratings do in these positions, and where it was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import chess
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine.analysis import Analysis
from assay.engine.parsed import Plies, read_plies
from assay.errors import EngineError, InputError, NoTurns, StoreError
from assay.games import Game, Games, to_arrays, uci
from assay.games.notation import sans
from assay.games.packed import decode_move, pack, played_moves, to_fen
from assay.games.stream import Paths
from assay.moves.asked import Analysing, Asked
from assay.moves.calibration import Calibration
from assay.moves.eval_units import game_units
from assay.moves.evals import shipped_evals, turns_in_plies
from assay.moves.evidence import weigh
from assay.moves.groups import PHASES, UNKNOWN, games_in_pool, group, phases, tag_ratings
from assay.policy.chances import Network, Spot, answers
from assay.pools import POOLS, is_online
from assay.records import dataclass
from assay.reports.judged import (
    Floats,
    Usual,
    Worths,
    accuracy_of,
    by_engine,
    by_evals,
    centipawns_lost,
    mark_of,
    of_game,
    stakes,
    usual_by_engine,
    usual_by_evals,
    win_of,
)
from assay.reports.openings import opening_of
from assay.reports.reviewed import (
    Control,
    Moment,
    Review,
    ReviewedMove,
    ReviewedSide,
    Thought,
    clock_said,
    control_of,
    told_moment,
)
from assay.reports.second_look import Look, lines_behind, looking, looking_depth
from assay.reports.walk import text_of
from assay.table import Table, columns_of, there_are

MOMENTS = 3
HARD = 4.0  # per cent of winning chances that players lose on average where a move is worth telling of
_FOR_UNIT = 300  # games whose openings tell in what unit evaluations are
# Players have good days and bad ones: their games scatter more than moves drawn one by one (studies/review.py).
WIDER, WIDER_EVALS = 1.4, 2.0
FULL = 90  # per cent of the simulated players within the interval of what is expected


@dataclass(frozen=True)
class _Material:
    """A game judged, by ply: the `chances` of moves, the `best` one with its value, a second look at marked moves."""

    plies: Plies
    judged: Worths
    usual: Usual
    ratings: tuple[float, float]
    rated_by: tuple[str, str]
    chances: Mapping[int, Mapping[str, float]]
    best: Mapping[int, tuple[str, str, float]]  # SAN, UCI, pawns of the mover
    looks: Mapping[int, Look]
    lines: Mapping[int, tuple[str, ...]]  # of the looks, SAN
    judge: str


def review(what: Paths | Games | Game, game: int = 1, *, evals: bool = False, **analysing: Unpack[Analysing]) -> Review:
    """Review one game, as `assay review` does: accuracy, marks, critical moments, and what the ratings' players do.

    `what` are games, of which `game` is the number, or a single :class:`assay.games.Game`. `evals` judges by the
    evaluations in the file alone. The table has a row for each move; `.white` and `.black` have the sides, `.moments`
    what decided; `.to("pgn")` is the game with marks and better lines, `.to("json")` everything.

    >>> import assay
    >>> assay.review(assay.SAMPLE, 7)
    Traceback (most recent call last):
        ...
    assay.errors.InputError: there are 6 games in ...kasparov-deep-blue-1997.pgn, and no game 7.
    """
    asked = Asked(**analysing)
    games, remarks = _games(what, game, asked)
    one = games[game - 1]
    plies = read_plies([one], 1)
    plies = replace(plies, games=games_in_pool(plies.games, asked.pool, asked.scale_year))
    if not plies.arrays.valid[0]:
        raise InputError(f"game {game} cannot be read: {plies.arrays.reason[0]}.")
    if not plies.arrays.plies:
        raise InputError(f"game {game} has no moves.")
    found = None
    if not evals:
        try:
            found = _by_engine(one, plies, asked)
        except (EngineError, StoreError, NoTurns) as error:
            if not _has_evals(plies):
                raise
            remarks.append(f"{error} The evaluations in the game are used instead.")
    elif not _has_evals(plies):
        raise InputError(
            f"game {game} carries no evaluations ([%eval ...]): have it analysed, or review with an engine."
        )
    return _review(one, game, found or _by_evals(plies, games), remarks)


def _games(what: Paths | Games | Game, number: int, asked: Asked) -> tuple[list[Game], list[str]]:
    if isinstance(what, Game):
        if number != 1:
            raise InputError(f"a single game is game 1, and no game {number}.")
        return [what], []
    lists = asked.read(what)
    found, games = lists.games, lists.games.all()
    if not 1 <= number <= len(games):
        raise InputError(f"{there_are(len(games), 'game')} in {found.named}, and no game {number}.")
    return games, list(lists.remarks)


def _has_evals(plies: Plies) -> bool:
    arrays = plies.arrays
    return bool((np.isfinite(arrays.eval) | (arrays.mate != 0)).any())


def _by_engine(game: Game, plies: Plies, asked: Asked) -> _Material:
    chosen, network = asked.calibrated(), asked.network
    with asked.analysed([game], chosen, from_move=1) as analysis:
        return _looked(_valued(plies, analysis, asked.judge(analysis, chosen), network), analysis, asked)


def _valued(plies: Plies, analysis: Analysis, judge: Calibration, network: Network | bool) -> _Material:
    every = replace(analysis.all_turns(), games=plies.games)
    if not len(every):
        raise NoTurns("no position of this game is analysed.")
    judged, evidence = by_engine(analysis, every), weigh(every, judge, network)
    tags = tag_ratings(plies.games).ratings[0]
    rated_by = ["tag" if np.isfinite(tag) else "" for tag in tags]
    ratings = [float(tag) for tag in tags]
    sides = group(every, "color")
    for side, colour in enumerate(("white", "black")):
        if not rated_by[side] and (colour,) in sides.keys:
            said = evidence.estimates(sides)[sides.keys.index((colour,))]
            if said.known and np.isfinite(said.value):
                ratings[side], rated_by[side] = said.value, "moves"
    own = np.where(every.white, *ratings)
    usual, chances = usual_by_engine(evidence, every.ply, own)
    at = every.ply.tolist()
    names = sans(every.keys, np.arange(len(at)), every.moves[:, 0])
    moves = [[decode_move(code) for code in row] for row in every.moves.tolist()]
    return _Material(
        plies,
        judged,
        usual,
        (ratings[0], ratings[1]),
        (rated_by[0], rated_by[1]),
        {
            ply: dict(zip(row, chance, strict=True))
            for ply, row, chance in zip(at, moves, chances.tolist(), strict=True)
        },
        {
            ply: (name, row[0], value)
            for ply, name, row, value in zip(at, names, moves, every.values[:, 0].tolist(), strict=True)
        },
        {},
        {},
        f"{analysis.identity.engine}, depth {analysis.depth}",
    )


def _by_evals(plies: Plies, beside: Sequence[Game]) -> _Material:
    """A game by its own evaluations; games `beside` it tell the unit of these."""
    unit = game_units(plies.arrays, plies.games, shipped_evals().openings, to_arrays(beside[:_FOR_UNIT]))
    judged, turns = by_evals(plies.arrays), turns_in_plies(plies, unit)
    tags = tag_ratings(plies.games).ratings[0]
    ratings = float(tags[0]), float(tags[1])
    usual = usual_by_evals(turns, np.where(turns.white, *ratings))
    return _Material(
        plies,
        judged,
        usual,
        ratings,
        ("tag" if np.isfinite(ratings[0]) else "", "tag" if np.isfinite(ratings[1]) else ""),
        _policy_chances(plies, ratings),
        {},
        {},
        {},
        "the evaluations in the file",
    )


def _policy_chances(plies: Plies, ratings: tuple[float, float]) -> dict[int, dict[str, float]]:
    """How many players of the movers' ratings play the moves of the game, by the policy alone."""
    arrays, found = plies.arrays, dict[int, dict[str, float]]()
    keys, moves = pack(arrays, np.arange(arrays.plies)), uci(arrays)
    pool = "lichess" if is_online(plies.games["pool"][0]) else "board"
    for white, rating in zip((True, False), ratings, strict=True):
        own = np.flatnonzero(arrays.turn == white).tolist()
        if not np.isfinite(rating) or not own:
            continue
        spots = [Spot(to_fen(keys[at].tobytes()), chess.Move.from_uci(moves[at])) for at in own]
        for at, answer in zip(own, answers(spots, [float(np.clip(rating, 600, 2900))], pool=pool), strict=True):
            if answer.played is not None:
                found[at] = {moves[at]: answer.played.chances[0]}
    return found


def _looked(found: _Material, analysis: Analysis, asked: Asked) -> _Material:
    """The marked moves looked at again, and how the game should have gone on where the mark stands."""
    arrays = found.plies.arrays
    marked = [ply for ply, loss in enumerate(found.judged.loss.tolist()) if np.isfinite(loss) and mark_of(loss)]
    keys, moves = pack(arrays, np.array(marked, np.intp)), uci(arrays)
    boards = [chess.Board(to_fen(key.tobytes())) for key in keys]
    spots = [(board, chess.Move.from_uci(moves[ply])) for ply, board in zip(marked, boards, strict=True)]
    seen = zip(marked, boards, looking(analysis, asked)(spots), strict=True)
    looks = {ply: (board, look) for ply, board, look in seen if look is not None}
    stands = {ply: (board, look.best) for ply, (board, look) in looks.items() if mark_of(look.loss)}
    depth = looking_depth(analysis.depth)
    lines = lines_behind(list(stands.values()), depth, asked)
    return replace(
        found,
        looks={ply: look for ply, (_, look) in looks.items()},
        lines=dict(zip(stands, lines, strict=True)),
        judge=f"{found.judge}, marks {depth}" if looks else found.judge,
    )


def _review(game: Game, number: int, found: _Material, remarks: list[str]) -> Review:
    plies, arrays = found.plies, found.plies.arrays
    moves = _moves(found)
    tags = plies.games
    opening, eco = opening_of(game.tags, [move.san for move in moves])
    sides = [_side(found, moves, white) for white in (True, False)]
    moments = _moments(moves, [side.rating for side in sides])
    result = tags["result"][0] or "*"
    rows = [
        {
            "move": move.number,
            "san": move.san,
            "mark": move.mark,
            **{
                name: getattr(move, name)
                for name in ("phase", "value", "loss", "accuracy", "best", "best_value", "chance", "best_chance")
            },
            **{name: getattr(move, name) for name in ("expected", "clock", "spent")},
        }
        for move in moves
    ]
    names = ("move", "san", "mark", "phase", "value", "loss", "accuracy", "best", "best_value", "chance", "best_chance")
    if not found.looks and any(move.mark and move.best for move in moves):
        remarks.append("No engine looked at the marks again: many would not stand at a greater depth.")
    remarks = [*remarks, f"Judged by {found.judge}; {arrays.plies} plies, {_pool_words(tags)}."]
    return Review(
        game=number,
        white=sides[0],
        black=sides[1],
        result=result,
        opening=opening,
        eco=eco,
        judge=found.judge,
        moves=moves,
        moments=moments,
        source=game,
        head=_sentence(sides[0], sides[1], result, opening, eco, moments),
        shown=Table([_row(side, colour) for side, colour in zip(sides, ("White", "Black"), strict=True)], _COLUMNS),
        data=Table(
            rows,
            columns_of(
                (*names, "expected", "clock", "spent"),
                decimals={"loss": 1, "accuracy": 0, "expected": 1, "clock": 0, "spent": 0},
            ),
        ),
        remarks=remarks,
    )


_COLUMNS = columns_of(
    ("side", "player", "rating", "accuracy", "expected", "acpl", "inaccuracies", "mistakes", "blunders"),
    titles={"inaccuracies": "?!", "mistakes": "?", "blunders": "??", "expected": "usual"},
    decimals={"accuracy": 1, "acpl": 0},
)


def _pool_words(games: pl.DataFrame) -> str:
    return str(POOLS.get(games["pool"][0] or "unknown", games["pool"][0]))


def _row(side: ReviewedSide, colour: str) -> dict[str, Any]:
    usual = None
    if side.expected is not None:
        usual = f"{side.expected:.0f} ({side.expected_low:.0f}-{side.expected_high:.0f})"
    names = ("player", "rating", "accuracy", "acpl", "inaccuracies", "mistakes", "blunders")
    return {
        "side": colour,
        **{name: getattr(side, name) for name in names},
        "expected": usual,
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _moves(found: _Material) -> list[ReviewedMove]:
    plies, arrays, judged = found.plies, found.plies.arrays, found.judged
    every = np.arange(arrays.plies)
    keys = pack(arrays, every)
    names = sans(keys, every, played_moves(arrays, every))
    phase = phases(_Walked(keys, arrays.fullmove.astype(np.int64)))  # type: ignore[arg-type]
    loss, lost = judged.loss, centipawns_lost(judged.before, judged.after)
    accurate = accuracy_of(loss)
    expected = dict(zip(found.usual.at.tolist(), found.usual.loss.tolist(), strict=True))
    spent = _control(plies).spent
    moves = []
    for at, (san, text) in enumerate(zip(names, uci(arrays), strict=True)):
        white = bool(arrays.turn[at])
        sign = 1 if white else -1
        chances, look = found.chances.get(at, {}), found.looks.get(at)
        lost_again = look.loss if look else None
        value, best = float(judged.after[at]), found.best.get(at)
        if look is not None:
            value, best = look.after, (_san(keys[at], look.best), look.best.uci(), look.before)
        told = [one for one in (_number(loss[at]), lost_again) if one is not None]
        moves.append(
            ReviewedMove(
                ply=at + 1,
                number=f"{int(arrays.fullmove[at])}{'.' if white else '...'}",
                white=white,
                san=san,
                uci=text,
                phase=PHASES[int(phase[at])],
                value=text_of(sign * value) if np.isfinite(value) else None,
                loss=_number(loss[at]),
                lost_again=lost_again,
                centipawns=_number(lost[at]),
                accuracy=_number(accurate[at]) if np.isfinite(loss[at]) else None,
                mark=mark_of(min(told)) if told else "",
                best=best[0] if best else None,
                best_uci=best[1] if best else None,
                best_value=text_of(sign * best[2]) if best else None,
                line=found.lines.get(at, ()),
                chance=_number(chances.get(text, np.nan)),
                best_chance=_number(chances.get(best[1], np.nan)) if best else None,
                expected=_number(expected.get(at, np.nan)),
                clock=_number(float(arrays.clock[at])),
                spent=_number(spent[at]),
            )
        )
    return moves


def _san(key: NDArray[np.uint8], move: chess.Move) -> str:
    return chess.Board(to_fen(key.tobytes())).san(move)


@dataclass(frozen=True)
class _Walked:
    """Positions and numbers of moves: all that a phase is told by."""

    keys: Any
    move: Any


def _control(plies: Plies) -> Control:
    site, event, control, pool = (plies.games[name][0] or "" for name in ("site", "event", "time_control", "pool"))
    return control_of(plies.arrays, site, event, control, pool)


def _side(found: _Material, moves: Sequence[ReviewedMove], white: bool) -> ReviewedSide:
    plies, arrays = found.plies, found.plies.arrays
    mine = np.array([move.white == white for move in moves])
    known = mine & np.isfinite(found.judged.loss)
    after = np.where(arrays.turn, 1.0, -1.0) * found.judged.after
    first = np.where(arrays.turn[:1], 1.0, -1.0) * found.judged.before[:1]
    stake = stakes(np.concatenate([win_of(first), win_of(after)]))
    accurate = accuracy_of(found.judged.loss)
    phase_of = np.array([move.phase for move in moves])

    def of(some: np.ndarray[Any, np.dtype[np.bool_]]) -> float | None:
        return float(of_game(accurate[some], stake[some])) if some.any() else None

    marks = [move.mark for move in moves if move.white == white]
    side = 0 if white else 1
    rating = found.ratings[side]
    low, middle, high = _expected(found.usual, accurate, known, stake[known], WIDER_EVALS if not found.best else WIDER)
    return ReviewedSide(
        player=plies.games["white" if white else "black"][0] or UNKNOWN,
        rating=round(rating) if np.isfinite(rating) else None,
        rated_by=found.rated_by[side],
        moves=int(mine.sum()),
        accuracy=of(known),
        expected=middle,
        expected_low=low,
        expected_high=high,
        acpl=float(centipawns_lost(found.judged.before, found.judged.after)[known].mean()) if known.any() else None,
        inaccuracies=marks.count("?!"),
        mistakes=marks.count("?"),
        blunders=marks.count("??"),
        by_phase={phase: own for phase in PHASES if (own := of(known & (phase_of == phase))) is not None},
        clock=clock_said(
            (
                Thought(f"{move.number}{move.san}", move.spent, move.clock, move.accuracy)
                for move in moves
                if move.white == white and move.spent is not None and move.clock is not None
            ),
            _control(plies).base,
        ),
    )


def _expected(
    usual: Usual, accurate: Floats, known: np.ndarray[Any, np.dtype[np.bool_]], stake: Floats, wider: float
) -> tuple[float | None, float | None, float | None]:
    """The accuracy of simulated players of the rating: 5 %, mean, 95 %; where nothing is known, what was played."""
    drawn = np.repeat(accurate[:, None], usual.draws.shape[1], axis=1)
    drawn[usual.at] = usual.draws
    told = np.zeros(len(accurate), np.bool_)
    told[usual.at] = np.isfinite(usual.loss)
    if not (told & known).any():
        return None, None, None
    drawn = np.where(told[:, None], drawn, accurate[:, None])
    games = of_game(drawn[known].T, stake)
    mean = float(games.mean())
    low, high = (mean + wider * (np.percentile(games, [50 - FULL / 2, 50 + FULL / 2]) - mean)).tolist()
    return max(low, 0.0), mean, min(high, 100.0)


def _moments(moves: Sequence[ReviewedMove], ratings: Sequence[int | None]) -> list[Moment]:
    """The moves that lost most, and where these are fewer than three, hard ones that were found."""
    lost = sorted((move for move in moves if move.mark), key=lambda move: -move.lost)[:MOMENTS]
    rest = [move for move in moves if not move.mark and (move.expected or 0.0) >= HARD and (move.loss or 0.0) < 2]
    rest.sort(key=lambda move: -(move.expected or 0.0))
    chosen = sorted([*lost, *rest[: MOMENTS - len(lost)]], key=lambda move: move.ply)
    return [told_moment(move, ratings[0 if move.white else 1]) for move in chosen]


def _sentence(
    white: ReviewedSide, black: ReviewedSide, result: str, opening: str, eco: str, moments: Sequence[Moment]
) -> str:
    """The game in a sentence or two."""
    named = f"{opening}{f' ({eco})' if eco else ''}. " if opening else ""
    parts = [_played(side) for side in (white, black)]
    told = "; ".join(part for part in parts if part)
    marked = [moment.move for moment in moments if moment.move.endswith("?")]
    turned = f" The game turned at {_joined(marked)}." if marked else " Nobody made a mistake that counts."
    return f"{white.player} - {black.player} {result}. {named}{told}.{turned}"


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _played(side: ReviewedSide) -> str:
    if side.accuracy is None:
        return ""
    told = f"{side.player} played at {side.accuracy:.0f} % accuracy"
    if side.expected is None or side.rating is None:
        return told
    if side.rated_by != "tag":
        return f"{told}, as usual for {side.rating}, the rating of these moves"
    return f"{told}, players rated {side.rating} reach {side.expected:.0f} % in these positions"
