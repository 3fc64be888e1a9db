"""Two runs on one store, one index, one dataset: each is whole, or told to wait."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import polars as pl
from tests.engine.fake_engine import command
from tests.faults.processes import COMMAND, EVENT, run, start

from assay.learned.dataset import open_dataset


def test_a_second_writer_waits_its_turn_a_reader_reads_and_the_first_goes_on(tmp_path: Path) -> None:
    store, log = tmp_path / "store.db", tmp_path / "log"
    analyse = ("analyse", EVENT, "--store", store, "--depth", 1, "--limit", 2, "--quiet", "--engine")
    first = start(*COMMAND, *analyse, command(log=log))
    while not log.exists():
        time.sleep(0.01)
    first.send_signal(signal.SIGSTOP)
    assert run(*analyse, command()).sentence.startswith(f"another run (process {first.pid}) is writing to {store}.")
    assert run("analyses", "--store", store).code == 0
    first.send_signal(signal.SIGCONT)
    assert first.wait() == 0
    assert "0 valued now" in run(*analyse, command()).err


def test_two_runs_into_one_file_leave_a_whole_one(tmp_path: Path) -> None:
    games, index, dataset = tmp_path / "many.pgn", tmp_path / "games.parquet", tmp_path / "dataset"
    games.write_bytes(EVENT.read_bytes() * 20)
    indexing = [start(*COMMAND, "index", games, "-o", index, stdout=-3) for _ in range(2)]
    encoding = [start(*COMMAND, "encode", games, "-o", dataset, "--quiet", stdout=-3, stderr=-3) for _ in range(2)]
    assert [process.wait() for process in indexing] == [0, 0]
    assert len(pl.read_parquet(index)) == 300
    # Of two folders only one can take the name; the other run says so.
    assert sorted(process.wait() for process in encoding) == [0, 1]
    found = open_dataset(dataset)
    assert sum(len(found.game(row)) for row in range(len(found))) == found.manifest["settings"]["plies"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset", "games.parquet", "many.pgn"]
