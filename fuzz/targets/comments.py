"""Evaluations and clocks in comments: whatever stands there, the moves stay and every number can be used."""

from __future__ import annotations

import zlib

import numpy as np

from assay.errors import AssayError
from assay.games.parse import to_arrays
from assay.games.split import Game
from assay.moves.evals import eval_turns

HEAD = b'[Event "E"]\n[Date "2022.01.01"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n[TimeControl "300+3"]\n\n'
MOVES = (b"1. e4", b" e5", b" 2. Nf3", b" Nc6", b" 3. Bb5", b" a6", b" 4. Ba4", b" Nf6")
# A case is a comment for each move, one a line.
SEEDS = (
    b"[%eval 0.3] [%clk 0:05:00]\n[%clk 0:04:59.5] [%eval -0.12]\n[%eval #3]\n[%eval #-2]\n[%emt 0:00:01]",
    b"[%evp 0,34,19]\n+0.25/12 3s\n-0.5/20 1.2s\n{+M5/30}\nbook\n(+0.31 --> 2.Nf3) 0.31/22 5",
    b"[%eval 17,20]\n[%clk 1:59:59]\n[%clk -0:00:01]\n[%eval 1e400]\n[%eval nan] [%clk 99999:99:99]",
    "[%eval\u00a00.3]\n[%csl Ga1][%cal Ra1a2]\n0.00/0\n#\n[%eval #0][%eval 0]\n[%clk 0:0:0]".encode(),
)
WORDS = (
    "[%eval ",
    "[%clk ",
    "[%emt ",
    "[%evp ",
    "]",
    "#-",
    "#",
    "+M",
    "/12 ",
    ":",
    ".",
    "-",
    "nan",
    "inf",
    "9" * 25,
    "1e400",
    "s",
)


def check(data: bytes) -> None:
    lines = data.replace(b"{", b"(").replace(b"}", b")").split(b"\n")[: len(MOVES)]
    parts = [MOVES[at] + b" {" + lines[at] + b"}" if at < len(lines) else MOVES[at] for at in range(len(MOVES))]
    text = HEAD + b"".join(parts) + b" 1-0"
    game = Game("-", 0, len(text), text)
    arrays = to_arrays([game], threads=1)
    assert arrays.valid[0] and arrays.plies == len(MOVES), "a comment took the moves away"
    clock = arrays.clock[~np.isnan(arrays.clock)]
    assert np.isfinite(clock).all() and (clock >= 0).all(), "a clock that no clock shows"
    assert not np.isinf(arrays.eval).any(), "an evaluation without end"
    assert (np.isnan(arrays.eval) | (arrays.mate == 0)).all(), "a mate with a value"
    if zlib.crc32(data) % 10:
        return
    try:
        turns = eval_turns([game])
    except AssayError:
        return
    assert np.isfinite(turns.loss).all() and np.isfinite(turns.centipawns).all()
