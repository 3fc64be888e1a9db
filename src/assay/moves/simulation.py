"""A tournament among agents: games whose players are known to the last decimal.

Each agent plays with the model's chances on what an engine says of the position. A player may be helped: on a
share of the moves the engine's first choice is played instead. The truth goes into the manifest, so that every method
can be tried on games where the answer is known.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import numpy as np

from assay.engine import score
from assay.engine.choices import Choices
from assay.engine.identity import DEFAULT
from assay.engine.local import Engine
from assay.engine.store import LeftOut, Writer, writing
from assay.engine.uci import Valued
from assay.errors import InputError
from assay.games.packed import decode_move, encode_move
from assay.manifest import make, write
from assay.moves.calibration import Calibration, for_engine, load
from assay.moves.evidence import log_policy
from assay.moves.regan.projection import Agent
from assay.moves.regan.spread import Floats
from assay.paths import File, atomic
from assay.policy.chances import POOL, Network, open_network, shipped
from assay.policy.first_moves import shipped_first_moves
from assay.presets import DEFAULT_DEPTH
from assay.progress import Progress
from assay.records import dataclass
from assay.table import Answer, Table, columns_of, counted

RESIGN = -6.0
LONGEST = 300


@dataclass(frozen=True)
class Assist:
    """Help for one player: the share of moves that are the engine's, from a move number on."""

    name: str
    share: float
    from_move: int = 1

    @classmethod
    def parse(cls, text: str) -> Assist:
        """Read NAME:SHARE[:FROM_MOVE].

        >>> Assist.parse("Player 2:0.3:12")
        Assist(name='Player 2', share=0.3, from_move=12)
        """
        parts = text.split(":")
        try:
            assist = cls(parts[0], float(parts[1]), *(int(part) for part in parts[2:]))
        except (IndexError, ValueError, TypeError):
            raise InputError(
                f"{text!r} is not NAME:SHARE or NAME:SHARE:FROM_MOVE, such as 'Player 2:0.3:12'."
            ) from None
        if not 0 <= assist.share <= 1 or assist.from_move < 1:
            raise InputError(f"{text!r}: the share lies between 0 and 1, and the first move is 1.")
        return assist


@dataclass(frozen=True)
class Entrant:
    """A player of the tournament: name, parameters in Regan's model or a rating in the choice model, help if any.

    The rating, if any, stands in the tags.
    """

    name: str
    s: float | None = None
    c: float | None = None
    elo: int | None = None
    assist: Assist | None = None


@dataclass(frozen=True)
class Played:
    """A game, with the truth about it: which plies were the engine's doing."""

    white: Entrant
    black: Entrant
    moves: tuple[str, ...]
    result: str
    assisted: tuple[int, ...]
    round: int

    def pgn(self, event: str) -> str:
        """The game as PGN."""
        game = chess.pgn.Game()
        game.headers.update(
            Event=event, Site="Assay", Date="????.??.??", Round=str(self.round), White=self.white.name,
            Black=self.black.name, Result=self.result,
        )  # fmt: skip
        for side, entrant in (("White", self.white), ("Black", self.black)):
            if entrant.elo is not None:
                game.headers[f"{side}Elo"] = str(entrant.elo)
        node: chess.pgn.GameNode = game
        for move in self.moves:
            node = node.add_variation(chess.Move.from_uci(move))
        return str(game)

    def truth(self) -> dict[str, Any]:
        """What the manifest says of the game."""
        return {
            "round": self.round,
            "white": self.white.name,
            "black": self.black.name,
            "result": self.result,
            "plies": len(self.moves),
            "assisted_plies": list(self.assisted),
        }


def pairings(entrants: Sequence[Entrant], games: int) -> list[tuple[Entrant, Entrant]]:
    """So many games, all pairs in turn, colours changing from one cycle to the next.

    >>> ash, elm = Entrant("Ash", 0.1, 0.5), Entrant("Elm", 0.2, 0.5)
    >>> [(white.name, black.name) for white, black in pairings([ash, elm], 3)]
    [('Ash', 'Elm'), ('Elm', 'Ash'), ('Ash', 'Elm')]
    """
    if len(entrants) < 2:
        raise InputError("a tournament takes at least two players: give --elo (or --s and --c) twice.")
    pairs = list(combinations(entrants, 2))
    cycle = [pair if number % 2 == 0 else pair[::-1] for number, pair in enumerate(pairs)]
    both = cycle + [pair[::-1] for pair in cycle]
    return [both[number % len(both)] for number in range(games)]


Look = Callable[[str], Valued]
# The chances of the moves of a position for a player of a rating, with the two moves before: in the order of the moves.
Chooser = Callable[[Valued, int, Sequence[str], float], Floats]


def choosing(calibration: Calibration, policy: Network | bool = True) -> Chooser:
    """How players of a rating choose, by a calibration's model; in the first moves by what was played there, too."""
    network = shipped() if policy is True else policy or None
    model = calibration.model(policy=network is not None)
    first_moves = shipped_first_moves() if policy is True else None

    def chances(valued: Valued, ply: int, before: Sequence[str], elo: float) -> Floats:
        codes, moves = valued.table()[: model.depth].T, valued.move_codes()
        levels = np.minimum(np.arange(model.depth), codes.shape[1] - 1)
        last = [encode_move(move) for move in (*before[-1:], *before[-2:-1])] + [0, 0]
        choices = Choices(
            codes=codes[:, levels],
            moves=moves,
            start=np.array([0, len(moves)]),
            played=np.zeros(1, np.int64),
            keys=np.frombuffer(valued.key, np.uint8)[None],
            before=np.array([last[0]], np.uint16),
            own=np.array([last[1] if len(before) > 1 else 0], np.uint16),
            ply=np.array([ply]),
            unit=np.zeros(1, np.int64),
        )
        logs = log_policy(choices, network) if network is not None and model.wants_policy else None
        found = np.exp(model.log_chances(choices, elo, logs))
        return found if first_moves is None else first_moves.mixed(choices.keys[0], moves, found, elo, POOL)

    return chances


def play(
    white: Entrant,
    black: Entrant,
    look: Look,
    *,
    seed: int,
    round_number: int = 1,
    model: Chooser | None = None,
) -> Played:
    """Play one game; it ends by the rules, by resignation (6 pawns down), or as a draw after 150 moves."""
    board = chess.Board()
    random = np.random.default_rng(seed)
    sides = {chess.WHITE: white, chess.BLACK: black}
    agents = {
        color: Agent(entrant.s, entrant.c, seed=random) if entrant.s is not None and entrant.c is not None else None
        for color, entrant in sides.items()
    }
    moves: list[str] = []
    assisted: list[int] = []
    while (result := _result(board)) is None:
        entrant, agent = sides[board.turn], agents[board.turn]
        valued = look(board.fen())
        options, values = listed(valued)
        if values[0] < RESIGN:
            result = "0-1" if board.turn == chess.WHITE else "1-0"
            break
        helped = (
            entrant.assist is not None
            and board.fullmove_number >= entrant.assist.from_move
            and random.random() < entrant.assist.share
        )
        if helped:
            assisted.append(len(moves))
        if helped:
            move = options[0]
        elif agent is not None:
            move = options[agent.choose(values)]
        else:
            if model is None or entrant.elo is None:
                raise InputError(f"{entrant.name} has neither s and c nor a rating with a model to choose by.")
            chances = model(valued, len(moves), moves, float(entrant.elo))
            codes = valued.move_codes()
            move = decode_move(int(codes[random.choice(len(codes), p=chances / chances.sum())]))
        moves.append(move)
        board.push_uci(move)
    return Played(white, black, tuple(moves), result, tuple(assisted), round_number)


def listed(valued: Valued) -> tuple[list[str], Floats]:
    """Moves and their values in pawns, best first."""
    values = score.pawns(valued.table()[-1])
    moves = [decode_move(code) for code in valued.move_codes().tolist()]
    known = [i for i in np.argsort(-values, kind="stable").tolist() if np.isfinite(values[i])]
    return [moves[i] for i in known], values[known]


def as_stored(valued: Valued) -> Valued | LeftOut:
    """What the analyser would store of a position: a single legal move is not worth a search."""
    return LeftOut(valued.key, "forced", score.MISSING) if valued.legal == 1 else valued


def _result(board: chess.Board) -> str | None:
    outcome = board.outcome(claim_draw=True)
    if outcome is not None:
        return outcome.result()
    return "1/2-1/2" if board.ply() >= LONGEST else None


def tournament(
    entrants: Sequence[Entrant],
    games: int,
    *,
    engine: str = "stockfish",
    depth: int = DEFAULT_DEPTH,
    lines: int = 50,
    seed: int = 0,
    workers: int = 1,
    keep: Callable[[Valued | LeftOut], None] | None = None,
    model: Chooser | None = None,
) -> Iterator[Played]:
    """Play the games on so many engines at a time, and hand them out in order.

    Each game has its own seed, so the games do not depend on the number of workers. Positions that were met before are
    remembered; `keep` is told of every new one.
    """
    pairs = pairings(entrants, games)
    seeds = np.random.SeedSequence(seed).generate_state(games).tolist()
    known: dict[str, Valued] = {}
    lock, local, stop = threading.Lock(), threading.local(), threading.Event()
    with ExitStack() as engines, ThreadPoolExecutor(workers) as pool:

        def look(fen: str) -> Valued:
            # The number of the move is nothing to an engine; the fifty-move counter is.
            place = fen.rsplit(" ", 1)[0]
            if stop.is_set():
                raise InterruptedError
            if place not in known:
                if not hasattr(local, "engine"):
                    local.engine = Engine(engine)
                    with lock:
                        engines.callback(local.engine.close)
                valued = local.engine.analyse(fen, depth, lines)
                with lock:
                    if place not in known and keep is not None:
                        keep(as_stored(valued))
                    known[place] = valued
            return known[place]

        def one(number: int) -> Played:
            white, black = pairs[number]
            return play(white, black, look, seed=seeds[number], round_number=number + 1, model=model)

        waiting = [pool.submit(one, number) for number in range(games)]
        try:
            for future in waiting:
                yield future.result()
        finally:
            stop.set()
            for future in waiting:
                future.cancel()


def truth(entrants: Sequence[Entrant], played: Sequence[Played]) -> dict[str, Any]:
    """What the manifest says of the players and of each game."""
    return {"players": [asdict(entrant) for entrant in entrants], "games": [game.truth() for game in played]}


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedEvent(Answer):
    """A tournament among agents, a row for each game; `played` has the games with the truth about them."""

    entrants: Sequence[Entrant]
    played: Sequence[Played]


def entrants_of(
    elo: Sequence[float], s: Sequence[float], c: Sequence[float], names: Sequence[str], assist: Sequence[str]
) -> list[Entrant]:
    """The players that are asked for, with their help.

    >>> [(one.name, one.elo) for one in entrants_of([2400, 2200], [], [], ["Ash"], [])]
    [('Ash', 2400), ('Player 2', 2200)]
    """
    if len(s) != len(c) or bool(elo) == bool(s):
        raise InputError("give a rating for each player, or s and c for each.")
    pairs: list[tuple[float | None, float | None]] = list(zip(s, c, strict=True))
    pairs = pairs or [(None, None)] * len(elo)
    labels = [names[i] if i < len(names) else f"Player {i + 1}" for i in range(len(pairs))]
    helped = {one.name: one for one in map(Assist.parse, assist)}
    if unknown := set(helped) - set(labels):
        raise InputError(f"nobody is called {sorted(unknown)[0]!r}: the players are {', '.join(labels)}.")
    ratings = [round(e) for e in elo] if elo else [None] * len(pairs)
    return [
        Entrant(label, one_s, one_c, rating, helped.get(label))
        for label, (one_s, one_c), rating in zip(labels, pairs, ratings, strict=True)
    ]


def simulate(
    path: File,
    *,
    elo: Sequence[float] = (),
    s: Sequence[float] = (),
    c: Sequence[float] = (),
    games: int = 10,
    names: Sequence[str] = (),
    assist: Sequence[str] = (),
    event: str = "Simulated tournament",
    engine: str = DEFAULT,
    depth: int | None = None,
    lines: int = 50,
    calibration: str | None = None,
    policy: Network | bool | str = True,
    seed: int = 0,
    workers: int | None = None,
    store: File | None = None,
    quiet: bool = True,
) -> SimulatedEvent:
    """Play a tournament among agents into a PGN file, as `assay simulate` does: players that are known exactly.

    Each has a rating (`elo`), or Regan's `s` and `c`; `assist`, such as "Player 3:0.3:12", helps one of them. The truth
    stands in `.played` and in a manifest beside the file.

    >>> import assay
    >>> assay.simulate("games.pgn", elo=[2400, 2200], assist=["Player 3:0.5"])
    Traceback (most recent call last):
        ...
    assay.errors.InputError: nobody is called 'Player 3': the players are Player 1, Player 2.
    """
    entrants = entrants_of(elo, s, c, names, assist)
    out, depth, remarks = Path(path), depth or DEFAULT_DEPTH, list[str]()
    model: Chooser | None = None
    if any(entrant.s is None for entrant in entrants):
        chosen = load(calibration, depth=depth)
        with Engine(engine) as started:
            judge = for_engine(started.identity(lines), depth, chosen if calibration else None)
        if judge.stand_in:
            remarks.append(judge.stand_in.remedy)
        model = choosing(judge, open_network(policy) if isinstance(policy, str) else policy)
    played = []
    with ExitStack() as stack:
        keep = None
        if store is not None:
            opened = stack.enter_context(writing(Path(store)))
            with Engine(engine) as asked:
                number = opened.number_of(asked.identity(lines))
            keep = stack.enter_context(Writer(opened, number)).put
        progress = stack.enter_context(Progress("Playing", games, unit="games", quiet=quiet))
        part = stack.enter_context(atomic(out))
        with part.open("w", encoding="utf-8") as file:
            for game in tournament(
                entrants, games, engine=engine, depth=depth, lines=lines, seed=seed,
                workers=workers or os.cpu_count() or 1, keep=keep, model=model,
            ):  # fmt: skip
                file.write(game.pgn(event) + "\n\n")
                played.append(game)
                progress.advance()
    settings = {
        "engine": engine,
        "depth": depth,
        "lines": lines,
        "seed": seed,
        "calibration": calibration,
        "event": event,
    }
    beside = out.with_suffix(".manifest.json")
    write(beside, make("simulated games", settings=settings) | {"truth": truth(entrants, played)})
    remarks.append(f"{counted(len(played), 'game')} written to {out}, the truth to {beside}.")
    rows = [game.truth() | {"assisted": len(game.assisted)} for game in played]
    shown = Table(rows, columns_of(("round", "white", "black", "result", "plies", "assisted")))
    return SimulatedEvent(shown=shown, entrants=entrants, played=played, remarks=remarks)
