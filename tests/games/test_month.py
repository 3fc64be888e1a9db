"""A month is fetched from a server that breaks off, forgets, lies, or is not there."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import zstandard
from tests.games.made import game_text

from assay.errors import AssayWarning, InputError, OutputError
from assay.games import read
from assay.games.archives import archive_name, fetch_month

NAME = archive_name("2013-01")
ARCHIVE = zstandard.ZstdCompressor().compress("\n\n".join(game_text(seed, 30) for seed in range(40)).encode())
SUM = hashlib.sha256(ARCHIVE).hexdigest()


@dataclass
class Server:
    """What the server has, how it behaves, and what was asked of it."""

    files: dict[str, bytes]
    break_after: int | None = None  # bytes of each answer, then the connection is cut
    ranges: bool = True
    failures: int = 0  # so many answers are "503" first
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server({NAME: ARCHIVE, "sha256sums.txt": f"{'0' * 64}  other\n{SUM}  {NAME}\n".encode()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            wanted = self.headers.get("Range")
            state.asked.append((name, wanted))
            if state.failures:
                state.failures -= 1
                self.send_error(503)
                return
            if name not in state.files:
                self.send_error(404)
                return
            data = state.files[name]
            begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            if begin and begin >= len(data):
                self.send_error(416)
                return
            self.send_response(206 if begin else 200)
            self.send_header("Content-Length", str(len(data) - begin))
            self.end_headers()
            whole = name == "sha256sums.txt" or state.break_after is None
            self.wfile.write(data[begin:] if whole else data[begin : begin + (state.break_after or 0)])
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        http.shutdown()
        thread.join()


def test_fetched_checked_and_indexed(server: Server, tmp_path: Path) -> None:
    got = fetch_month("2013-01", tmp_path / "new", url=server.url + "/")
    assert got.archive.read_bytes() == ARCHIVE
    assert (got.games, got.fetched, got.indexed) == (40, True, True)
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == [got.archive.name, got.index.name]
    assert got.index.name == "lichess_db_standard_rated_2013-01_index.parquet"


def test_the_games_unpacked_and_the_index_as_csv(server: Server, tmp_path: Path) -> None:
    got = fetch_month("2013-01", tmp_path, url=server.url, pgn=True, csv=True)
    assert got.pgn is not None and got.csv is not None
    assert got.pgn.read_bytes() == zstandard.ZstdDecompressor().decompress(ARCHIVE)
    assert (got.pgn.name, got.csv.name) == (
        "lichess_db_standard_rated_2013-01.pgn",
        "lichess_db_standard_rated_2013-01_index.csv",
    )
    assert len(list(read(got.csv))) == 40, "it serves as an index"


def test_a_connection_that_breaks_off_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.break_after = len(ARCHIVE) // 3
    got = fetch_month("2013-01", tmp_path, url=server.url, pause=0)
    assert got.archive.read_bytes() == ARCHIVE
    begins = [wanted for name, wanted in server.asked if name == NAME]
    assert begins == [None, *(f"bytes={n * server.break_after}-" for n in range(1, len(begins)))]


def test_the_next_run_goes_on_too(server: Server, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(ARCHIVE[:1000])
    got = fetch_month("2013-01", tmp_path, url=server.url)
    assert got.archive.read_bytes() == ARCHIVE
    assert (NAME, "bytes=1000-") in server.asked


def test_a_server_that_cannot_resume_starts_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(b"some other bytes")
    server.ranges = False
    assert fetch_month("2013-01", tmp_path, url=server.url).archive.read_bytes() == ARCHIVE


def test_a_part_of_another_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(b"x" * 1000)
    assert fetch_month("2013-01", tmp_path, url=server.url).archive.read_bytes() == ARCHIVE


def test_what_is_there_is_used_again(server: Server, tmp_path: Path) -> None:
    fetch_month("2013-01", tmp_path, url=server.url)
    server.asked.clear()
    got = fetch_month("2013-01", tmp_path, url=server.url)
    assert (got.games, got.fetched, got.indexed) == (40, False, False)
    assert [name for name, _ in server.asked] == ["sha256sums.txt"]
    got.index.unlink()
    assert fetch_month("2013-01", tmp_path, url=server.url).indexed


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.failures = 3
    assert fetch_month("2013-01", tmp_path, url=server.url, pause=0).games == 40


def test_a_wrong_checksum_is_refused(server: Server, tmp_path: Path) -> None:
    server.files[NAME] = ARCHIVE[:-1] + b"x"
    with pytest.raises(InputError, match="does not match its checksum"):
        fetch_month("2013-01", tmp_path, url=server.url)
    assert not list(tmp_path.iterdir())


def test_another_file_under_the_name_is_refused(server: Server, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"something else")
    with pytest.raises(InputError, match="delete it and run this again"):
        fetch_month("2013-01", tmp_path, url=server.url)
    assert (tmp_path / NAME).read_bytes() == b"something else"


def test_no_checksum_is_a_warning(server: Server, tmp_path: Path) -> None:
    server.files["sha256sums.txt"] = b""
    with pytest.warns(AssayWarning, match="lists no checksum"):
        assert fetch_month("2013-01", tmp_path, url=server.url).games == 40


def test_without_a_server_what_is_here_is_enough(server: Server, tmp_path: Path) -> None:
    fetch_month("2013-01", tmp_path, url=server.url)
    with pytest.warns(AssayWarning, match="could not be checked"):
        assert fetch_month("2013-01", tmp_path, url="http://127.0.0.1:9", pause=0).games == 40


def test_a_server_that_stays_away_ends_with_a_sentence(server: Server, tmp_path: Path) -> None:
    server.break_after = 0
    with pytest.raises(InputError, match="What has been fetched is kept; run this again"):
        fetch_month("2013-01", tmp_path, url=server.url, pause=0)


def test_a_month_that_is_not_published(server: Server, tmp_path: Path) -> None:
    server.files["sha256sums.txt"] += f"{SUM}  {archive_name('2099-12')}\n".encode()
    with pytest.raises(InputError, match="Is this month published"):
        fetch_month("2099-12", tmp_path, url=server.url)


@pytest.mark.parametrize("month", ["2013-13", "2013", "13-01", "../2013-01"])
def test_a_month_that_is_none(tmp_path: Path, month: str) -> None:
    with pytest.raises(InputError, match="is not a month"):
        fetch_month(month, tmp_path)


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot make the folder"):
        fetch_month("2013-01", tmp_path / "file")


@pytest.mark.parametrize("url", ["nonsense", "http://[::1", "http://host:port", "file:///etc", ""])
def test_an_address_that_is_none(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="is no address"):
        fetch_month("2013-01", tmp_path, url=url or " ", pause=0)


def test_a_list_of_checksums_without_end(server: Server, tmp_path: Path) -> None:
    server.files["sha256sums.txt"] = b"x" * (5 << 20)
    with pytest.raises(InputError, match="no list of checksums"):
        fetch_month("2013-01", tmp_path, url=server.url, pause=0)
