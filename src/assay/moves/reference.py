"""The reference set: analysed turns of rated games in compact columns, without names and events.

A folder with two Parquet files for each part of the games, a row per turn and a row per move::

    game, set, mark        number of the game, which sample it is of, its century mark
    selected               whether it was chosen as the papers choose (no team event, no crowded Swiss)
    player, opponent       numbers that stand for people throughout the set
    elo, opponent_elo, year, ply
    key, before, own       the position (assay.games.packed), the opponent's and the mover's last moves
    moves, played          how many moves were valued, and which one was played

    origin, target         squares of the move, a promotion piece from bit 6 of the target on; by origin, then target
    v1 .. v10              score codes: at the greatest depth how far below the best, else the change from the next
                           depth, folded to whole numbers from 0 on

Differences are small, so that a turn takes some 240 bytes. What made the values (engine, net, options) and the best
value of each turn stand with the turns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from assay import manifest
from assay.engine.choices import Choices, joined
from assay.engine.identity import Identity
from assay.engine.parquet import groups
from assay.errors import InputError
from assay.paths import atomic
from assay.records import dataclass

SUMS = "SHA256SUMS"
_ABOUT = b"assay"
_FORMAT = "assay reference set 1"
_TURNS, _MOVES = ".turns.parquet", ".moves.parquet"
KNOWN = ("game", "set", "mark", "selected", "player", "opponent", "elo", "opponent_elo", "year", "ply")


@dataclass(frozen=True)
class Reference:
    """Turns of rated games: the choices, and a row for each turn with what is known of it."""

    choices: Choices
    turns: pl.DataFrame
    identity: Identity

    def __len__(self) -> int:
        return len(self.choices)

    def first(self, turns: int) -> Reference:
        """The first turns alone."""
        return Reference(self.choices.only(np.arange(len(self)) < turns), self.turns.head(turns), self.identity)


def _folded(values: NDArray[np.int32]) -> NDArray[np.uint16]:
    """Signed differences as numbers from 0 on, small ones first; 16 bits wrap round and come back the same."""
    short = values.astype(np.int16).astype(np.int32)
    return np.where(short >= 0, 2 * short, -2 * short - 1).astype(np.uint16)


def _unfolded(values: NDArray[np.uint16]) -> NDArray[np.int16]:
    wide = values.astype(np.int32)
    return np.where(wide & 1, -(wide >> 1) - 1, wide >> 1).astype(np.int16)


def write(folder: Path, name: str, choices: Choices, turns: pl.DataFrame, identity: Identity) -> None:
    """Write one part; `turns` has the columns of the set that say whose turn it is, a row per turn."""
    depth, turn = choices.depth, choices.turn
    order = np.lexsort((choices.moves >> 6, choices.moves & 63, turn))
    codes, moves = choices.codes[order].astype(np.int32), choices.moves[order]
    played = np.empty(len(order), np.int64)
    played[order] = np.arange(len(order))
    best = np.maximum.reduceat(codes[:, -1], choices.start[:-1])
    of_turns: dict[str, pa.Array] = {name: turns[name].to_arrow() for name in KNOWN}
    of_turns["set"] = of_turns["set"].cast(pa.string()).dictionary_encode()
    of_turns["key"] = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(choices.keys.shape[1]), len(choices), [None, pa.py_buffer(choices.keys.tobytes())]
    )
    of_turns["before"], of_turns["own"] = pa.array(choices.before), pa.array(choices.own)
    of_turns["moves"] = pa.array(choices.width, pa.uint8())
    of_turns["played"] = pa.array(played[choices.chosen] - choices.start[:-1], pa.uint8())
    of_turns["best"] = pa.array(best, pa.int16())
    of_moves = {"origin": pa.array(moves & 63, pa.uint8()), "target": pa.array(moves >> 6, pa.uint16())}
    of_moves[f"v{depth}"] = pa.array(_folded(best[turn] - codes[:, -1]))
    for level in range(depth - 1, 0, -1):
        of_moves[f"v{level}"] = pa.array(_folded(codes[:, level - 1] - codes[:, level]))
    about = {
        "format": _FORMAT,
        "depth": depth,
        "engine": identity.engine,
        "net": identity.net,
        "options": [list(option) for option in identity.options],
        "lines": identity.lines,
    }
    for end, columns in ((_TURNS, of_turns), (_MOVES, of_moves)):
        table = pa.table(columns).replace_schema_metadata({_ABOUT: json.dumps(about).encode()})
        split = [column for column in columns if columns[column].type in (pa.uint16(), pa.int16())]
        with atomic(folder / f"{name}{end}") as part:
            pq.write_table(
                table,
                part,
                compression="zstd",
                compression_level=19,
                use_dictionary=["set"],
                column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
                write_statistics=False,
                data_page_size=1 << 24,
            )


def read(folder: str | Path | Sequence[str | Path], depth: int) -> Reference:
    """The turns of a set that were analysed to this depth, with their values at depths 1 to `depth`."""
    parts: list[Choices] = []
    frames: list[pl.DataFrame] = []
    identities: set[Identity] = set()
    for file in _files(folder):
        table = _table(file)
        try:
            about = json.loads((table.schema.metadata or {}).get(_ABOUT, b"{}"))
            if about.get("format") != _FORMAT:
                raise InputError(f"{file} is no part of a reference set.")
            if about["depth"] < depth:
                continue
            options = tuple((name, value) for name, value in about["options"])
            identities.add(Identity(about["engine"], about["net"], options, 0, about["lines"]))
            moves = _table(file.with_name(file.name.removesuffix(_TURNS) + _MOVES))
            parts.append(_choices(table, moves, about["depth"], depth))
            frames.append(pl.DataFrame(pl.from_arrow(table.select(KNOWN))))
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
            raise InputError(f"{file} does not fit together ({error}). Get the set anew.") from error
    if not parts:
        raise InputError(f"{folder} has no turns analysed to depth {depth}.")
    if len(identities) > 1:
        raise InputError(f"{folder} has parts by several engines: {', '.join(map(str, identities))}. Read them apart.")
    return Reference(joined(parts), pl.concat(frames), identities.pop())


def _table(file: Path) -> pa.Table:
    """A file of a set; what its checksum, its footer or its contents show to be damaged is refused."""
    sums = file.with_name(SUMS)
    try:
        listed = sums.read_text(encoding="utf-8", errors="replace") if sums.exists() else ""
        known = {name: digest for digest, _, name in (line.partition("  ") for line in listed.splitlines())}
        if file.name in known and known[file.name] != manifest.file_hash(file):
            raise ValueError(f"its checksum is not that in {SUMS}")
        groups(file)  # a damaged footer may end the process in PyArrow
        return pq.read_table(file)
    except (OSError, ValueError, pa.ArrowException) as error:
        told = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{file} is damaged ({told}). Get the set anew.") from error


def is_reference(folder: str | Path) -> bool:
    """Whether a folder holds parts of a reference set."""
    return Path(folder).is_dir() and any(Path(folder).glob(f"*{_TURNS}"))


def _files(folder: str | Path | Sequence[str | Path]) -> list[Path]:
    given = [folder] if isinstance(folder, str | Path) else list(folder)
    files: list[Path] = []
    for path in map(Path, given):
        files += sorted(path.glob(f"*{_TURNS}")) if path.is_dir() else [path]
    missing = [str(path) for path in files if not path.exists()]
    if missing or not files:
        raise InputError(f"there is no reference set in {', '.join(missing or map(str, given))}.")
    return files


def _choices(turns: pa.Table, moves: pa.Table, stored: int, depth: int) -> Choices:
    def whole(table: pa.Table, name: str) -> NDArray[Any]:
        return np.asarray(table[name].to_numpy())

    start = np.concatenate([[0], np.cumsum(whole(turns, "moves").astype(np.int64))])
    keys = np.frombuffer(b"".join(turns["key"].to_pylist()), np.uint8).reshape(len(turns), -1)
    codes = np.empty((len(moves), stored), np.int16)
    best = np.repeat(whole(turns, "best"), np.diff(start))
    codes[:, -1] = best - _unfolded(whole(moves, f"v{stored}"))
    for level in range(stored - 1, 0, -1):
        codes[:, level - 1] = codes[:, level] + _unfolded(whole(moves, f"v{level}"))
    return Choices(
        codes=codes[:, :depth],
        moves=(whole(moves, "origin") | whole(moves, "target") << 6).astype(np.uint16),
        start=start,
        played=whole(turns, "played").astype(np.int64),
        keys=keys,
        before=whole(turns, "before"),
        own=whole(turns, "own"),
        ply=whole(turns, "ply").astype(np.int64),
        unit=whole(turns, "game").astype(np.int64) * 2 + (1 - (keys[:, 32] & 1)),
    )


def checksums(folder: Path) -> dict[str, str]:
    """The hash of every file of a set."""
    return {file.name: manifest.file_hash(file) for file in sorted(folder.glob("*.parquet"))}
