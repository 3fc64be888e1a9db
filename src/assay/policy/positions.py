"""Positions from which people moved, gathered from games: what a policy is trained and judged on.

A folder holds blocks of rows: the position in 35 bytes as the analysis store keeps it, the move that was played, the
move before it, the mover's rating and the pool it belongs to, and whether the mover is held out. Who is held out is
decided by a hash of the name; games with a player who is held out are never trained on.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay import manifest
from assay.errors import InputError, OutputError
from assay.games import Game, GameArrays, read, to_arrays
from assay.games.duplicates import Duplicates, Seen
from assay.games.legal import Positions, seen_by_mover
from assay.games.packed import KEY_BYTES, pack, played_moves, unpack
from assay.games.stream import Paths
from assay.paths import File, atomic
from assay.players import hash64, is_known, player_id
from assay.progress import Progress
from assay.records import dataclass

KIND = "policy-positions"
MANIFEST = "positions.json"
NO_SQUARE = 64
LICHESS, BOARD = 0, 1  # pools of ratings
HELD_OUT = 0.05  # of the players

ROW = np.dtype(
    [
        ("key", np.uint8, KEY_BYTES),
        ("last_start", np.uint8),  # NO_SQUARE where unknown; as the board stands
        ("last_end", np.uint8),
        ("pool", np.uint8),
        ("held_out", np.uint8),
        ("spare", np.uint8),
        ("played", np.uint16),
        ("elo", np.uint16),
    ]
)
RowArray = npt.NDArray[np.void]

_GAMES = 4_000
_BLOCK = 1 << 20
_ALIKE_PLIES = 24


@dataclass(frozen=True)
class Choice:
    """Which positions of a game are taken."""

    first_ply: int = 8
    per_game: int = 0  # 0: all
    elo: tuple[int, int] = (600, 3000)
    seed: int = 1


def seen(keys: npt.NDArray[np.uint8]) -> Positions:
    """The positions of packed keys, (n, 35), as the mover sees them."""
    return seen_by_mover(*unpack(keys))


def _batches(games: Iterable[Game]) -> Iterator[list[Game]]:
    stream = iter(games)
    while some := list(islice(stream, _GAMES)):
        yield some


def marks(games: Sequence[Game], arrays: GameArrays) -> list[tuple[int, int]]:
    """Two numbers by which each game is known again: of all its moves, and of its first moves with its players."""
    moves = played_moves(arrays, np.arange(arrays.plies))
    found = []
    for game, (begin, end) in zip(games, zip(arrays.offsets[:-1], arrays.offsets[1:], strict=True), strict=True):
        whole = moves[begin:end].tobytes()
        names = "|".join(_surname(game.tags.get(side, "")) for side in ("White", "Black"))
        first = hash64(whole[: 2 * _ALIKE_PLIES] + names.encode())
        found.append((hash64(whole), first))
    return found


def _surname(name: str) -> str:
    return "".join(letter for letter in name.lower().partition(",")[0] if letter.isalpha())


def gather(
    files: Paths,
    out: Path,
    choice: Choice,
    *,
    where: str | None = None,
    without: Sequence[File] = (),
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> tuple[Counter[str], Duplicates]:
    """Gather positions of rated games into a new folder; how many positions and games were taken or left out, and why.

    No game is taken that occurs in `without`, known by all its moves, or by its players and first moves.
    """
    if out.exists():
        raise OutputError(f"{out} exists already; choose another name or remove it first.")
    counts: Counter[str] = Counter()
    barred: set[int] = set()
    for batch in _batches(read(without) if without else ()):
        barred.update(number for pair in marks(batch, to_arrays(batch)) for number in pair)
    counts["games barred"] = len(barred) // 2
    seen = Seen()
    random = np.random.default_rng(choice.seed)
    with atomic(out) as part, Progress("gathering", unit="games", quiet=quiet) as progress:
        part.mkdir()
        waiting: list[RowArray] = []
        blocks = 0
        number = 0
        games = read(files, where=where)
        for batch in _batches(games):
            number += len(batch)
            new = [game for game in batch if keep_duplicates or seen.add(game)]
            waiting.append(_rows(new, barred, choice, random, counts))
            progress.advance(len(batch))
            if sum(map(len, waiting)) >= _BLOCK:
                blocks, waiting = _write(part, blocks, np.concatenate(waiting)), []
        if waiting:
            _write(part, blocks, np.concatenate(waiting))
        if seen.duplicates:
            counts["games left out: occur again"] = len(seen.duplicates)
        if not number:
            raise games.no_games()
        settings = {
            "first_ply": choice.first_ply,
            "per_game": choice.per_game,
            "elo": list(choice.elo),
            "seed": choice.seed,
            "where": where,
            "without": [Path(path).name for path in without],
            "counts": dict(counts),
        }
        manifest.write(part / MANIFEST, manifest.make(KIND, inputs=map(asdict, games.sources), settings=settings))
    return counts, seen.duplicates


def _write(folder: Path, number: int, rows: RowArray) -> int:
    np.save(folder / f"block-{number:04}.npy", rows)
    return number + 1


def _rows(
    games: list[Game], barred: set[int], choice: Choice, random: np.random.Generator, counts: Counter[str]
) -> RowArray:
    arrays = to_arrays(games)
    moves = played_moves(arrays, np.arange(arrays.plies))
    low, high = choice.elo
    ply_in_game = np.arange(arrays.plies) - arrays.offsets[:-1][arrays.game]
    keep = np.zeros(arrays.plies, np.bool_)
    elo, held = np.zeros(arrays.plies, np.uint16), np.zeros(arrays.plies, np.uint8)
    pool = np.zeros(arrays.plies, np.uint8)
    for g, (game, known_by) in enumerate(zip(games, marks(games, arrays), strict=True)):
        begin, end = arrays.offsets[g], arrays.offsets[g + 1]
        if not arrays.valid[g] or end - begin <= choice.first_ply:
            counts["games left out: invalid or too short"] += 1
            continue
        if not barred.isdisjoint(known_by):
            counts["games left out: barred"] += 1
            continue
        tags = game.tags
        ratings = [_rating(tags.get(name)) for name in ("WhiteElo", "BlackElo")]
        plies = np.arange(begin + choice.first_ply, end)
        white = arrays.turn[plies]
        mover = np.where(white, ratings[0], ratings[1])
        plies, mover = plies[(mover >= low) & (mover < high)], mover[(mover >= low) & (mover < high)]
        if choice.per_game and len(plies) > choice.per_game:
            chosen = np.sort(random.choice(len(plies), choice.per_game, replace=False))
            plies, mover = plies[chosen], mover[chosen]
        out = [_held_out(tags.get(name), moves[begin:end]) for name in ("White", "Black")]
        counts["games with a player held out"] += any(out)
        counts["games"] += 1
        keep[plies], elo[plies] = True, mover
        held[plies] = any(out)
        site = f"{tags.get('Site', '')} {tags.get('SourceSet', '')}".lower()
        pool[plies] = LICHESS if "lichess.org" in site and "lichess broadcast" not in site else BOARD
    plies = np.flatnonzero(keep)
    rows = np.zeros(len(plies), ROW)
    rows["key"] = pack(arrays, plies)
    before = ply_in_game[plies] > 0
    for name, squares in (("last_start", arrays.from_square), ("last_end", arrays.to_square)):
        rows[name] = np.where(before, squares[plies - 1], NO_SQUARE)
    rows["pool"], rows["held_out"] = pool[plies], held[plies]
    rows["played"], rows["elo"] = moves[plies], elo[plies]
    counts["positions"] += len(plies)
    return rows


def _rating(text: str | None) -> int:
    return int(text) if text and text.strip().isdecimal() and len(text) <= 4 else 0


def _held_out(name: str | None, moves: npt.NDArray[np.uint16]) -> bool:
    number = player_id(name) if is_known(name) else hash64(moves.tobytes())
    return (number or 0) / 2**64 < HELD_OUT


def open_positions(folder: Path) -> list[RowArray]:
    """The blocks of a folder, mapped into memory."""
    manifest.read(folder / MANIFEST, KIND)
    try:
        blocks = [np.load(path, mmap_mode="r") for path in sorted(folder.glob("block-*.npy"))]
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{folder} is damaged ({error}); gather its positions again.") from error
    if any(block.dtype != ROW for block in blocks):
        raise InputError(f"{folder} was gathered by another version of Assay; gather its positions again.")
    if not sum(map(len, blocks)):
        raise InputError(f"{folder} holds no positions; gather some with other games or a wider --elo.")
    return blocks


def identity(folder: Path) -> str:
    """A short hash that stands for the gathered positions."""
    return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()[:16]
