"""A dataset on disk: packed shards of plies that are mapped into memory, a table of games, a manifest.

::

    DATASET/
      manifest.json       what made it: inputs with hashes, filter, bands, how games were split, what was left out
      games.arrow         one row per game: where its plies are, ratings, players (hashed), set, speed, result, opening
      plies-00000.arrow   64 planes x uint64, board scalars, clocks, engine scalars and evals per ply, uncompressed

Arrow files without compression can be read in place: opening a dataset of any size takes no time and no memory, and
the operating system keeps what is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assay import manifest
from assay.errors import AssayError, InputError, LearnedError
from assay.games.outcomes import score_of
from assay.learned.encode import SCALAR_NAMES
from assay.learned.inputs import EARLY, ENGINE_NAMES, POOL_NAMES, POOL_SPEEDS, Floats, Inputs
from assay.paths import atomic
from assay.pools import Bands
from assay.records import dataclass

KIND = "learned-dataset"
VERSION = 2

MANIFEST, GAMES = "manifest.json", "games.arrow"

PLY_SCHEMA = pa.schema(
    [
        ("planes", pa.list_(pa.uint64(), 64)),
        ("board", pa.list_(pa.int8(), len(SCALAR_NAMES))),
        ("clock", pa.list_(pa.float32(), 2)),
        ("engine", pa.list_(pa.float32(), len(ENGINE_NAMES))),
        ("evals", pa.list_(pa.float32(), 2)),
    ]
)
GAME_SCHEMA = pa.schema(
    [
        ("shard", pa.int32()),
        ("row", pa.int64()),
        ("plies", pa.int32()),  # stored
        ("length", pa.int32()),  # played
        ("white_elo", pa.int16()),
        ("black_elo", pa.int16()),
        ("white_id", pa.uint64()),
        ("black_id", pa.uint64()),
        ("split", pa.string()),
        ("white_held", pa.bool_()),  # whether White is of this set; a game of a later set may have a training player
        ("black_held", pa.bool_()),
        ("speed", pa.string()),
        ("year", pa.int16()),
        ("result", pa.string()),
        ("opening", pa.string()),
        ("analysed", pa.bool_()),
        ("valued", pa.bool_()),  # whether the game came with evals
    ]
)


def shard_name(number: int) -> str:
    return f"plies-{number:05}.arrow"


def write_plies(path: Path, plies: Inputs) -> None:
    """Write one shard, whole or not at all."""
    columns = [
        pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).reshape(-1)), type=field.type)
        for field, values in zip(
            PLY_SCHEMA, (plies.planes, plies.board, plies.clock, plies.engine, plies.evals), strict=True
        )
    ]
    _write(path, pa.table(columns, schema=PLY_SCHEMA))


def write_games(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the table of games."""
    _write(path, pa.Table.from_pylist([dict(row) for row in rows], schema=GAME_SCHEMA))


def _write(path: Path, table: pa.Table) -> None:
    # Opened here and not by Arrow, whose errors name the temporary file.
    with atomic(path) as part, part.open("wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        # One batch: a reader then finds every column in one piece.
        writer.write_table(table, max_chunksize=max(table.num_rows, 1))


def file_sum(path: Path) -> str:
    """What tells a file of a dataset from any other."""
    return manifest.file_hash(path)[:16]


def _read(path: Path, schema: pa.Schema, sum_: str | None) -> pa.Table:
    """A file of a dataset, mapped; LearnedError if it is not the one with this sum."""
    if sum_ is not None and file_sum(path) != sum_:
        raise LearnedError(f"{path} is damaged: it is not what was written; encode the dataset again.")
    try:
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (OSError, pa.ArrowException) as error:
        raise LearnedError(f"{path} cannot be read ({error}); encode the dataset again.") from error
    if table.schema != schema:
        raise LearnedError(f"{path} has other columns than this version of Assay writes; encode the dataset again.")
    return table


@dataclass(frozen=True)
class Dataset:
    """A dataset opened for reading."""

    path: Path
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        games = ", ".join(f"{name} {count}" for name, count in self.manifest["settings"]["games"].items())
        return f"Dataset {self.path}: games {games}; ratings {self.edges[0]:.0f} to {self.edges[-1]:.0f}"

    @cached_property
    def table(self) -> pa.Table:
        return _read(self.path / GAMES, GAME_SCHEMA, self.identity)

    @property
    def identity(self) -> str:
        """What tells this dataset from others."""
        return str(self.manifest["settings"]["identity"])

    @cached_property
    def bands_of_ratings(self) -> Bands:
        return Bands(**self.manifest["settings"]["bands"])

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        """The edges of the rating bands."""
        bands = self.bands_of_ratings
        return np.array([*bands.starts, bands.end], dtype=np.float64)

    @cached_property
    def plies(self) -> npt.NDArray[np.int64]:
        return self.column("plies").astype(np.int64)

    @cached_property
    def ratings(self) -> Floats:
        """White's and Black's rating of each game, (games, 2)."""
        return np.stack([self.column("white_elo"), self.column("black_elo")], axis=1).astype(np.float32)

    @cached_property
    def bands(self) -> npt.NDArray[np.int64]:
        """The band of each rating, (games, 2)."""
        return np.asarray((self.ratings - self.edges[0]) // self.bands_of_ratings.width, dtype=np.int64)

    @cached_property
    def held(self) -> npt.NDArray[np.bool_]:
        """Whether White and Black are players of the set of the game, (games, 2): only those may be judged there."""
        return np.stack([self.column("white_held"), self.column("black_held")], axis=1).astype(bool)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many plies each game was played for; not all may be stored."""
        return self.column("length").astype(np.int64)

    @cached_property
    def results(self) -> npt.NDArray[np.object_]:
        return self.column("result")

    @cached_property
    def openings(self) -> npt.NDArray[np.object_]:
        """The ECO code of each game, or its first moves where there is none."""
        return self.column("opening")

    @cached_property
    def speeds(self) -> npt.NDArray[np.object_]:
        """The speed of each game, None where it is unknown."""
        return self.column("speed")

    @cached_property
    def years(self) -> npt.NDArray[np.float64]:
        """The year of each game, nan where it is unknown."""
        return self.column("year").astype(np.float64)

    @cached_property
    def pools(self) -> npt.NDArray[np.int64]:
        """The pool of each game, by its speed (the last is for unknown ones) and whether it is of the first years."""
        last = len(POOL_NAMES) - 1
        fast = np.array([POOL_SPEEDS.get(speed or "", last) for speed in self.speeds], dtype=np.int64)
        return 2 * fast + (self.years < EARLY)

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        return list(zip(self.table["shard"].to_pylist(), self.table["row"].to_pylist(), strict=True))

    @cached_property
    def _shards(self) -> dict[int, Inputs]:
        return {}

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column of the table of games."""
        return np.asarray(self.table[name].to_numpy())

    def rows(self, split: str) -> npt.NDArray[np.int64]:
        """The games of one set."""
        return np.flatnonzero(self.column("split") == split)

    def game(self, row: int, max_plies: int | None = None) -> Inputs:
        """The plies of one game, without a copy."""
        number, start = self._places[row]
        plies = int(self.plies[row]) if max_plies is None else min(int(self.plies[row]), max_plies)
        ended = score_of(str(self.results[row])) is not None and plies == int(self.lengths[row])
        shard = self._shards.get(number)
        if shard is None:
            shard = self._shards[number] = self._open(number)
        part = slice(start, start + plies)
        return Inputs(
            shard.planes[part],
            shard.board[part],
            shard.clock[part],
            shard.engine[part],
            shard.evals[part],
            ended,
            self.speeds[row],
            None if np.isnan(self.years[row]) else int(self.years[row]),
        )

    def _open(self, number: int) -> Inputs:
        # Read once as a whole to check it: a training reads all of it anyway.
        name = shard_name(number)
        table = _read(self.path / name, PLY_SCHEMA, self.manifest["settings"].get("shards", {}).get(name))
        columns = [table[field.name].chunk(0) for field in PLY_SCHEMA]  # one batch: joining chunks would copy them
        return Inputs(
            *(
                column.values.to_numpy(zero_copy_only=True).reshape(-1, field.type.list_size)
                for column, field in zip(columns, PLY_SCHEMA, strict=True)
            )
        )


def open_dataset(path: str | Path) -> Dataset:
    """Open a dataset; one of another version is refused."""
    if not isinstance(path, str | Path):
        raise InputError(f"{path!r:.80} is no dataset: give the path of its folder.")
    path = Path(path)
    if not (path / MANIFEST).is_file():
        raise InputError(f"{path} is no dataset: it has no {MANIFEST}. Make one with: assay encode FILE -o {path}")
    made = manifest.read(path / MANIFEST, KIND)
    if made["settings"].get("version") != VERSION:
        raise LearnedError(
            f"{path} is a dataset of version {made['settings'].get('version')}, this Assay reads version {VERSION}; "
            "encode it again."
        )
    found = Dataset(path, made)
    try:
        _ = found.identity, found.edges
    except (KeyError, TypeError, ValueError, AssayError) as error:
        raise InputError(f"{path / MANIFEST} is damaged ({type(error).__name__} {error}); encode it again.") from error
    return found
