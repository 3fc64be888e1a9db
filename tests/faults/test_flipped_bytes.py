"""One bit of a file turns over, anywhere: what is read is the same, or a sentence says that the file is damaged.

Plain text that people may edit (CSV, JSON lines) has no checksum: there a sentence comes only where it makes no sense.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import random
import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from tests.engine.fake_engine import command
from tests.faults.processes import DATA, EVENT

import assay
from assay.cli.main import main
from assay.engine.exchange import Imported, read, rows_of
from assay.engine.store import Store, writing
from assay.errors import AssayError, AssayWarning
from assay.games.catalog import collect, open_index
from assay.learned.dataset import open_dataset
from assay.learned.run import open_run
from assay.moves.calibration import load, save, unpack_values

FLIPS = 40


def read_store(path: Path) -> object:
    with Store(path) as store:
        return list(rows_of(store))


def read_export(path: Path) -> object:
    found = Imported()
    return list(read(path, found)), found


def read_index(path: Path) -> object:
    index = open_index(path)
    return collect(index.rows, [index]).rows(), index.inputs


def read_dataset(file: Path) -> object:
    dataset = open_dataset(file.parent)
    games = [dataset.game(row) for row in range(len(dataset))]
    return (
        dataset.manifest,
        dataset.table.to_pylist(),
        [(game.planes.tobytes(), game.board.tobytes()) for game in games],
    )


def read_run(file: Path) -> object:
    return open_run(file.parent)


def read_calibration(path: Path) -> object:
    return load(path)


GUARDED: dict[str, Callable[[Path], object]] = {
    "store.db": read_store,
    "out.parquet": read_export,
    "out.jsonl.zst": read_export,
    "games.parquet": read_index,
    "dataset/manifest.json": read_dataset,
    "dataset/games.arrow": read_dataset,
    "dataset/plies-00000.arrow": read_dataset,
    "run/run.json": read_run,
    "run/weights.npz": read_run,
    "mine.json": read_calibration,
}
PLAIN: dict[str, Callable[[Path], object]] = {"out.jsonl": read_export, "games.csv": read_index}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One artefact of each kind, as this version writes them."""
    folder = tmp_path_factory.mktemp("artefacts")
    games = folder / "unnamed.pgn"  # which go into training and validation one by one
    games.write_text(re.sub(r'(White|Black) ".*"', r'\1 "?"', EVENT.read_text()))
    analyse = ("--depth", 2, "--limit", 3, "--quiet", "--engine", command())
    for words in (
        ("analyse", EVENT, "--store", folder / "store.db", *analyse),
        ("export-analyses", "--store", folder / "store.db", "-o", folder / "out.parquet"),
        ("export-analyses", "--store", folder / "store.db", "-o", folder / "out.jsonl"),
        ("export-analyses", "--store", folder / "store.db", "-o", folder / "out.jsonl.zst"),
        ("index", EVENT, "-o", folder / "games.parquet"),
        ("index", EVENT, "-o", folder / "games.csv"),
        ("encode", games, "-o", folder / "dataset", "--quiet"),
        ("train", folder / "dataset", "-o", folder / "run", "--model", "mean", "--quiet"),
    ):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        assert end.value.code == 0, words
    shipped = DATA / "calibrations" / "stockfish-15.1-d6.json"
    save(
        load(shipped),
        unpack_values(json.loads(shipped.read_text())["regan"]["reference"]["data"]),
        folder / "mine.json",
    )
    return folder


def by_value(read: object) -> bytes:
    """What was read as bytes; equal parts count alike whether or not they are one object, as a memo would tell."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.fast = True
    pickler.dump(read)
    return file.getvalue()


@pytest.mark.parametrize("name", [*GUARDED, *PLAIN])
def test_a_flipped_bit_is_told_or_does_no_harm(name: str, folder: Path) -> None:
    file, whole = folder / name, (folder / name).read_bytes()
    reader = (GUARDED | PLAIN)[name]
    before, chance = by_value(reader(file)), random.Random(name)
    told = 0
    for _ in range(FLIPS):
        at, damaged = chance.randrange(len(whole)), bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        try:
            after = by_value(reader(file))
        except (AssayError, AssayWarning) as error:
            told += 1
            assert str(error).endswith(".")
        else:
            assert after == before or name in PLAIN, f"byte {at} turned over, and nobody noticed"
    file.write_bytes(whole)
    assert told or name in PLAIN
    assert by_value(reader(file)) == before


def test_a_store_is_mended_wherever_a_bit_of_a_position_turned_over(folder: Path, tmp_path: Path) -> None:
    """Found by its content: one byte of a key, of moves, and of scores, in the table and in the index."""
    whole = (folder / "store.db").read_bytes()
    with Store(folder / "store.db") as store:
        before = list(store.all_valued(1))
    for part in (before[5].key, before[6].moves, before[7].scores):
        at = -1
        while (at := whole.find(part, at + 1)) >= 0:
            damaged = bytearray(whole)
            damaged[at + 1] ^= 16
            file = tmp_path / f"{at}.db"
            file.write_bytes(damaged)
            with writing(file) as store:
                store.mend()
                after = list(store.all_valued(1))
            assert set(after) <= set(before) and len(after) >= len(before) - 1


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("event.pgn", data)
    return out.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "zip": zipped,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@pytest.mark.parametrize("kind", PACKED)
def test_a_flipped_bit_in_packed_games_is_counted_or_does_no_harm(kind: str, tmp_path: Path) -> None:
    """What can be read before the damage is read, as of a download that broke off."""
    file, whole, chance = tmp_path / f"event.pgn.{kind}", PACKED[kind](EVENT.read_bytes()), random.Random(kind)
    before = [game.data for game in assay.read(EVENT)]
    for _ in range(FLIPS):
        at, damaged = chance.randrange(len(whole)), bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        games = assay.read(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssayWarning)
            found = [game.data for game in games]
        assert found == before or games.problems, f"byte {at} turned over, and nobody noticed"


def test_what_tells_of_the_pages_of_an_export_is_guarded_too(folder: Path) -> None:
    file = folder / "out.parquet"
    whole = file.read_bytes()
    names = whole.rfind(b"ends_game")  # among the names of columns, which no page holds
    for at in range(names - 200, names + 200, 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(AssayError, match=r"is damaged|cannot be read"):
            read_export(file)
    file.write_bytes(whole)
