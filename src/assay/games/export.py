"""Games written as PGN, byte for byte as they were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from assay.games.catalog import PART, Index, collect, is_index, open_indexes, read_rows, rows_of
from assay.games.columns import rows as columns_of
from assay.games.reader import Game, read_games, splits
from assay.games.stream import Stream, find_files
from assay.games.where import compile_where
from assay.paths import atomic
from assay.progress import Progress

SPAN = (PART, "source", "start_offset", "end_offset")


def write_games(games: Iterable[Game], path: str | Path, *, total: int | None = None, quiet: bool = True) -> int:
    """Write games as PGN, an empty line between them; how many there were."""
    count = 0
    with (
        atomic(path) as part,
        part.open("wb") as file,
        Progress("writing games", total, unit="games", quiet=quiet) as progress,
    ):
        for game in games:
            file.write(game.data)
            file.write(b"\r\n\r\n" if b"\r\n" in game.data else b"\n\n")
            count += 1
            progress.update(count)
    return count


def games_of(indexes: Sequence[Index], spans: pl.DataFrame) -> Iterator[Game]:
    """The games of these rows (see SPAN), index after index, each in file order."""
    for number, index in enumerate(indexes):
        mine = spans.filter(pl.col(PART) == number)
        if mine.height:
            yield from read_rows(index, mine.sort("source", "start_offset", maintain_order=True))


def select(
    paths: Sequence[str | Path], where: str | None = None, problems: Counter[str] | None = None
) -> Iterator[Game]:
    """The games of PGN files, folders or index files that the filter lets through, in order.

    This is what a command does with `FILE... --where EXPR`. Damage is counted by reason in `problems`.

    >>> from assay.games.samples import write_samples
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     len(list(select(write_samples(folder)[:2], "white_elo > 2300")))
    6
    """
    condition = compile_where(where) if where else None
    for path in paths:
        if is_index(path):
            opened = open_indexes([path])
            yield from games_of(opened, collect(rows_of(opened, where).select(SPAN), opened))
            continue
        for file in find_files([path]):
            if condition is None:
                yield from read_games(file, problems)
            else:
                yield from _select_from_pgn(file, condition, Counter() if problems is None else problems)


def _select_from_pgn(file: str, condition: pl.Expr, problems: Counter[str]) -> Iterator[Game]:
    with Stream(file) as stream:
        for part in splits(stream, problems):
            frame = pl.DataFrame(pl.from_arrow(columns_of(part, file, problems)))
            chosen = frame.select(condition.alias("chosen"))["chosen"].to_numpy()
            for start, end in zip(part.starts[chosen].tolist(), part.ends[chosen].tolist(), strict=True):
                yield Game(file, part.base + start, part.base + end, part.data[start:end])
        if stream.problem:
            problems[stream.problem] += 1
