"""The same work on a Dask cluster: the same store, though a worker dies, comes late or has the wrong engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.engine.analysis import Outcome
from assay.engine.cluster import Cluster, connect
from assay.engine.identity import Identity
from assay.engine.parsed import wanted
from assay.engine.store import Store
from assay.errors import AssayWarning, EngineError, StoreError
from assay.games import read

distributed = pytest.importorskip("distributed")
SAMPLE = Path(assay.__file__).parent / "data" / "kasparov-deep-blue-1997.pgn"


def values(path: Path) -> dict[bytes, tuple[bytes, bytes]]:
    with Store(path) as store:
        return {valued.key: (valued.moves, valued.scores) for valued in store.all_valued(1)}


def test_a_killed_worker_and_a_late_one_change_nothing(
    fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    work, log = wanted(list(read(SAMPLE))[:1]), tmp_path / "log"
    analysed(fake(), store="here.db", work=work)
    with connect("local", workers=1) as cluster:
        local = cluster.client.cluster

        def disturb() -> None:
            while not log.exists():
                time.sleep(0.05)
            (victim,) = cluster.client.run(os.getpid).values()
            local.scale(2)
            os.kill(victim, signal.SIGKILL)

        threading.Thread(target=disturb, daemon=True).start()
        outcome = analysed(fake(seconds=0.2, log=log), store="there.db", work=work, cluster=cluster)
    assert outcome.valued == len(work.keys) - outcome.left_out.total() and not outcome.set_aside
    assert values(tmp_path / "there.db") == values(tmp_path / "here.db")


def test_a_worker_with_another_engine_gets_nothing(
    fake: Callable[..., str], analysed: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = Identity("Fake 2.0", "", (("Hash", "16"),), 0, 50)
    monkeypatch.setattr(Cluster, "identify", lambda *_: asked)
    with (
        connect("local", workers=1) as cluster,
        pytest.warns(AssayWarning, match="is left out: Fake 1"),
        pytest.raises(
            EngineError, match=r"no worker is left: Fake 1\.0, 50 lines is here, but Fake 2\.0, 50 lines was"
        ),
    ):
        analysed(fake(), cluster=cluster)
    assert not values(tmp_path / "store.db")


def test_two_clusters_of_this_machine_do_not_meet() -> None:
    """Each has ports of its own; a warning would be an error here."""
    with connect("local", workers=1) as one, connect("local", workers=1) as other:
        assert one is not other


def address_in(file: Path) -> str:
    """The address in a scheduler's file; nothing before all of it is written."""
    try:
        return str(json.loads(file.read_text())["address"])
    except (OSError, ValueError):
        return ""


def test_when_the_scheduler_goes_away_what_came_back_is_stored(
    fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    dask, file = [sys.executable, "-m"], tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        **quiet,
    )
    worker = subprocess.Popen(
        [*dask, "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny"], **quiet
    )
    store = tmp_path / "store.db"

    def something_is_stored() -> bool:
        try:
            return bool(values(store))
        except StoreError:  # it is just being made
            return False

    def kill_when_something_is_stored() -> None:
        while not something_is_stored():
            time.sleep(0.1)
        scheduler.kill()

    try:
        while not (address := address_in(file)):
            time.sleep(0.1)
        threading.Thread(target=kill_when_something_is_stored, daemon=True).start()
        with connect(address) as cluster, pytest.raises(EngineError, match=r"went away\. What came back is stored"):
            analysed(fake(seconds=0.2), cluster=cluster, work=wanted(list(read(SAMPLE))[:2]))
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert values(store)


def test_an_address_where_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.engine.cluster.CONNECT_SECONDS", 1)
    with pytest.raises(EngineError, match="no Dask scheduler answers at tcp:"), connect("tcp://127.0.0.1:1"):
        pass
