"""The page beside a running job: many clients, answers a second, and how many answers were broken.

    python benchmarks/web.py [--clients 200] [--answers 9000] [--jobs N] [--tiny] [--json FILE]

A real `assay serve` analyses the sample games with the real engine, one per core, while the clients, in processes of
their own, ask for what browsers ask for: the page of the job, its status, its report as it grows, the list, the style.
An answer is broken if its status is not 200 or it has another length than it announces. `--jobs` fills the list
beforehand. The second figure is what the server could do with a core to itself, whatever else keeps the machine busy.
Then uploads of newlines (the memory of the server with all its processes), and callers who hold
connections after they were refused.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from assay.web.jobs import Job, JobFolders, write_json
from measure import ASSAY, Measurement, show

TARGET = 300.0  # answers a second
CLIENT_PROCESSES = 2
ASKED = 100


def paths(job: str) -> tuple[str, ...]:
    """What a browser that follows a job asks for, the status most often."""
    status = f"/api/jobs/{job}"
    return (status, status, status, f"/jobs/{job}/report", status, status, f"/jobs/{job}", "/", "/static/report.css")


async def ask(host: str, port: int, path: str) -> str:
    """One request on a connection of its own; what was wrong with its answer, or nothing."""
    try:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    except OSError as error:
        return type(error).__name__
    length = re.search(rb"(?i)content-length: (\d+)", head)
    if length is None or len(body) != int(length.group(1)):
        return "another length than announced"
    return "" if head.startswith(b"HTTP/1.1 200") else head[:12].decode()


async def all_clients(port: int, job: str, clients: int, answers: int) -> Counter[str]:
    """So many clients at the same time, each asking again as soon as it has its answer."""
    wanted, found = iter(range(answers)), Counter[str]()

    async def client() -> None:
        for number in wanted:
            found[await ask("127.0.0.1", port, paths(job)[number % len(paths(job))])] += 1

    await asyncio.gather(*(client() for _ in range(clients)))
    return found


def some_clients(words: tuple[int, str, int, int]) -> Counter[str]:
    """The clients of one process."""
    return asyncio.run(all_clients(*words))


def told(url: str, data: bytes | None = None) -> Any:
    with urllib.request.urlopen(url, data) as answer:
        return json.loads(answer.read())


def serve(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A server on free ground, and its address."""
    folder.mkdir(parents=True, exist_ok=True)
    places = ["--jobs", str(folder / "jobs"), "--store", str(folder / "store.db")]
    process = subprocess.Popen([*ASSAY, "serve", "--port", "0", *places], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    found = re.search(r"http://\S+", process.stderr.readline())
    assert found is not None
    return process, found.group().rstrip("/")


def measure(folder: Path, *, clients: int, answers: int, jobs: int = 0, preset: str = "default") -> list[Measurement]:
    """Answers a second beside a running job, and the broken ones among them."""
    folders = JobFolders(folder / "jobs")
    for number in range(jobs):
        made = Job(f"{number:016x}", f"{number}.pgn", "quick", 1, 7, "0" * 64, "2026-01-01T00:00:00.000+00:00")
        (folders.root / made.id).mkdir()
        write_json(folders.root / made.id / "job.json", asdict(made))
        folders.set_state(made.id, "done")
    process, url = serve(folder)
    try:
        sample = resources.files("assay.data").joinpath("kasparov-deep-blue-1997.pgn").read_bytes()
        job = told(f"{url}/api/jobs?name=match.pgn&preset={preset}", sample)["id"]
        while not (now := told(f"{url}/api/jobs/{job}"))["formats"]:
            if now["state"] not in ("queued", "running"):
                raise SystemExit(f"the job ended: {now['message']}")
            time.sleep(0.1)
        share = (int(url.rsplit(":", 1)[1]), job, clients // CLIENT_PROCESSES, answers // CLIENT_PROCESSES)
        with multiprocessing.get_context("spawn").Pool(CLIENT_PROCESSES) as pool:
            pool.map(some_clients, [(*share[:2], 1, 1)] * CLIENT_PROCESSES)  # so that all are there before it begins
            began, used = time.perf_counter(), cpu_of(process.pid)
            found = sum(pool.map(some_clients, [share] * CLIENT_PROCESSES), Counter[str]())
            seconds, used = time.perf_counter() - began, cpu_of(process.pid) - used
        state = told(f"{url}/api/jobs/{job}")["state"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()
    given = found.total()
    if broken := {why: count for why, count in found.items() if why}:
        print(f"Broken: {broken}")
    beside = f"{clients} clients, {jobs:,} jobs in the list, job {state} at the end"
    return [
        Measurement(f"answers, {beside}", given / seconds, "1/s", target=TARGET),
        Measurement("answers in a second of the server's CPU time", given / used, "1/s", target=TARGET),
        Measurement(f"broken of {given:,} answers", given - found[""], "answers", target=0, less=True),
    ]


def attack(folder: Path, held: int, uploads: int) -> list[Measurement]:
    """Uploads that are nothing but newlines, and callers who are refused and do not go."""
    process, url = serve(folder)
    port = int(url.rsplit(":", 1)[1])
    try:
        with ThreadPoolExecutor(uploads) as pool:
            sent = [pool.submit(refused, f"{url}/api/jobs", b"\n" * 10_000_000) for _ in range(uploads // 2)]
            sent += [
                pool.submit(refused, f"{url}/api/jobs", b"hello\n" + b"\n" * 10_000_000) for _ in range(uploads // 2)
            ]
            most = 0.0
            while not all(one.done() for one in sent):
                most = max(most, memory(process.pid))
                time.sleep(0.02)
        answered = asyncio.run(beside_those_who_hold(port, held))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()
    return [
        Measurement(f"peak memory, {uploads} uploads of 10 MB of newlines", most, "MB", target=500, less=True),
        Measurement(f"answered of {ASKED}, {held:,} refused callers holding on", answered, "answers", target=ASKED),
    ]


def refused(url: str, data: bytes) -> None:
    with suppress(OSError):
        told(url, data)


def cpu_of(process: int) -> float:
    """CPU seconds of a process without those that it started; Linux."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> float:
    """What a process and all that it started hold now, MB; Linux."""
    held, found = 0.0, [process]
    while found:
        at = Path(f"/proc/{found.pop()}")
        with suppress(OSError, IndexError):  # it has just ended
            held += int(re.findall(r"RssAnon:\s+(\d+)", (at / "status").read_text())[0]) / 1024
            found += [int(child) for file in at.glob("task/*/children") for child in file.read_text().split()]
    return held


async def beside_those_who_hold(port: int, held: int) -> int:
    """How many of some requests are answered while others, refused, drip on."""
    head = (
        b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nContent-Length: 999999\r\n\r\n"
    )

    async def drip() -> None:
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(head)
                while not writer.is_closing():
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(0.2)
            await asyncio.sleep(0.1)

    dripping = [asyncio.create_task(drip()) for _ in range(held)]
    await asyncio.sleep(3)
    answered = 0
    for _ in range(ASKED):
        answered += not await ask("127.0.0.1", port, "/api/jobs")
    for task in dripping:
        task.cancel()
    await asyncio.gather(*dripping, return_exceptions=True)
    return answered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--answers", type=int, default=9000)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tiny", action="store_true", help="try whether it runs; its figures mean nothing")
    given = parser.parse_args()
    clients, answers, held, uploads, preset = given.clients, given.answers, 1_000, 10, "default"
    if given.tiny:
        clients, answers, held, uploads, preset = 4, 40, 20, 2, "quick"
    with tempfile.TemporaryDirectory() as name:
        rows = measure(Path(name) / "calm", clients=clients, answers=answers, jobs=given.jobs, preset=preset)
        rows += attack(Path(name) / "attack", held, uploads)
    show(rows, "The page beside a running job", given.json)


if __name__ == "__main__":
    main()
