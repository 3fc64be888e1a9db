"""The reference set: what is written comes back, and what is none is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.moves.made import choices_of, random_fens

from assay.engine.identity import Identity
from assay.engine.score import MISSING
from assay.errors import InputError
from assay.moves import reference

ENGINE = Identity("Stockfish 15.1", "nn.nnue", (("Hash", "16"),), 0, 50)


def known(turns: int) -> pl.DataFrame:
    numbers = np.arange(turns)
    columns = {name: pl.Series(numbers, dtype=pl.Int16) for name in reference.KNOWN}
    return pl.DataFrame(columns | {"set": ["2006-14"] * turns, "selected": [True] * turns})


def test_a_set_comes_back_as_it_was(tmp_path: Path) -> None:
    made = choices_of(random_fens(60, seed=9), depth=8)
    codes = made.codes.copy()
    codes[5, 2], codes[7], codes[9, 1:], codes[11, 0] = MISSING, 31_990, -31_995, 29_999
    made = replace(made, codes=codes)
    reference.write(tmp_path, "part-01", made, known(60), ENGINE)
    reference.write(tmp_path, "part-02", made, known(60), ENGINE)
    back = reference.read(tmp_path, 8)
    assert len(back) == 120 and back.identity == ENGINE and back.turns["elo"].to_list() == [*range(60)] * 2
    first = back.choices.only(np.arange(60))
    orders = [np.lexsort((some.moves, some.turn)) for some in (first, made)]
    assert np.array_equal(first.codes[orders[0]], made.codes[orders[1]])
    assert np.array_equal(first.moves[first.chosen], made.moves[made.chosen])
    assert np.array_equal(first.keys, made.keys) and np.array_equal(first.start, made.start)
    assert reference.read(tmp_path, 3).choices.depth == 3
    assert set(reference.checksums(tmp_path)) == {
        f"part-0{n}.{kind}.parquet" for n in (1, 2) for kind in ("moves", "turns")
    }


def test_what_is_no_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no reference set"):
        reference.read(tmp_path, 8)
    made = choices_of(random_fens(3, seed=9), depth=4)
    reference.write(tmp_path, "part-01", made, known(3), ENGINE)
    with pytest.raises(InputError, match="no turns analysed to depth 8"):
        reference.read(tmp_path, 8)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.turns.parquet")
    with pytest.raises(InputError, match="no part of a reference set"):
        reference.read(tmp_path, 4)


def test_two_engines_are_not_mixed(tmp_path: Path) -> None:
    made = choices_of(random_fens(3, seed=9), depth=4)
    reference.write(tmp_path, "part-01", made, known(3), ENGINE)
    reference.write(tmp_path, "part-02", made, known(3), replace(ENGINE, engine="Stockfish 17"))
    with pytest.raises(InputError, match="several engines"):
        reference.read(tmp_path, 4)


def test_a_damaged_set_is_refused_in_words(tmp_path: Path) -> None:
    made = choices_of(random_fens(20, seed=9), depth=4)
    reference.write(tmp_path, "part-01", made, known(20), ENGINE)
    files = sorted(tmp_path.glob("*.parquet"))
    whole = {file: file.read_bytes() for file in files}
    sums = "".join(f"{digest}  {name}\n" for name, digest in reference.checksums(tmp_path).items())
    for file, data in whole.items():
        for at in range(0, len(data), max(1, len(data) // 40)):
            file.write_bytes(data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :])
            (tmp_path / reference.SUMS).write_text(sums)
            with pytest.raises(InputError, match="its checksum is not that in SHA256SUMS"):
                reference.read(tmp_path, 4)
            (tmp_path / reference.SUMS).unlink()
            try:  # without checksums some damage is not seen, but none ends in an error of another kind
                reference.read(tmp_path, 4)
            except InputError as error:
                assert "Get the set anew" in str(error) or "no part of" in str(error) or "no turns" in str(error)
        file.write_bytes(data)
    for file, data in whole.items():
        file.write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError, match="is damaged"):
            reference.read(tmp_path, 4)
        file.unlink()
        with pytest.raises(InputError, match=r"is damaged|no reference set"):
            reference.read(tmp_path, 4)
        file.write_bytes(data)
    assert len(reference.read(tmp_path, 4)) == 20
