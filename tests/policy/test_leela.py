"""Networks in Leela's format: numpy makes of them what torch makes of them, and damage is told in a sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import chess
import numpy as np
import pytest
from tests.policy.made_up import leela, part, write_leela

from assay.errors import InputError
from assay.games.legal import legal_moves, seen_by_mover
from assay.games.packed import decode_move, unpack
from assay.policy.chances import keys_of, log_chances, open_network
from assay.policy.leela import logits, move_numbers, parse_leela, planes, read_leela

FENS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 7 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
)


def test_the_same_in_torch() -> None:
    torch = pytest.importorskip("torch")
    from torch.nn import functional

    network = parse_leela(leela(blocks=2), "small")
    keys = keys_of(FENS)
    inputs = planes(seen_by_mover(*unpack(keys)), keys[:, 34])

    def convolve(flow: object, one: object) -> object:
        weights = one.weights.reshape(3, 3, -1, len(one.bias)).transpose(3, 2, 0, 1)  # type: ignore[attr-defined]
        return functional.conv2d(flow, torch.from_numpy(weights.copy()), torch.from_numpy(one.bias), padding=1)  # type: ignore[attr-defined, arg-type]

    flow = torch.relu(convolve(torch.from_numpy(inputs).permute(0, 3, 1, 2), network.entry))
    for block in network.blocks:
        inner = convolve(torch.relu(convolve(flow, block.first)), block.second)
        pooled = inner.mean((2, 3)).numpy()
        said = np.maximum(pooled @ block.squeeze[0] + block.squeeze[1], 0) @ block.excite[0] + block.excite[1]
        gate, shift = (torch.from_numpy(half) for half in np.split(said, 2, axis=1))
        flow = torch.relu(torch.sigmoid(gate)[:, :, None, None] * inner + shift[:, :, None, None] + flow)
    out = convolve(torch.relu(convolve(flow, network.head)), network.moves)
    assert np.allclose(out.numpy().reshape(len(keys), -1), logits(network, inputs), atol=1e-4)


def test_planes_tell_the_position() -> None:
    keys = keys_of(FENS)
    found = planes(seen_by_mover(*unpack(keys)), keys[:, 34])
    assert found[0, 0, 4, 5] == 1  # the own king on e1
    assert found[0, 7, 3, 10] == 1  # their queen on d8
    assert found[1, 0, 4, 5] == 1  # Black to move: turned, his king on e1
    assert (found[:, :, :, 108] == np.array([0, 1, 0])[:, None, None]).all()
    assert (found[:, :, :, 109] == np.array([0, 7, 1])[:, None, None]).all()  # a raw count
    assert (found[:, :, :, 104:108] == np.array([[1] * 4, [1] * 4, [1, 1, 0, 0]])[:, None, None]).all()
    assert (found[:, :, :, 111] == 1).all()
    assert (found[:, :, :, 13:25] == found[:, :, :, :12]).all()


@pytest.mark.parametrize(
    ("fen", "move", "plane"),
    [
        ("4k3/8/8/8/8/8/4P3/4K2R w K - 0 1", "e1g1", 2 * 7 + 2),  # the king takes his rook: three to the east
        ("r3k3/8/8/8/8/8/8/4K3 b q - 0 1", "e8c8", 6 * 7 + 3),  # four to the west, turned for Black
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4", 0 * 7 + 1),
        ("4k3/8/8/8/8/8/8/1N2K3 w - - 0 1", "b1c3", 56),
        ("4k3/8/8/8/8/8/8/1N2K3 w - - 0 1", "b1a3", 63),
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8n", 0),  # a knight is the plain move
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8r", 64 + 3),
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8b", 64 + 4),
        ("7k/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8q", 64 + 5),
        ("3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8q", 64 + 2),
    ],
)
def test_where_the_head_tells_of_a_move(fen: str, move: str, plane: int) -> None:
    positions = seen_by_mover(*unpack(keys_of([fen])))
    moves = legal_moves(positions)
    numbers = dict(
        zip(map(decode_move, moves.codes(positions.turned).tolist()), move_numbers(positions, moves), strict=True)
    )
    board = chess.Board(fen)
    start = chess.Move.from_uci(move).from_square ^ (0 if board.turn else 56)
    assert numbers[move] == plane * 64 + start


def test_chances_from_a_file(tmp_path: Path) -> None:
    network = open_network(write_leela(tmp_path / "made-1500.pb.gz"))
    found = log_chances(network, FENS)
    for number, fen in enumerate(FENS):
        mine = slice(found.offsets[number], found.offsets[number + 1])
        assert sorted(map(decode_move, found.moves[mine].tolist())) == sorted(
            m.uci() for m in chess.Board(fen).legal_moves
        )
        assert np.exp(found.logs[mine]).sum() == pytest.approx(1, abs=1e-5)


def test_the_level_is_in_the_name(tmp_path: Path) -> None:
    assert read_leela(write_leela(tmp_path / "made-1500.pb.gz")).level == 1500
    assert read_leela(write_leela(tmp_path / "made.pb.gz")).level is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no network of Leela"),
        (b"hello", "damaged|no network"),
        (part(10, b""), "no network of Leela"),
        (leela()[:3000], "ends too early"),
        (gzip.compress(leela())[:3000], "ends too early"),
        (gzip.compress(leela())[:-9] + b"\0" * 9, "damaged"),
        (b"\x1f\x8bnothing", "damaged"),
        (leela(planes=100), "another shape|belong"),
        (leela(blocks=0), "another shape"),
        (leela(bound=float("nan")), "none"),
        (leela(bound=float("inf")), "none"),
        (leela()[:5], "lacks the weights"),
    ],
)
def test_damage_is_told_in_a_sentence(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "made-1500.pb.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words):
        open_network(path)


def test_weights_beyond_reason_are_told(tmp_path: Path) -> None:
    path = tmp_path / "made-1500.pb.gz"
    path.write_bytes(leela(bound=1e30))
    with pytest.raises(InputError, match=r"none|no numbers"):
        log_chances(open_network(path), FENS)


def test_a_bomb_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb-1500.pb.gz"
    path.write_bytes(gzip.compress(b"\0" * (80 << 20)))
    with pytest.raises(InputError, match="too large"):
        open_network(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        open_network(tmp_path / "none.pb.gz")
