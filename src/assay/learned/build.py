"""PGN to a dataset: read, select, encode, split, pack into shards; what is left out is counted by reason.

Engine scalars, for those who have analyses, are what a store says of the move played: rank, loss, gap to the next move,
value of the position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from assay import manifest
from assay.engine.store import Store
from assay.engine.turns import turns
from assay.errors import LearnedError, OutputError, StoreError
from assay.games import Game, GameArrays, Games, read, to_arrays
from assay.games.duplicates import Seen
from assay.games.stream import Paths
from assay.learned.dataset import GAMES, KIND, MANIFEST, VERSION, file_sum, shard_name, write_games, write_plies
from assay.learned.encode import encode_games
from assay.learned.inputs import ENGINE_NAMES, Floats, Inputs, clock_scalars, eval_scalars, eval_unit, joined
from assay.paths import atomic
from assay.players import SPLITS, player_id, splits_of_game
from assay.pools import STANDARD, Bands
from assay.progress import Progress
from assay.records import dataclass

BATCH = 2000
SHARD_PLIES = 100_000
OPENING_PLIES = 4

NO_RATING = "without both ratings"
OUT_OF_RANGE = "a rating outside the bands"
NOT_DRAWN = "not drawn by the share"
FILTERED = "not chosen by the filter"
AGAIN = "occurs more than once"

# Adds engine scalars to a batch: for games and their arrays, (plies, 4) with nan where there is no analysis.
Analyst = Callable[[list[Game], GameArrays], Floats]
# Tells which games to take by their rows of an index.
Filter = Callable[[pl.DataFrame], npt.NDArray[np.bool_]]

_ANY_VALUE = 1e6  # pawns: no position is left out for being decided


@dataclass(frozen=True)
class Selection:
    """Which games to take and how much of each."""

    bands: Bands = STANDARD
    max_plies: int = 200
    min_plies: int = 10
    share: float = 1.0  # of the games, drawn over the whole of each file
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.min_plies <= self.max_plies:
            raise LearnedError(
                f"min-plies {self.min_plies} and max-plies {self.max_plies}: they must be at least 1 and in this order."
            )
        if not 0 < self.share <= 1:
            raise LearnedError(f"share {self.share}: it must be greater than 0 and at most 1.")


@dataclass(frozen=True)
class Built:
    """What was written: games by set, plies, and the games left out by reason."""

    games: dict[str, int]
    plies: int
    by_game: int  # games split by game, because a name is unknown
    analysed: int
    left_out: dict[str, int]
    duplicates: str = ""  # which games occur more than once, in a sentence


@dataclass
class _Writer:
    """Collects games and writes shards of about equal size."""

    folder: Path
    rows: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[Inputs] = field(default_factory=list)
    held: int = 0
    shards: int = 0
    plies: int = 0
    sums: dict[str, str] = field(default_factory=dict)

    def add(self, plies: Inputs, row: dict[str, Any]) -> None:
        self.rows.append(row | {"shard": self.shards, "row": self.held, "plies": len(plies)})
        self.waiting.append(plies)
        self.held += len(plies)
        self.plies += len(plies)
        if self.held >= SHARD_PLIES:
            self.flush()

    def flush(self) -> None:
        if self.waiting:
            whole = joined(self.waiting)
            name = shard_name(self.shards)
            write_plies(self.folder / name, whole)
            self.sums[name] = file_sum(self.folder / name)
            self.waiting, self.held, self.shards = [], 0, self.shards + 1


def build_dataset(
    files: Paths | Games,
    out: str | Path,
    selection: Selection,
    *,
    chosen: Filter | None = None,
    analyst: Analyst | None = None,
    settings: dict[str, Any] | None = None,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> Built:
    """Encode the rated games of these files into a new dataset folder; it appears only when it is whole.

    `settings` are further words for the manifest (the filter, the analyses). A game that occurs more than once is taken
    once, unless `keep_duplicates`.
    """
    out, games = Path(out), read(files)
    if out.exists():
        raise OutputError(f"{out} exists already; choose another name or remove it first.")
    with atomic(out) as part:
        part.mkdir()
        try:
            return _fill(part, games, selection, chosen, analyst, settings or {}, keep_duplicates, quiet)
        except OutputError as error:
            raise OutputError(str(error).replace(str(part), str(out))) from error


def _fill(
    folder: Path,
    given: Games,
    selection: Selection,
    chosen: Filter | None,
    analyst: Analyst | None,
    settings: dict[str, Any],
    keep_duplicates: bool,
    quiet: bool,
) -> Built:
    writer, left_out = _Writer(folder), Counter[str]()
    random = np.random.default_rng(selection.seed)
    seen, before = Seen(), 0
    with Progress("encoding", unit="games", quiet=quiet) as progress:
        for games, tags in given.tagged(BATCH):
            keep = _worth_reading(tags, selection, chosen, random, left_out)
            if not keep_duplicates:
                keep = keep[[seen.add(games[i], before + i + 1) for i in keep.tolist()]]
            before += len(games)
            _encode_batch([games[i] for i in keep], tags[keep], selection, analyst, writer, left_out)
            progress.advance(len(games))
    writer.flush()
    left_out.update(given.problems)
    left_out[AGAIN] = len(seen.duplicates)
    left_out = +left_out
    if not writer.rows:
        reasons = "; ".join(f"{reason}: {count}" for reason, count in left_out.most_common()) or "there are no games"
        raise LearnedError(f"no game is left to encode ({reasons}).")
    write_games(folder / GAMES, writer.rows)
    games_by_set = Counter(row["split"] for row in writer.rows)
    built = Built(
        games={name: games_by_set[name] for name in SPLITS},
        plies=writer.plies,
        by_game=sum(row["white_id"] is None or row["black_id"] is None for row in writer.rows),
        analysed=sum(row["analysed"] for row in writer.rows),
        left_out=dict(left_out.most_common()),
        duplicates=str(seen.duplicates),
    )
    told = asdict(selection) | settings | asdict(built)
    told |= {"version": VERSION, "identity": file_sum(folder / GAMES), "shards": writer.sums}
    manifest.write(folder / MANIFEST, manifest.make(KIND, inputs=map(asdict, given.sources), settings=told))
    return built


def _worth_reading(
    tags: pl.DataFrame,
    selection: Selection,
    chosen: Filter | None,
    random: np.random.Generator,
    left_out: Counter[str],
) -> npt.NDArray[np.int64]:
    """The games whose tags make them examples; the others are counted by the first reason that they give."""
    ratings = tags.select("white_elo", "black_elo").cast(pl.Float64).to_numpy()
    bands = selection.bands
    reasons = {
        NOT_DRAWN: random.random(len(tags)) >= selection.share,
        FILTERED: ~chosen(tags) if chosen else np.zeros(len(tags), dtype=bool),
        NO_RATING: ~np.isfinite(ratings).all(axis=1),
        OUT_OF_RANGE: ~((ratings >= bands.least) & (ratings < bands.end)).all(axis=1),
    }
    keep = np.ones(len(tags), dtype=bool)
    for reason, out in reasons.items():
        left_out[reason] += int((keep & out).sum())
        keep &= ~out
    return np.flatnonzero(keep)


def _encode_batch(
    games: list[Game],
    tags: pl.DataFrame,
    selection: Selection,
    analyst: Analyst | None,
    writer: _Writer,
    left_out: Counter[str],
) -> None:
    arrays = to_arrays(games)
    left_out.update(reason for reason in arrays.reason if reason)
    lengths = np.diff(arrays.offsets)
    encoded = encode_games(arrays)
    engine = analyst(games, arrays) if analyst else np.full((arrays.plies, len(ENGINE_NAMES)), np.nan, np.float32)
    for number, row in enumerate(tags.iter_rows(named=True)):
        if not arrays.valid[number]:
            continue
        if lengths[number] < selection.min_plies:
            left_out[f"fewer than {selection.min_plies} plies"] += 1
            continue
        begin, end = arrays.offsets[number], arrays.offsets[number + 1]
        moves = np.stack((arrays.from_square[begin:end], arrays.to_square[begin:end])).T.tobytes()
        sets = splits_of_game(row["white"], row["black"], moves)
        held = [name == max(sets, key=SPLITS.index) for name in sets]
        part = slice(begin, min(end, begin + selection.max_plies))
        clock = clock_scalars(arrays.clock[part], row["base_seconds"], row["increment_seconds"])
        date = row["date"] or ""
        unit = eval_unit(row["site"] or "", date)
        evals = eval_scalars(arrays.eval[part], arrays.mate[part], arrays.turn[part], unit)
        plies = Inputs(encoded.planes[part], encoded.scalars[part], clock, engine[part], evals)
        writer.add(
            plies,
            {
                "length": int(lengths[number]),
                "white_elo": row["white_elo"],
                "black_elo": row["black_elo"],
                "white_id": player_id(row["white"]),
                "black_id": player_id(row["black"]),
                "split": max(sets, key=SPLITS.index),
                "white_held": held[0],
                "black_held": held[1],
                "speed": row["speed"],
                "year": int(date[:4]) if date[:4].isdigit() else None,
                "result": row["result"],
                "opening": row["eco"] or moves[: 2 * OPENING_PLIES].hex(),
                "analysed": bool(np.isfinite(plies.engine[:, 0]).any()),
                "valued": bool(np.isfinite(plies.evals).any()),
            },
        )


def analyst(store: Store, depth: int) -> Analyst:
    """A function that finds the engine scalars of games in a store, by analyses of this depth.

    A game none of whose positions is stored gets nan throughout; if that is so for all games, the caller sees it in
    the count of analysed games.
    """
    store.choose(depth=depth)

    def analyse(games: list[Game], arrays: GameArrays) -> Floats:
        scalars = np.full((arrays.plies, len(ENGINE_NAMES)), np.nan, dtype=np.float32)
        try:
            found = turns(games, store, depth=depth, from_move=1, limit=_ANY_VALUE)
        except StoreError:
            return scalars  # none of these games' positions is stored
        rows = arrays.offsets[found.game] + found.ply
        scalars[rows] = engine_scalars(found.values, found.played)
        return scalars

    return analyse


def engine_scalars(values: npt.NDArray[np.float64], played: npt.NDArray[np.int64]) -> Floats:
    """Rank, loss, gap and value, each as log(1 + |x|) with its sign, from values (turns, moves) with the best first.

    A move that the engine did not list is taken for the worst listed; pawns and ranks are both on a scale of ratios,
    as people see them (Regan & Haworth 2011 scale the differences in the same spirit).

    >>> engine_scalars(np.array([[1.0, 0.5, 0.0]]), np.array([2])).astype(float).round(2).tolist()
    [[1.1, 0.69, 0.41, 0.69]]
    """
    listed = np.isfinite(values).sum(axis=1)
    at = np.where(played < 0, listed - 1, played)
    best = values[:, 0]
    rows = np.arange(len(values))
    second = np.where(listed > 1, values[:, min(1, values.shape[1] - 1)], best)
    raw = np.stack((at, best - values[rows, at], best - second, best), axis=1)
    return np.asarray(np.sign(raw) * np.log1p(np.abs(raw)), dtype=np.float32)
