"""Do the two encoders of planes agree on every ply of real games?

python studies/learned_planes.py GAMES.pgn[.zst] [--games 1000]
"""

from __future__ import annotations

import argparse
import io
from itertools import islice
from pathlib import Path

import chess.pgn
import numpy as np

from assay.games import read, to_arrays
from assay.learned import encode_games, encode_ply_planes, unpack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=1000)
    given = parser.parse_args()
    games = list(islice(read(given.file), given.games))
    arrays = to_arrays(games)
    encoded = encode_games(arrays)
    plies = wrong = 0
    for number in np.flatnonzero(arrays.valid).tolist():
        played = chess.pgn.read_game(io.StringIO(games[number].text))
        assert played is not None
        board, previous = played.board(), None
        for row, move in enumerate(played.mainline_moves(), start=arrays.offsets[number]):
            wrong += not np.array_equal(encode_ply_planes(board, move, previous), unpack(encoded.planes[row]))
            board.push(move)
            plies, previous = plies + 1, move
    print(f"{int(arrays.valid.sum())} games, {plies} plies, {wrong} differ")


if __name__ == "__main__":
    main()
