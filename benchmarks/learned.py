"""Speed of the learned rating's data path, side by side with python-chess, the bare model and gradient boosting.

    python benchmarks/learned.py GAMES.pgn[.zst] [--games 2000] [--json FILE]

CPU seconds of one core. The python-chess encoder, the training and the trees are measured on a part of the games.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import chess.pgn
import torch

from assay.games import Game, read, to_arrays
from assay.learned import (
    Config,
    Dataset,
    Run,
    Selection,
    build_dataset,
    encode_games,
    encode_ply_planes,
    open_dataset,
    posteriors,
)
from assay.learned.baselines import train_boosting
from assay.learned.build import Built
from assay.learned.epochs import loss_of, make_optimiser, scalar_scale
from assay.learned.forward import one_thread
from assay.learned.lessons import Trained, training_rows
from assay.learned.net import Batch, Examples, Net, collate, make_batches
from assay.learned.run import SHIPPED, shipped
from assay.pools import STANDARD
from measure import Measurement, best, cpu, show

CONFIG = Config(d_model=64, layers=2, square_width=32, max_plies=128)


def slowly(games: list[Game]) -> int:
    """PGN to planes with python-chess alone; the number of plies."""
    plies = 0
    for game in games:
        read = chess.pgn.read_game(io.StringIO(game.text))
        assert read is not None
        board, previous = read.board(), None
        for move in read.mainline_moves():
            encode_ply_planes(board, move, previous)
            board.push(move)
            previous = move
            plies += 1
    return plies


def measure(file: Path, folder: Path, games: int = 2000, *, steps: int = 12, boosted: int = 150) -> list[Measurement]:
    """Encoding, training and guessing on the first games of a file; what is made goes into the folder.

    A training takes so many `steps`; trees are grown on so many `boosted` games, and guess a fifth of them.
    """
    chosen = list(islice(read(file), games))
    part = folder / "learned.pgn"
    part.write_bytes(b"".join(game.data.strip() + b"\n\n" for game in chosen))
    torch.set_num_threads(1)
    made: list[Built] = []
    writing = best(lambda: made.append(build_dataset([part], folder / "dataset", Selection(STANDARD))), repeat=1)
    dataset = open_dataset(folder / "dataset")
    rate = made[0].plies / writing
    return [
        *encoding(chosen, slow=4 * steps),
        Measurement("PGN to a dataset on disk", rate, "plies/s"),
        *training(dataset, steps, boosted),
    ]


def encoding(games: list[Game], slow: int) -> list[Measurement]:
    """Moves to packed planes, against python-chess plane by plane."""
    arrays = to_arrays(games, threads=1)
    whole = arrays.plies / best(lambda: encode_games(to_arrays(games, threads=1)))
    alone = arrays.plies / best(lambda: encode_games(arrays))
    few = games[:slow]
    reference = slowly(few) / best(lambda: slowly(few), repeat=1)
    by_plane = "python-chess, plane by plane"
    return [
        Measurement("PGN to packed planes", whole, "plies/s", by_plane, reference, target=200_000, wanted=40),
        Measurement("arrays to packed planes", alone, "plies/s"),
    ]


def training(dataset: Dataset, steps: int, boosted: int) -> list[Measurement]:
    """Steps of a training, against the bare model on tensors that are there already, and against boosted trees."""
    examples = Examples(dataset, dataset.rows("train"), CONFIG.max_plies, ("board",))
    bands = len(dataset.edges) - 1
    net = Net(CONFIG, bands, *scalar_scale(examples))
    optimiser = make_optimiser(net, CONFIG)
    offset = torch.zeros(int(dataset.pools.max()) + 1, bands)

    def step(batch: Batch) -> None:
        loss, _ = loss_of(net, batch, offset, CONFIG)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    chosen = make_batches(examples.lengths, CONFIG.batch_size, (1,))[:steps]
    plies = int(sum(examples.lengths[batch].sum() for batch in chosen))
    step(collate([examples[i] for i in chosen[0]]))  # the first step allocates
    real = loading = 0.0
    for numbers in chosen:
        began = cpu()
        batch = collate([examples[i] for i in numbers])
        loaded = cpu()
        step(batch)
        loading += loaded - began
        real += cpu() - began
    bare = plies / bare_model(step, chosen, examples, bands)
    size = f"d {CONFIG.d_model}, {CONFIG.layers} layers"
    return [
        # Within 20 % of the bare model.
        Measurement(f"training, {size}", plies / real, "plies/s", "the bare model", bare, wanted=1 / 1.2),
        Measurement("loading, share of a step", 100 * loading / real, "%", target=5, less=True),
        *boosting(dataset, boosted, sum(map(len, chosen)) / real),
    ]


def boosting(dataset: Dataset, boosted: int, training: float) -> list[Measurement]:
    """Gradient-boosted trees against a training of so many games a second, and against the shipped model's guesses."""
    config = Config(model="boosting", games=boosted, max_plies=CONFIG.max_plies)
    rows = training_rows(dataset, config)
    found: list[Trained] = []
    growing = len(rows) / best(lambda: found.append(train_boosting(dataset, config, ("board",))), repeat=1)
    transformer = shipped("lichess")
    trees = replace(transformer, config=config, weights=found[0].weights, prior=found[0].prior, inputs=("board",))
    games = [dataset.game(row, CONFIG.max_plies) for row in rows[: boosted // 5].tolist()]
    plies = sum(map(len, games))

    def guess(run: Run) -> float:
        with one_thread():
            return plies / best(lambda: [posteriors(run, game) for game in games], repeat=2)

    return [
        Measurement("training, one pass", training, "games/s", "gradient boosting, all of it", growing),
        Measurement("guess, shipped model", guess(transformer), "plies/s", "gradient boosting", guess(trees)),
        *(
            Measurement(f"guess, {name} model", guess(shipped(name)) * len(games) / plies, "games/s", target=100)
            for name in SHIPPED
        ),
    ]


def bare_model(step: Callable[[Batch], None], chosen: list[list[int]], examples: Examples, bands: int) -> float:
    """Seconds of the same steps on random tensors of the same shapes, made beforehand."""
    random = torch.Generator().manual_seed(1)
    total = 0.0
    for numbers in chosen:
        longest, games = int(examples.lengths[numbers].max()), len(numbers)
        batch = Batch(
            planes=(torch.rand(games, longest, 64, 64, generator=random) < 0.15).to(torch.uint8),
            scalars=torch.randn(games, longest, 42, generator=random),
            white=torch.rand(games, longest, generator=random) < 0.5,
            mask=torch.arange(longest)[None] < torch.from_numpy(examples.lengths[numbers])[:, None],
            bands=torch.randint(bands, (games, longest, 2), generator=random),
            ratings=torch.zeros(games, longest, 2),
            outcome=torch.randint(3, (games, longest), generator=random),
            pools=torch.zeros(games, dtype=torch.int64),
        )
        total += best(lambda made=batch: step(made), repeat=1)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(measure(given.file, Path(folder), given.games), f"{given.file.name}, one core", given.json)


if __name__ == "__main__":
    main()
