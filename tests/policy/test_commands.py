"""From games to a policy by the commands: gather, label, train, resume, export; and what is refused."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest
from click.testing import CliRunner
from tests.policy.made_up import NAMES, games, write_leela

from assay.arrays import load_arrays, save_arrays
from assay.cli.main import assay
from assay.errors import AssayError, InputError, LearnedError, OutputError
from assay.games import read, to_arrays
from assay.games.packed import decode_move, pack
from assay.policy.chances import keys_of, log_chances, open_network
from assay.policy.movemodel import load_policy
from assay.policy.positions import open_positions

pytest.importorskip("torch")
SMALL = ["--width", "16", "--bag", "16", "--hidden", "8", "--batch", "32", "--every", "4"]


def run(*words: str | Path) -> str:
    done = CliRunner().invoke(assay, ["policy", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Positions with a few labels."""
    here = tmp_path_factory.mktemp("policy")
    (here / "games.pgn").write_text(games(120), encoding="utf-8")
    run("gather", here / "games.pgn", "-o", here / "made")
    run("label", here / "made", "--teacher", write_leela(here / "made-1500.pb.gz"), "--count", "300")
    return here


def test_positions_are_those_of_the_games(folder: Path) -> None:
    rows = np.concatenate(open_positions(folder / "made"))
    arrays = to_arrays(list(read(folder / "games.pgn")))
    later = np.flatnonzero(np.arange(arrays.plies) - arrays.offsets[:-1][arrays.game] >= 8)
    assert (rows["key"] == pack(arrays, later)).all()
    assert (rows["last_end"] == arrays.to_square[later - 1]).all()
    assert set(rows["pool"]) == {1}
    assert rows["elo"].min() >= 1000


def test_games_of_players_held_out_are_marked_whole(folder: Path) -> None:
    rows = np.concatenate(open_positions(folder / "made"))
    assert 0 < rows["held_out"].mean() < 0.5
    alone = {}
    for name in NAMES:
        path = folder / "one.pgn"
        path.write_text(games(1, names=(name, name)), encoding="utf-8")
        out = folder / f"of {name}"
        run("gather", path, "-o", out)
        alone[name] = bool(np.concatenate(open_positions(out))["held_out"].all())
    for game, begin in zip(read(folder / "games.pgn"), _begins(folder), strict=True):
        wanted = alone[game.tags["White"]] or alone[game.tags["Black"]]
        assert bool(rows["held_out"][begin]) == wanted


def _begins(folder: Path) -> list[int]:
    arrays = to_arrays(list(read(folder / "games.pgn")))
    counts = np.maximum(np.diff(arrays.offsets) - 8, 0)
    return [int(begin) for begin in np.cumsum(counts) - counts]


def test_games_of_other_files_are_left_out(folder: Path) -> None:
    text = (folder / "games.pgn").read_text(encoding="utf-8")
    first, second = text.split("\n\n[Event")[:2]
    barred = folder / "barred.pgn"
    # One game under other names, and one that breaks off after some moves.
    renamed = first.replace("Player", "Somebody")
    shortened = "[Event" + second[: second.index(" 14. ")] + " *"
    barred.write_text(f"{renamed}\n\n{shortened}\n", encoding="utf-8")
    said = run("gather", folder / "games.pgn", "-o", folder / "fewer", "--without", barred)
    assert "games left out: barred" in said
    left, right = (np.concatenate(open_positions(folder / name)) for name in ("made", "fewer"))
    two = to_arrays(list(read(folder / "games.pgn"))[:2]).plies - 16
    assert len(left) - len(right) == two


def test_no_games_are_no_positions(tmp_path: Path) -> None:
    (tmp_path / "empty.pgn").touch()
    done = CliRunner().invoke(assay, ["policy", "gather", str(tmp_path / "empty.pgn"), "-o", str(tmp_path / "made")])
    assert isinstance(done.exception, InputError) and "there is no game" in str(done.exception)
    assert not (tmp_path / "made").exists()


def test_an_interrupted_training_ends_where_a_whole_one_does(folder: Path) -> None:
    run("train", folder / "made", "-o", folder / "whole", "--steps", "12", *SMALL)
    # Stopped after eight steps; the rate must fall at the same place, so the steps are those of the whole.
    from assay.policy import training

    class Stop(Exception):  # noqa: N818
        pass

    saved = training._write_curve

    def stop(path: Path, curve: list[dict[str, object]]) -> None:
        saved(path, curve)
        if curve[-1]["step"] == 8:
            raise Stop

    training._write_curve = stop
    try:
        with pytest.raises(Stop):
            run("train", folder / "made", "-o", folder / "halves", "--steps", "12", *SMALL)
    finally:
        training._write_curve = saved
    said = run("train", folder / "made", "-o", folder / "halves", "--resume", "--every", "4")
    assert load_policy(folder / "whole" / "policy.npz").identity in said
    one, other = (load_policy(folder / name / "policy.npz") for name in ("whole", "halves"))
    assert one.identity == other.identity
    lines = (folder / "halves" / "curve.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ["step", "4", "8", "12"]


def test_training_learns_what_was_played(folder: Path) -> None:
    """In these games White always begins with the same first moves; after some steps they are likelier."""
    text = "\n".join(
        f'[White "{white}"]\n[Black "{black}"]\n[WhiteElo "1500"]\n[BlackElo "1500"]\n[Result "*"]\n\n'
        f"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O {reply} *\n"
        for white, black, reply in zip(NAMES[:-1], NAMES[1:], ["Be7", "Nxe4", "b5"] * len(NAMES), strict=False)
    )
    (folder / "spanish.pgn").write_text(text, encoding="utf-8")
    run("gather", folder / "spanish.pgn", "-o", folder / "spanish", "--first-ply", "0")
    how = ["--steps", "80", "--lr", "0.03", "--average", "5", *SMALL]
    run("train", folder / "spanish", "-o", folder / "learned", *how)
    run("export", folder / "learned", "-o", folder / "learned.npz")
    found = log_chances(open_network(folder / "learned.npz"), [chess.STARTING_FEN], 1500, "board")
    assert decode_move(int(found.moves[found.likeliest()[0]])) == "e2e4"
    assert np.exp(found.logs).sum() == pytest.approx(1, abs=1e-5)


def test_a_policy_can_be_taken_up_with_new_steps(folder: Path) -> None:
    run("train", folder / "made", "-o", folder / "begun", "--steps", "4", *SMALL)
    start = folder / "begun" / "policy.npz"
    run("train", folder / "made", "-o", folder / "on", "--steps", "1", "--lr", "1e-9", "--start", start, *SMALL)
    one, other = load_policy(start), load_policy(folder / "on" / "policy.npz")
    assert all(np.allclose(one.weights[name], other.weights[name], atol=2e-3) for name in one.weights)
    with pytest.raises(LearnedError, match="larger than what is asked for"):
        run("train", folder / "made", "-o", folder / "off", "--start", start, *SMALL, "--width", "8")


def test_a_policy_grows_without_changing_its_mind(folder: Path) -> None:
    run("train", folder / "made", "-o", folder / "small", "--steps", "4", *SMALL)
    start = folder / "small" / "policy.npz"
    wider = ["--width", "24", "--bag", "20", "--hidden", "12", "--steps", "1", "--lr", "1e-9", "--start", start]
    run("train", folder / "made", "-o", folder / "large", *SMALL, *wider)
    one, other = (open_network(folder / name / "policy.npz") for name in ("small", "large"))
    fens = [chess.STARTING_FEN, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 7 1"]
    for elo in (1200, 2000):
        assert np.allclose(log_chances(one, fens, elo).logs, log_chances(other, fens, elo).logs, atol=5e-3)


def test_a_policy_of_fewer_features_can_be_taken_up(folder: Path) -> None:
    run("train", folder / "made", "-o", folder / "older", "--steps", "4", *SMALL)
    start = folder / "older" / "policy.npz"
    weights, meta = load_arrays(start)
    gone = meta["inputs"].index("check")
    weights["move.weight"][:, gone] = 0
    save_arrays(folder / "same.npz", weights, meta)
    weights["move.weight"] = np.delete(weights["move.weight"], gone, axis=1)
    meta["inputs"].remove("check")
    save_arrays(folder / "fewer.npz", weights, meta)
    with pytest.raises(InputError, match="other features"):
        open_network(folder / "fewer.npz")
    fresh = ["--steps", "1", "--lr", "1e-9", *SMALL, "--start"]
    run("train", folder / "made", "-o", folder / "taken up", *fresh, folder / "fewer.npz")
    one, other = open_network(folder / "same.npz"), open_network(folder / "taken up" / "policy.npz")
    one, other = (log_chances(network, [chess.STARTING_FEN]).logs for network in (one, other))
    assert np.allclose(one, other, atol=5e-3)
    meta["inputs"][0] = "of another time"
    save_arrays(folder / "odd.npz", weights, meta)
    with pytest.raises(LearnedError, match="of another time"):
        run("train", folder / "made", "-o", folder / "no", *fresh, folder / "odd.npz")


def test_what_is_refused(folder: Path) -> None:
    with pytest.raises(OutputError, match="exists already"):
        run("gather", folder / "games.pgn", "-o", folder / "made")
    with pytest.raises(LearnedError, match="no training to resume"):
        run("train", folder / "made", "-o", folder / "nowhere", "--resume")
    run("train", folder / "made", "-o", folder / "there", "--steps", "1", *SMALL)
    with pytest.raises(LearnedError, match="holds a training already"):
        run("train", folder / "made", "-o", folder / "there", "--steps", "1", *SMALL)
    with pytest.raises(LearnedError, match="does not fit"):
        run("train", folder / "made", "-o", folder / "there", "--resume", "--width", "24", "--steps", "2")
    with pytest.raises(InputError, match="no level"):
        run("label", folder / "made", "--teacher", write_leela(folder / "made.pb.gz"), "--count", "10")
    with pytest.raises(InputError, match="holds no positions"):
        run("gather", folder / "games.pgn", "-o", folder / "empty", "--elo", "2900:2950")
        run("train", folder / "empty", "-o", folder / "none")


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("hello", "no position in FEN"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no king"),
        ("4k3/8/8/8/8/8/8/4K2P w - - 0 1", "a pawn stands"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "in check"),
    ],
)
def test_what_is_no_position_is_told(fen: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        keys_of([fen])


def test_levels_off_the_scale_are_told(folder: Path) -> None:
    run("train", folder / "made", "-o", folder / "scale", "--steps", "1", *SMALL)
    network = open_network(folder / "scale" / "policy.npz")
    for elo, pool, words in (
        (100, "board", "off the scale"),
        (4000, "lichess", "off the scale"),
        (1500, "x", "no pool"),
    ):
        with pytest.raises(AssayError, match=words):
            log_chances(network, [chess.STARTING_FEN], elo, pool)
