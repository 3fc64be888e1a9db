"""What an engine says: a whole answer or an EngineError, and what was read comes back from an export unchanged."""

from __future__ import annotations

import atexit

from fuzz.made import FOLDER

from assay.engine.exchange import _entry, _head, _valued_row
from assay.engine.identity import Identity, Search
from assay.engine.store import Store
from assay.engine.uci import legal_moves, read_hello, read_look, read_search
from assay.errors import EngineError
from assay.games.packed import from_fen

KEY = from_fen("4k3/P7/8/8/8/8/8/R3K2R w KQ - 0 1")
LEGAL = legal_moves(KEY)
JOBS = (Search("any", depth=2, lines=50), Search("any", depth=3, lines=2), Search("any", depth=245, lines=3, nodes=100))
HELLO = b"""id name Fish 1.0
option name Hash type spin default 16 min 1 max 33554432
option name MultiPV type spin default 1 min 1 max 500
option name EvalFile type string default nn-1.nnue
option name Clear Hash type button
option name Style type combo default Normal var Solid var Normal
uciok
"""


def _answer(depth: int, lines: int) -> bytes:
    """An honest answer of this depth."""
    moves = sorted(LEGAL)[:lines]
    return b"".join(
        f"info depth {at} multipv {rank} score cp {7 * rank - at} nodes {99 * at} pv {move} e8e7\n".encode()
        for at in range(1, depth + 1)
        for rank, move in enumerate(moves, 1)
    )


SEEDS = (
    *(bytes([number]) + _answer(depth, lines) for number, (depth, lines) in enumerate(((2, 50), (3, 2), (2, 3)))),
    b"\x03" + HELLO,
    b"\x04info depth 8 score mate -3 upperbound pv a7a8q\ninfo depth 9 score cp -12 wdl 1 2 3 pv e1g1\n",
    b"\x01info string depth 3 pv\ninfo score mate 0 depth 2 pv a7a8n\ninfo depth 2 score cp 1 lowerbound pv e1g1\n",
)
WORDS = (
    *(
        "info ",
        "depth ",
        "multipv ",
        "score ",
        "cp ",
        "mate ",
        "-",
        " lowerbound",
        " upperbound",
        " nodes ",
        " pv ",
        "\n",
    ),
    *("option name ", " type spin", " default ", " min ", " max ", " var ", "id name ", "99999999999999999999"),
    *sorted(LEGAL)[:8],
)


def check(data: bytes) -> None:
    which, output = data[0] % 5 if data else 0, data[1:]
    try:
        if which == 3:
            name, options = read_hello(output)
            assert name == name.strip() and all(most is None or most >= 0 for _, most in options.values())
        elif which == 4:
            assert -32_768 < read_look(output) < 32_767
        else:
            _check_search(output, JOBS[which])
    except EngineError:
        pass


def _check_search(output: bytes, search: Search) -> None:
    valued = read_search(output, KEY, LEGAL, search, 0.5)
    table, moves = valued.table(), valued.move_codes().tolist()
    assert (
        table.shape == (valued.reached, len(moves)) and 0 < len(moves) <= search.lines and len(set(moves)) == len(moves)
    )
    assert (table[-1] != -32_768).all(), "a move without a value at the last depth"
    assert valued.reached >= 1 and valued.depth == search.depth
    identity = Identity("Fish", "", (), search.nodes, search.lines)
    row = _valued_row(valued, _head(identity), identity)
    assert _entry(row).result == valued, "it does not come back from an export"
    _STORE.add(_NUMBER, [valued])


_STORE = Store(FOLDER / "uci.db", create=True)
atexit.register(_STORE.close)
_NUMBER = _STORE.number_of(Identity("Fish", "", (), 0, 50))
