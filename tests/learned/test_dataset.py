"""Datasets: what goes in, what is left out and why, and that a damaged one is refused with a sentence."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from assay import manifest
from assay.errors import LearnedError, OutputError
from assay.games import to_arrays
from assay.learned import Selection, build_dataset, encode_games, open_dataset
from assay.learned.dataset import GAMES, MANIFEST, Dataset, shard_name
from assay.players import splits_of_game
from assay.pools import Bands

WIDE = Bands(600, 3100, 100)
MOVES = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5"


def game(white: str = "?", black: str = "?", elos: tuple[str, str] = ("1500", "1600"), **more: str) -> str:
    tags = {"White": white, "Black": black, "WhiteElo": elos[0], "BlackElo": elos[1]} | more
    movetext = tags.pop("moves", MOVES)
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{movetext} *\n\n"


def encode(folder: Path, *games: str, **selection: object) -> tuple[Dataset, dict[str, int]]:
    file = folder / "games.pgn"
    file.write_text("".join(games), encoding="utf-8")
    built = build_dataset([file], folder / "out", Selection(**selection))  # type: ignore[arg-type]
    return open_dataset(folder / "out"), built.left_out


def test_a_game_comes_back_as_it_was_encoded(tmp_path: Path) -> None:
    dataset, left_out = encode(
        tmp_path, game(), game(moves="1. d4 " + MOVES[6:].replace("e5", "d5", 1), elos=("700", ""))
    )
    assert (len(dataset), left_out) == (1, {"without both ratings": 1})
    assert np.array_equal(dataset.game(0).planes, encode_games(to_arrays([MOVES])).planes)
    assert dataset.ratings.tolist() == [[1500.0, 1600.0]]
    assert dataset.bands.tolist() == [[9, 10]]


def test_plies_are_mapped_not_read(dataset: Dataset) -> None:
    fresh = open_dataset(dataset.path)
    assert len(fresh) > 50  # the table of games is there
    before = pa.total_allocated_bytes()
    planes = fresh.game(3).planes
    assert pa.total_allocated_bytes() - before < planes.nbytes
    assert not planes.flags.owndata
    assert not planes.flags.writeable


def test_games_are_left_out_for_a_reason(tmp_path: Path) -> None:
    _, left_out = encode(
        tmp_path,
        game(),
        game(elos=("", "1500")),
        game(elos=("1500", "0")),
        game(elos=("3200", "1500")),
        game(elos=("1500", "12")),
        game(moves=""),
        game(moves="1. e4 e5"),
        game(moves="1. e4 Ke4"),
        game(Variant="Atomic"),
    )
    assert left_out == {
        "without both ratings": 2,
        "a rating outside the bands": 2,
        "fewer than 10 plies": 2,
        "illegal move": 1,
        "variant: Atomic": 1,
    }


def test_long_games_are_cut(tmp_path: Path) -> None:
    back_and_forth = " ".join(f"{4 * i + 1}. Nf3 Nf6 {4 * i + 2}. Ng1 Ng8" for i in range(150))
    dataset, _ = encode(tmp_path, game(moves=back_and_forth), max_plies=200)
    assert dataset.plies.tolist() == [200]
    assert dataset.column("length").tolist() == [600]


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(LearnedError, match=r"no game is left to encode \(without both ratings: 1\)"):
        encode(tmp_path, game(elos=("", "")))
    assert not (tmp_path / "out").exists()


def test_nobody_who_is_judged_was_learned_from(tmp_path: Path) -> None:
    names = [f"Player {n}" for n in range(30)]
    games = [game(white, black, Round=f"{white} {black}") for white in names for black in names if white != black]
    dataset, left_out = encode(tmp_path, *games)
    assert len(dataset) == len(games), "no game is lost"
    assert not left_out
    ids = np.stack([dataset.column(side) for side in ("white_id", "black_id")], axis=1)
    learned = set(ids[dataset.rows("train")].reshape(-1).tolist())
    for name in ("validation", "test"):
        rows = dataset.rows(name)
        assert len(rows)
        assert dataset.held[rows].any(axis=1).all()
        assert not learned & set(ids[rows][dataset.held[rows]].tolist())
    assert dataset.held[dataset.rows("train")].all()


def test_a_balanced_file_stays_balanced(tmp_path: Path) -> None:
    """As many games of each band in, as many out: names do not throw any away."""
    elos = [1100 + 250 * (n % 4) for n in range(80)]
    games = [game(f"A{n}", f"B{n}", WhiteElo=str(elo), BlackElo=str(elo)) for n, elo in enumerate(elos)]
    dataset, _ = encode(tmp_path, *games)
    assert np.unique(dataset.bands[:, 0], return_counts=True)[1].tolist() == [20, 20, 20, 20]
    assert len(dataset.rows("validation")) > 3


def test_copies_of_a_game_without_names_stay_together() -> None:
    assert splits_of_game(None, "?", b"e2e4") == splits_of_game("", "N.N.", b"e2e4")
    # A name is the same however its comma is written.
    assert splits_of_game("Adams,Mi", "Adams,Mi", b"") == splits_of_game("Adams, Mi", "adams, mi", b"")


def test_sets_have_their_shares(dataset: Dataset) -> None:
    shares = [len(dataset.rows(name)) / len(dataset) for name in ("train", "validation", "test")]
    assert sum(shares) == pytest.approx(1)
    assert shares[0] > 0.6


def test_a_share_is_drawn_by_its_seed(pgn: Path, make_dataset: Callable[..., Dataset]) -> None:
    one, same, other = (make_dataset(pgn, share=0.5, seed=seed) for seed in (1, 1, 2))
    assert one.identity == same.identity != other.identity
    assert 25 < len(one) < 65


def test_clocks_are_fractions_of_the_base(tmp_path: Path) -> None:
    timed = MOVES.replace("1. e4 e5", "1. e4 {[%clk 0:05:00]} e5 {[%clk 0:04:30]}")
    dataset, _ = encode(tmp_path, game(moves=timed, TimeControl="300+0"), game())
    clock = dataset.game(0).clock
    assert clock[:2].tolist() == [[1.0, 0.0], [pytest.approx(0.9), pytest.approx(0.1)]]
    assert np.isnan(clock[2:]).all()
    assert np.isnan(dataset.game(1).clock).all()


def test_an_existing_folder_is_not_touched(tmp_path: Path, pgn: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        build_dataset([pgn], tmp_path / "out", Selection())


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, pgn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("assay.learned.build.write_plies", full)
    with pytest.raises(OutputError, match="No space left on device"):
        build_dataset([pgn], tmp_path / "out", Selection())
    assert list(tmp_path.iterdir()) == []


def test_another_version_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    about = dataset.manifest | {"settings": dataset.manifest["settings"] | {"version": 99}}
    manifest.write(tmp_path / MANIFEST, about)
    with pytest.raises(LearnedError, match=r"version 99, this Assay reads version 2; encode it again"):
        open_dataset(tmp_path)


def test_damage_is_told(dataset: Dataset, tmp_path: Path) -> None:
    for name in (MANIFEST, GAMES, shard_name(0)):
        (tmp_path / name).write_bytes((dataset.path / name).read_bytes())
    shard = tmp_path / shard_name(0)
    shard.write_bytes(shard.read_bytes()[:1000])
    with pytest.raises(LearnedError, match="damaged"):
        open_dataset(tmp_path).game(0)
    (tmp_path / shard_name(0)).unlink()
    with pytest.raises(Exception, match="cannot read"):
        open_dataset(tmp_path).game(0)


@pytest.mark.parametrize("wrong", [{"min_plies": 0}, {"min_plies": 20, "max_plies": 10}, {"share": 0.0}])
def test_impossible_selections_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(LearnedError):
        Selection(**wrong)  # type: ignore[arg-type]


def test_engine_scalars_are_kept(tmp_path: Path) -> None:
    def analyst(games: list[object], arrays: object) -> np.ndarray:
        plies = arrays.plies  # type: ignore[attr-defined]
        return np.arange(4 * plies, dtype=np.float32).reshape(plies, 4)

    file = tmp_path / "one.pgn"
    file.write_text(game())
    built = build_dataset([file], tmp_path / "out", Selection(bands=WIDE), analyst=analyst)
    assert built.analysed == 1
    assert open_dataset(tmp_path / "out").game(0).engine[1].tolist() == [4.0, 5.0, 6.0, 7.0]
