"""Speed of the learned rating's data path, side by side with python-chess and with the bare model.

    python benchmarks/learned.py GAMES.pgn[.zst] [--games 2000]

CPU seconds of one core. The python-chess encoder and the training are measured on a part of the games.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import chess.pgn
import numpy as np
import torch

from assay.bands import STANDARD
from assay.games import Game, read_games, to_arrays
from assay.learned import Config, Selection, build_dataset, encode_games, encode_ply_planes, open_dataset
from assay.learned.loader import Batch, Examples, collate, make_batches
from assay.learned.model import Net
from assay.learned.train import loss_of, make_optimiser, scalar_scale
from assay.report.tables import render

SLOW_GAMES = 40
STEPS = 12


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """CPU seconds of the fastest of a few runs."""
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


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


def encoding(games: list[Game]) -> list[dict[str, object]]:
    arrays = to_arrays(games, threads=1)
    whole = seconds(lambda: encode_games(to_arrays(games, threads=1)))
    alone = seconds(lambda: encode_games(arrays))
    few = games[:SLOW_GAMES]
    plies = slowly(few)
    slow = plies / seconds(lambda: slowly(few), times=1)
    fast = arrays.plies / whole
    return [
        {"what": "PGN to packed planes", "plies/s": round(fast), "note": f"{fast / slow:.0f} times python-chess"},
        {"what": "arrays to packed planes", "plies/s": round(arrays.plies / alone), "note": ""},
        {"what": "python-chess, plane by plane", "plies/s": round(slow), "note": ""},
    ]


def training(file: Path, config: Config) -> list[dict[str, object]]:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        built = build_dataset([file], Path(folder) / "data", Selection(STANDARD))
        writing = built.plies / (time.process_time() - began)
        dataset = open_dataset(Path(folder) / "data")
        examples = Examples(dataset, dataset.rows("train"), config.max_plies, ("board",))
        net = Net(config, len(dataset.edges) - 1, *scalar_scale(examples))
        optimiser = make_optimiser(net, config)
        offset = torch.zeros(len(dataset.edges) - 1)

        def step(batch: Batch) -> None:
            loss, _ = loss_of(net, batch, offset, config)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

        chosen = make_batches(examples.lengths, config.batch_size, (1,))[:STEPS]
        plies = int(sum(examples.lengths[batch].sum() for batch in chosen))
        step(collate([examples[i] for i in chosen[0]]))  # the first step allocates
        began = time.process_time()
        loading = 0.0
        for numbers in chosen:
            start = time.process_time()
            batch = collate([examples[i] for i in numbers])
            loading += time.process_time() - start
            step(batch)
        real = time.process_time() - began
        bare = bare_model(step, chosen, examples, len(dataset.edges) - 1)
    games = sum(map(len, chosen))
    return [
        {"what": "PGN to a dataset on disk", "plies/s": round(writing), "note": ""},
        {"what": "training", "plies/s": round(plies / real), "note": f"{games / real:.0f} games/s"},
        {
            "what": "bare model, random tensors",
            "plies/s": round(plies / bare),
            "note": f"{real / bare:.2f} times its time",
        },
        {"what": "loading", "plies/s": round(plies / loading), "note": f"{100 * loading / real:.1f} % of a step"},
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
        )
        began = time.process_time()
        step(batch)
        total += time.process_time() - began
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=2000)
    given = parser.parse_args()
    games = list(islice(read_games(given.file), given.games))
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "games.pgn"
        part.write_bytes(b"\n\n".join(game.data for game in games))
        config = Config(d_model=64, layers=2, square_width=32, max_plies=128)
        rows = encoding(games) + training(part, config)
    print(render(rows))
    print(f"{np.__name__} {np.__version__}, torch {torch.__version__}, {len(games)} games")


if __name__ == "__main__":
    main()
