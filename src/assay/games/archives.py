"""Games from elsewhere: the monthly archives of Lichess, fetched with resume; those that come in behind the link of a
broadcast or appear in folders; the samples that ship with Assay.
"""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

from assay.errors import AssayError, AssayWarning, FetchError, InputError, OutputError
from assay.fetch import asking
from assay.fetch.address import is_address, parse
from assay.games.catalog import open_index
from assay.games.indexing import IndexReport, index
from assay.games.source import Games, read
from assay.games.stream import Stream, content_hash, find_files
from assay.manifest import file_hash
from assay.paths import atomic
from assay.progress import Progress
from assay.records import dataclass
from assay.table import counted

LICHESS = "https://database.lichess.org/standard"
SUMS = "sha256sums.txt"
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
_URL = re.compile(r"https?://[^\s/]+")
_BLOCK = 1 << 20
_TRIES = 6  # in a row without a single new byte
_TIMEOUT = 60.0
_LONGEST_LIST = 4 << 20  # bytes; Lichess's has some twenty thousand
_BROKEN = (OSError, http.client.HTTPException)
Told = Callable[[str], None]


@dataclass(frozen=True)
class Month:
    """One month on disk: the archive, its index, and whether they were there before."""

    archive: Path
    index: Path
    games: int
    fetched: bool
    indexed: bool
    report: IndexReport | None  # of the indexing, if it was done now
    pgn: Path | None = None  # the games unpacked, and the index as CSV, if they were asked for
    csv: Path | None = None


def archive_name(month: str) -> str:
    """The name of a month's archive.

    >>> archive_name("2018-06")
    'lichess_db_standard_rated_2018-06.pgn.zst'
    """
    if not _MONTH.fullmatch(month):
        raise InputError(f"{month!r} is not a month; write it like 2018-06.")
    return f"lichess_db_standard_rated_{month}.pgn.zst"


def fetch_month(
    month: str,
    folder: str | Path = ".",
    *,
    url: str = LICHESS,
    movetext: bool = False,
    pgn: bool = False,
    csv: bool = False,
    pause: float = 1.0,
    quiet: bool = True,
) -> Month:
    """Fetch and index the archive of a month; what is there already and in order is used as it is.

    A broken download goes on where it stopped, now and in the next run; `pause` is the first of the growing pauses
    between tries, in seconds.
    """
    name, place = archive_name(month), Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {place}: {error.strerror or error}.") from error
    archive, stem = place / name, name.removesuffix(".pgn.zst")
    target = place / f"{stem}_index.parquet"
    base = url.rstrip("/")
    if not _URL.match(base):
        raise InputError(f"{url!r} is no address; write it like {LICHESS}.")
    wanted = _checksum(base, name, present=archive.exists(), pause=pause)
    fetched = not archive.exists()
    if fetched:
        _download(f"{base}/{name}", archive, wanted, pause=pause, quiet=quiet)
    elif wanted and file_hash(archive) != wanted:
        raise InputError(f"{archive} is not what {base} offers (its checksum differs); delete it and run this again.")
    games = _games_indexed(target, archive, movetext=movetext)
    report = None
    if games is None:
        report = index([archive], target, movetext=movetext, quiet=quiet)
        games = report.games
    plain = _unpacked(archive, place / f"{stem}.pgn") if pgn else None
    table = place / f"{stem}_index.csv" if csv else None
    if table is not None:
        index([target], table, quiet=quiet)
    return Month(archive, target, games, fetched, report is not None, report, plain, table)


def _unpacked(archive: Path, target: Path) -> Path:
    """The games of an archive as plain PGN."""
    with Stream(archive) as stream, atomic(target) as part, part.open("wb") as file:
        for data in stream.blocks():
            file.write(data)
        if stream.problem:
            raise InputError(f"cannot unpack {archive}: {stream.problem}.")
    return target


def _games_indexed(target: Path, archive: Path, *, movetext: bool) -> int | None:
    """How many games an index from an earlier run holds; None if there is none of this very file."""
    if not target.exists():
        return None
    found = open_index(target)
    about = found.inputs.get(str(archive))
    if about is None or not {"bytes", "xxh128", "games"} <= set(about) or found.has_movetext < movetext:
        return None
    same = about["bytes"] == archive.stat().st_size and about["xxh128"] == content_hash(archive)
    return int(about["games"]) if same else None


def _checksum(base: str, name: str, *, present: bool, pause: float) -> str | None:
    """The SHA-256 that the server lists for an archive; None, with a warning, if it lists none."""
    try:
        text = _read(f"{base}/{SUMS}", pause=pause)
    except InputError as error:
        if not present:
            raise
        warnings.warn(f"the archive that is here could not be checked: {error}", AssayWarning, stacklevel=3)
        return None
    for line in text.decode("utf-8", "replace").splitlines():
        parts = line.split()
        if len(parts) == 2 and parts[1].lstrip("*").rsplit("/", 1)[-1] == name:
            return parts[0].lower()
    warnings.warn(f"{base}/{SUMS} lists no checksum for {name}; it is not checked.", AssayWarning, stacklevel=3)
    return None


def _read(url: str, *, pause: float) -> bytes:
    for attempt in range(_TRIES):
        try:
            with closing(_open(url, 0)) as response:
                text = bytes(response.read(_LONGEST_LIST + 1))
                if len(text) > _LONGEST_LIST:
                    raise InputError(f"{url} is no list of checksums: it is longer than {_LONGEST_LIST >> 20} MB.")
                return text
        except _BROKEN as error:
            _give_up_or_wait(url, error, attempt, pause)
    raise AssertionError("the last try raises")


def _download(url: str, target: Path, wanted: str | None, *, pause: float, quiet: bool) -> None:
    part = target.with_name(target.name + ".part")
    for attempt in ("resumed", "whole"):
        resumed = part.exists()
        _fill(url, part, pause=pause, quiet=quiet)
        if wanted is None or file_hash(part) == wanted:
            part.replace(target)
            return
        part.unlink()
        if attempt == "resumed" and resumed:
            continue  # the file on the server may have changed since the first part was fetched
        break
    raise InputError(f"{url} does not match its checksum; it was damaged on the way. Run this again.")


def _fill(url: str, part: Path, *, pause: float, quiet: bool) -> None:
    """Append to `part` until it holds all of the file; give up after several tries without a new byte."""
    failures = 0
    with Progress(f"fetching {part.name.removesuffix('.part')}", unit="bytes", quiet=quiet) as progress:
        while True:
            have = part.stat().st_size if part.exists() else 0
            try:
                if _fetch_rest(url, part, have, progress):
                    return
                error: Exception = OSError("the connection broke off")
            except _BROKEN as broken:
                error = broken
            grown = part.exists() and part.stat().st_size > have
            failures = 0 if grown else failures + 1
            _give_up_or_wait(url, error, failures - 1 if failures else 0, pause)


def _fetch_rest(url: str, part: Path, have: int, progress: Progress) -> bool:
    """One request for what is missing; whether the file is whole now."""
    try:
        response = _open(url, have)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # nothing lies beyond what we have
            return True
        raise
    with closing(response):
        resumes = response.status == 206
        length = response.headers.get("Content-Length")
        total = (have if resumes else 0) + int(length) if length and length.isdecimal() else None
        done = have if resumes else 0
        try:
            file = part.open("ab" if resumes else "wb")
        except OSError as error:
            raise OutputError(f"cannot write {part}: {error.strerror or error}.") from error
        with file:
            while block := response.read(_BLOCK):
                try:
                    file.write(block)
                except OSError as error:
                    raise OutputError(f"cannot write {part}: {error.strerror or error}.") from error
                done += len(block)
                progress.update(done, total)
    return total is None or done == total


def _open(url: str, have: int) -> http.client.HTTPResponse:
    try:
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        raise
    except (ValueError, http.client.InvalidURL) as error:
        raise InputError(f"{url!r} is no address ({error}); write it like {LICHESS}.") from error
    return response


def _give_up_or_wait(url: str, error: Exception, failures: int, pause: float) -> None:
    if isinstance(error, urllib.error.HTTPError) and error.code < 500:
        hint = " Is this month published?" if error.code == 404 else ""
        raise InputError(f"{url}: the server answers {error.code} {error.reason}.{hint}") from error
    if failures + 1 >= _TRIES:
        reason = getattr(error, "reason", None) or error
        raise InputError(f"cannot fetch {url}: {reason}. What has been fetched is kept; run this again.") from error
    time.sleep(pause * 2**failures)


SAMPLES = {
    "kasparov-deep-blue-1997.pgn": "the six games of the match Kasparov - Deep Blue, New York 1997",
    "simulated-event.pgn": "15 games of six simulated players, one of whom was helped",
    "simulated-event.manifest.json": "the truth about them: strength of each player, moves with help",
}


def sample(name: str) -> bytes:
    """The content of a sample file.

    >>> sample("kasparov-deep-blue-1997.pgn").count(b"[White ")
    6
    """
    return (resources.files("assay.data") / name).read_bytes()


def write_samples(folder: str | Path = ".") -> list[Path]:
    """Write the sample files into a folder, made where it is missing; a file of the user's is never replaced."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {target}: {error.strerror or error}.") from error
    contents = {target / name: sample(name) for name in SAMPLES}
    for path, content in contents.items():
        if path.exists() and path.read_bytes() != content:
            raise OutputError(f"{path} is there already, with other content: choose another folder with -o.")
    for path, content in contents.items():
        with atomic(path) as part:
            part.write_bytes(content)
    return list(contents)


def watch(
    what: Sequence[str], every: int = 60, *, folders: bool = False, told: Told = lambda text: None
) -> Iterator[Games]:
    """Games that come in, again whenever something is new, as `--watch` and `--live` of the commands have them.

    Those behind the link of a broadcast, until its games have ended, or those in `folders`, for ever.

    >>> import assay
    >>> for games in assay.watch(["games.pgn"]):
    ...     print(assay.rate(games))
    Traceback (most recent call last):
        ...
    assay.errors.FetchError: --watch is for a broadcast: give the link of a tournament or a round on Lichess.
    """
    return map(read, in_folders(what, every, told)) if folders else broadcast(what, every, told)


def broadcast(files: Sequence[str], every: int, told: Told) -> Iterator[Games]:
    """The games behind a broadcast link, again whenever something is new.

    What goes wrong on the way (no network) is told, and the next time may be better. A single round ends when all its
    games have. Finished games cost nothing again: the store has them.
    """
    rounds = [parse(file) for file in files if is_address(file)]
    if not any(address.is_broadcast for address in rounds):
        raise FetchError("--watch is for a broadcast: give the link of a tournament or a round on Lichess.")
    last: Any = None
    while True:
        games = read(files)
        try:
            state = [source.sha256 for source in games.sources]
            running = sum(game.tags.get("Result", "*") == "*" for game in games)
            if state != last:
                last = state
                told(f"-- {time.strftime('%H:%M:%S')}, {counted(running, 'game')} under way")
                yield games
            if not running and all(address.kind == "round" for address in rounds):
                return
        except FetchError as error:
            told(f"assay: {error} Trying again in {every} s.")
        asking.wait(every)


def in_folders(files: Sequence[str], every: int, told: Told) -> Iterator[list[str]]:
    """The files of folders, again whenever one is new or has changed; what cannot be read yet may be there later.

    A folder without games is waited for, as before the first round; one that does not exist is an error.
    """
    last: Any = None
    while True:
        try:
            found = find_files(list(files))
            state = [(path, Path(path).stat().st_mtime_ns, Path(path).stat().st_size) for path in found]
        except (AssayError, OSError) as error:
            if last is None and not all(Path(file).exists() for file in files):
                raise
            told(f"assay: {error} Trying again in {every} s.")
        else:
            if state != last:
                last = state
                told(f"-- {time.strftime('%H:%M:%S')}, {counted(len(found), 'file')}")
                yield found
        asking.wait(every)
