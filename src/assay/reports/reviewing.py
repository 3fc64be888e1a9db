"""Review a game: what every move lost, what players of the ratings do in these positions, and where it was decided."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import chess
import numpy as np
import polars as pl

from assay.engine.analysis import Analysis
from assay.engine.identity import Search
from assay.engine.parsed import Plies, read_plies
from assay.engine.uci import UciEngine
from assay.errors import EngineError, InputError, NoTurns, StoreError
from assay.games import Game, Games, to_arrays, uci
from assay.games.notation import sans
from assay.games.packed import from_board, pack, played_moves, to_fen
from assay.games.stream import Paths
from assay.moves.asked import Asked
from assay.moves.calibration import Calibration
from assay.moves.eval_units import game_units
from assay.moves.evals import shipped_evals, turns_in_plies
from assay.moves.evidence import weigh
from assay.moves.groups import PHASES, UNKNOWN, games_in_pool, group, phases, tag_ratings
from assay.policy.chances import Network, Spot, answers
from assay.pools import POOLS, clock_of, is_online
from assay.reports.accuracy import accuracy_of, centipawns_lost, mark_of, of_game, stakes, win_of
from assay.reports.judged import Floats, Usual, Worths, by_engine, by_evals, usual_by_engine, usual_by_evals
from assay.reports.openings import opening_of
from assay.reports.reviewed import Clock, Moment, Review, ReviewedMove, ReviewedSide, told_moment
from assay.reports.walk import text_of
from assay.table import Table, columns_of, there_are

MOMENTS = 3
_LINE = 6  # plies of the better line
_TROUBLE_SHARE, _TROUBLE_LEAST = 20, 10.0  # a twentieth of the base time, and ten seconds at least
HARD = 4.0  # per cent of winning chances that players lose on average where a move is worth telling of
_FOR_UNIT = 300  # games whose openings tell in what unit evaluations are
# Players have good days and bad ones: their games scatter more than moves drawn one by one (studies/review.py).
WIDER, WIDER_EVALS = 1.4, 2.0
FULL = 90  # per cent of the simulated players within the interval of what is expected


@dataclass(frozen=True)
class _Material:
    """A game judged: `chance` of the move played, `best` move with its chance and value, by ply."""

    plies: Plies
    judged: Worths
    usual: Usual
    ratings: tuple[float, float]
    rated_by: tuple[str, str]
    chance: Mapping[int, float]
    best: Mapping[int, tuple[str, str, float, float]]  # SAN, UCI, chance, pawns of the mover
    lines: Mapping[int, tuple[str, ...]]
    judge: str


def review_game(
    what: Paths | Games | Game,
    asked: Asked,
    game: int = 1,
    *,
    evals: bool = False,
) -> Review:
    """Review one game; see :func:`assay.api.review`."""
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
            remarks.append(f"Judged by the evaluations in the file: {error}")
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
        found = _valued(plies, analysis, asked.judge(analysis, chosen), network)
    if not asked.no_analysis:
        found = replace(found, lines=_lines(found, asked.engine, chosen.depth))
    return found


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
    played = every.played
    mine = np.where(played >= 0, chances[np.arange(len(at)), np.maximum(played, 0)], np.nan)
    names = sans(every.keys, np.arange(len(at)), every.moves[:, 0])
    return _Material(
        plies,
        judged,
        usual,
        (ratings[0], ratings[1]),
        (rated_by[0], rated_by[1]),
        dict(zip(at, mine.tolist(), strict=True)),
        {
            ply: (name, _uci(code), chance, value)
            for ply, name, code, chance, value in zip(
                at, names, every.moves[:, 0].tolist(), chances[:, 0].tolist(), every.values[:, 0].tolist(), strict=True
            )
        },
        {},
        f"{analysis.identity.engine}, depth {analysis.depth}",
    )


def _uci(code: int) -> str:
    return chess.Move(code & 63, code >> 6 & 63, code >> 12 or None).uci()


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
        "the evaluations in the file",
    )


def _policy_chances(plies: Plies, ratings: tuple[float, float]) -> dict[int, float]:
    """How many players of the movers' ratings play the moves of the game, by the policy alone."""
    arrays, found = plies.arrays, dict[int, float]()
    keys, moves = pack(arrays, np.arange(arrays.plies)), uci(arrays)
    pool = "lichess" if is_online(plies.games["pool"][0]) else "board"
    for white, rating in zip((True, False), ratings, strict=True):
        own = np.flatnonzero(arrays.turn == white).tolist()
        if not np.isfinite(rating) or not own:
            continue
        spots = [Spot(to_fen(keys[at].tobytes()), chess.Move.from_uci(moves[at])) for at in own]
        for at, answer in zip(own, answers(spots, [float(np.clip(rating, 600, 2900))], pool=pool), strict=True):
            if answer.played is not None:
                found[at] = answer.played.chances[0]
    return found


def _lines(found: _Material, engine: str, depth: int) -> dict[int, tuple[str, ...]]:
    """How the game should have gone on where a move is marked: the engine's line behind its best move."""
    arrays = found.plies.arrays
    wanted = [ply for ply, loss in enumerate(found.judged.loss.tolist()) if mark_of(loss) and ply in found.best]
    keys = pack(arrays, np.arange(arrays.plies))
    boards = {}
    for ply in wanted:
        board = chess.Board(to_fen(keys[ply].tobytes()))
        board.push(chess.Move.from_uci(found.best[ply][1]))
        boards[ply] = board
    try:
        told = asyncio.run(_principal(list(boards.values()), Search(engine, depth=depth, lines=1)))
    except EngineError:  # all was stored, and there is no engine: the best move alone
        told = [()] * len(boards)
    lines = {}
    for (ply, board), moves in zip(boards.items(), told, strict=True):
        words = [found.best[ply][0]]
        for move in moves[: _LINE - 1]:
            step = chess.Move.from_uci(move)
            if not board.is_legal(step):
                break
            words.append(board.san(step))
            board.push(step)
        lines[ply] = tuple(words)
    return lines


async def _principal(boards: Sequence[chess.Board], search: Search) -> list[tuple[str, ...]]:
    """The principal variation of each position, as an engine says it."""
    if not boards:
        return []
    engine, found = await UciEngine.start(search), list[tuple[str, ...]]()
    try:
        for board in boards:
            if board.is_game_over():
                found.append(())
                continue
            engine.begin(from_board(board))
            output, _ = await engine.finish()
            said = [line.partition(b" pv ")[2] for line in output.split(b"\n") if b" pv " in line]
            found.append(tuple(said[-1].decode("ascii", "replace").split()) if said else ())
    finally:
        await engine.quit()
    return found


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
    spent = _spent(plies)
    moves = []
    for at, (san, text) in enumerate(zip(names, uci(arrays), strict=True)):
        white = bool(arrays.turn[at])
        sign = 1 if white else -1
        best = found.best.get(at)
        marked = mark_of(float(loss[at])) if np.isfinite(loss[at]) else ""
        moves.append(
            ReviewedMove(
                ply=at + 1,
                number=f"{int(arrays.fullmove[at])}{'.' if white else '...'}",
                white=white,
                san=san,
                uci=text,
                phase=PHASES[int(phase[at])],
                value=text_of(sign * float(judged.after[at])) if np.isfinite(judged.after[at]) else None,
                loss=_number(loss[at]),
                centipawns=_number(lost[at]),
                accuracy=_number(accurate[at]) if np.isfinite(loss[at]) else None,
                mark=marked,
                best=best[0] if best else None,
                best_value=text_of(sign * best[3]) if best else None,
                line=found.lines.get(at, ()),
                chance=_number(found.chance.get(at, np.nan)),
                best_chance=_number(best[2]) if best else None,
                expected=_number(expected.get(at, np.nan)),
                clock=_number(float(arrays.clock[at])),
                spent=_number(spent[at]),
            )
        )
    return moves


@dataclass(frozen=True)
class _Walked:
    """Positions and numbers of moves: all that a phase is told by."""

    keys: Any
    move: Any


def _spent(plies: Plies) -> Floats:
    """Seconds for each move, nan where clocks do not tell."""
    arrays, clock = plies.arrays, plies.arrays.clock.astype(np.float64)
    base, plus, _ = _clock(plies)
    before = np.full(arrays.plies, np.nan)
    before[2:] = clock[:-2]
    if base is not None:
        before[:2] = base
    spent = before - clock + np.where(np.arange(arrays.plies) < 2, 0.0, plus or 0.0)
    return np.where(spent >= 0, spent, np.where(np.isfinite(spent), 0.0, np.nan))


def _clock(plies: Plies) -> tuple[float | None, float | None, str | None]:
    texts = [plies.games[name][0] or "" for name in ("site", "event", "time_control")]
    return clock_of(*texts)


def _side(found: _Material, moves: Sequence[ReviewedMove], white: bool) -> ReviewedSide:
    plies, arrays = found.plies, found.plies.arrays
    mine = np.array([move.white == white for move in moves])
    known = mine & np.isfinite(found.judged.loss)
    after = np.where(arrays.turn, 1.0, -1.0) * found.judged.after
    first = np.where(arrays.turn[:1], 1.0, -1.0) * found.judged.before[:1]
    stake = stakes(np.concatenate([win_of(first), win_of(after)]))[known]
    accurate = accuracy_of(found.judged.loss)
    marks = [move.mark for move in moves if move.white == white]
    side = 0 if white else 1
    rating = found.ratings[side]
    low, middle, high = _expected(found.usual, accurate, known, stake, WIDER_EVALS if not found.best else WIDER)
    return ReviewedSide(
        player=plies.games["white" if white else "black"][0] or UNKNOWN,
        rating=round(rating) if np.isfinite(rating) else None,
        rated_by=found.rated_by[side],
        moves=int(mine.sum()),
        accuracy=float(of_game(accurate[known], stake)) if known.any() else None,
        expected=middle,
        expected_low=low,
        expected_high=high,
        acpl=float(centipawns_lost(found.judged.before, found.judged.after)[known].mean()) if known.any() else None,
        inaccuracies=marks.count("?!"),
        mistakes=marks.count("?"),
        blunders=marks.count("??"),
        by_phase={
            phase: float(np.mean(own))
            for phase in PHASES
            if (own := [m.accuracy for m in moves if m.white == white and m.phase == phase and m.accuracy is not None])
        },
        clock=_clock_of([move for move in moves if move.white == white], _clock(plies)[0]),
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


def _clock_of(moves: Sequence[ReviewedMove], base: float | None) -> Clock | None:
    timed = [move for move in moves if move.spent is not None and move.clock is not None]
    if len(timed) < 2:
        return None
    most = base if base is not None else max(move.clock or 0.0 for move in timed)
    below = max(most / _TROUBLE_SHARE, _TROUBLE_LEAST)
    hasty = [move for move in timed if (move.clock or 0.0) < below]
    own = [move.accuracy for move in hasty if move.accuracy is not None]
    longest = max(timed, key=lambda move: move.spent or 0.0)
    return Clock(
        mean=float(np.mean([move.spent for move in timed])),
        longest=longest.spent or 0.0,
        longest_move=f"{longest.number}{longest.san}",
        trouble=len(hasty),
        trouble_below=below,
        trouble_accuracy=float(np.mean(own)) if own else None,
    )


def _moments(moves: Sequence[ReviewedMove], ratings: Sequence[int | None]) -> list[Moment]:
    """The moves that lost most, and where these are fewer than three, hard ones that were found."""
    lost = sorted((move for move in moves if move.mark), key=lambda move: -(move.loss or 0.0))[:MOMENTS]
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
