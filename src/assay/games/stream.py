"""Uncompressed bytes of `.pgn`, `.zst`, `.gz`, `.bz2`, `.xz`, `.zip` and stdin, whatever the name says.

The kind is told by the first bytes of the file. What can be read before a damage is handed out first; the damage is
then named in :attr:`Stream.problem`, never raised, so that the good games before it are not lost. Text in UTF-16 comes
out as UTF-8; all offsets are in what comes out.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from assay.errors import InputError
from assay.paths import File, note_input, shown

STDIN = "-"
Paths = File | Iterable[File]  # of files and folders; lists of lists are as good
INDEX_SUFFIXES = (".parquet", ".csv")
SUFFIXES = (".pgn", ".pgn.zst", ".pgn.gz", ".pgn.bz2", ".pgn.xz", ".zip")

# A block of RLE frames can grow four bytes into 128 KiB; small inputs keep even such a bomb within 64 MB.
_ZSTD_INPUT = 2 << 10
# What the program zstd takes without being asked, too; a frame can ask for 2 GB. As much for xz, whose -9 takes half.
_WINDOW = 128 << 20
_INPUT = 1 << 20
_OUTPUT = 1 << 20


class _DamagedError(Exception):
    """The compressed data ends or breaks here."""


def _new_hash() -> Any:
    import xxhash

    return xxhash.xxh3_128()


class Stream:
    """The bytes of one file, uncompressed; a context manager.

    `name` is what the bytes are said to come from, if not `path`: a copy of stdin is called stdin.
    After :meth:`blocks` has ended, `size` and `xxh128` describe the file as it lies on disk and `problem` says why
    the bytes ended early (None if they did not).
    """

    def __init__(self, path: str | Path, *, hashed: bool = False, name: str | None = None) -> None:
        self.name = name or shown(path)
        self._path = Path(path)
        self._stdin = str(path) == STDIN
        self.problem: str | None = None
        self.size = 0
        self._hash = _new_hash() if hashed else None
        try:
            self._file: IO[bytes] = sys.stdin.buffer if self._stdin else Path(path).open("rb")  # noqa: SIM115
        except OSError as error:
            raise InputError(f"cannot read {self.name}: {error.strerror or error}.") from error
        with suppress(OSError):  # stdin may be no file of the system's
            note_input(sys.stdin.fileno() if self._stdin else path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._stdin:
            self._file.close()

    @property
    def xxh128(self) -> str:
        """The hash of what has been read of the file so far, if it was asked for.

        It is to notice that a file has changed, not to withstand a forger: XXH3 does that at the speed of memory,
        where SHA-256 would take a tenth of the time of an index.
        """
        if self._hash is None:
            raise ValueError("the stream was opened without hashed=True")
        return str(self._hash.hexdigest())

    def blocks(self, size: int = 2 << 20) -> Iterator[bytes]:
        """Uncompressed bytes in blocks of at least `size`, the last one excepted."""
        held: list[bytes] = []
        length = 0
        for part in self.parts(size):
            held.append(part)
            length += len(part)
            if length >= size:
                yield held[0] if len(held) == 1 else b"".join(held)
                held, length = [], 0
        if length:
            yield b"".join(held)

    def parts(self, size: int) -> Iterator[bytes]:
        """Uncompressed bytes as they come; those of a plain file `size` at a time."""
        try:
            yield from _as_utf8(self._uncompressed(size))
        except _DamagedError as error:
            self.problem = str(error)
            self.drain()

    def _uncompressed(self, size: int) -> Iterator[bytes]:
        head = self._read(4)
        while head and len(head) < 4 and (more := self._read(4 - len(head))):
            head += more
        if head == b"\x28\xb5\x2f\xfd" or (head[1:] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
            yield from _unzstd(self._raw(head, _ZSTD_INPUT))
        elif head.startswith(b"\x1f\x8b"):
            yield from _ungzip(self._raw(head, _INPUT))
        elif head.startswith(b"BZh"):
            import bz2

            yield from _unpacked(self._raw(head, _INPUT), bz2.BZ2Decompressor, "bzip2")
        elif head == b"\xfd7zX":
            import lzma

            yield from _unpacked(self._raw(head, _INPUT), lambda: lzma.LZMADecompressor(memlimit=_WINDOW), "xz")
        elif head in (b"PK\x03\x04", b"PK\x05\x06"):
            yield from self._unzipped(head)
        else:
            yield from self._raw(head, size)

    def _unzipped(self, head: bytes) -> Iterator[bytes]:
        """The games of a zip archive, member after member: its list of contents stands at its end."""
        import tempfile

        with tempfile.TemporaryFile() if self._stdin else self._path.open("rb") as file:
            for data in self._raw(head, _INPUT):  # all of it at once, for size and hash
                if self._stdin:
                    file.write(data)
            yield from _members(file)

    def _raw(self, head: bytes, size: int) -> Iterator[bytes]:
        if head:
            yield head
        while data := self._read(size):
            yield data

    def _read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except OSError as error:
            raise InputError(f"cannot read {self.name}: {error.strerror or error}.") from error
        if self._hash is not None:
            self._hash.update(data)
        self.size += len(data)
        return data

    def raw(self) -> Iterator[bytes]:
        """What is left of the file, as it is."""
        return self._raw(b"", _INPUT)

    def drain(self) -> None:
        """Read what is left of the file and drop it, so that size and hash are those of the whole."""
        for _ in self.raw():
            pass


def _unzstd(raw: Iterator[bytes]) -> Iterator[bytes]:
    import zstandard

    new = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj
    frame: Any = None
    for data in raw:
        while data:
            frame = frame or new()
            try:
                out = frame.decompress(data)
            except zstandard.ZstdError as error:
                if "too much memory" in str(error):
                    raise _DamagedError(
                        "zstd data that needs more than 128 MB to unpack (unpack it first: zstd -d --long=31)"
                    ) from error
                raise _DamagedError(f"damaged zstd data ({error})") from error
            for begin in range(0, len(out), _OUTPUT):
                yield out[begin : begin + _OUTPUT] if len(out) > _OUTPUT else out
            data = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise _DamagedError("truncated zstd data")


def _ungzip(raw: Iterator[bytes]) -> Iterator[bytes]:
    import zlib

    member: Any = None
    for data in raw:
        while data:
            member = member or zlib.decompressobj(wbits=31)
            try:
                yield member.decompress(data, _OUTPUT)
            except zlib.error as error:
                raise _DamagedError(f"damaged gzip data ({error})") from error
            data = member.unused_data.lstrip(b"\0") if member.eof else member.unconsumed_tail
            member = None if member.eof else member
    if member is not None:
        raise _DamagedError("truncated gzip data")


def _unpacked(raw: Iterator[bytes], new: Callable[[], Any], kind: str) -> Iterator[bytes]:
    """Data of bzip2 or xz, in one stream or in several, with zeros between them."""
    import lzma

    stream: Any = None
    for data in raw:
        while data or (stream is not None and not stream.needs_input):
            stream = stream or new()
            try:
                yield stream.decompress(data, _OUTPUT)
            except (OSError, lzma.LZMAError) as error:
                raise _DamagedError(f"damaged {kind} data ({error})") from error
            data = stream.unused_data.lstrip(b"\0") if stream.eof else b""
            stream = None if stream.eof else stream
    if stream is not None:
        raise _DamagedError(f"truncated {kind} data")


def _members(file: IO[bytes]) -> Iterator[bytes]:
    import lzma
    import zipfile
    import zlib

    broken = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, UnicodeError, OSError, EOFError, RuntimeError)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise _DamagedError(f"damaged zip data ({error})") from error
    with archive:
        inside = [member for member in archive.infolist() if not member.filename.endswith("/")]  # a name may be empty
        games = [member for member in inside if member.filename.lower().endswith(".pgn")]
        if not games and len(inside) != 1:
            raise _DamagedError(f"zip archive without a PGN file ({len(inside)} other files)")
        for member in games or inside:
            try:
                with archive.open(member) as one:
                    # Each member may have an encoding of its own.
                    yield from _as_utf8(iter(lambda one=one: one.read(_OUTPUT), b""))  # type: ignore[misc]
            except broken as error:
                raise _DamagedError(f"damaged or locked zip data ({error})") from error
            yield b"\n\n"


def _as_utf8(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Bytes in UTF-16, told by their mark or by the first bracket of a tag, as UTF-8; all others as they are."""
    head = b""
    for part in parts:
        head += part
        if len(head) >= 2:
            break
    if head.startswith((codecs.BOM_UTF16_LE, b"[\0")):
        kind = "utf-16-le"
    elif head.startswith((codecs.BOM_UTF16_BE, b"\0[")):
        kind = "utf-16-be"
    else:
        if head:
            yield head
        yield from parts
        return
    decoder = codecs.getincrementaldecoder(kind)(errors="replace")
    yield decoder.decode(head).removeprefix("\ufeff").encode()
    for part in parts:
        yield decoder.decode(part).encode()
    yield decoder.decode(b"", final=True).encode()


def is_index(path: str | Path) -> bool:
    """Whether a file is an index by its name."""
    return str(path).lower().endswith(INDEX_SUFFIXES)


def is_name(given: object, *, alone: bool) -> bool:
    """Whether something given in the place of a game, or of all games if it is alone, is the name of a file."""
    if not isinstance(given, str):
        return isinstance(given, PathLike)
    return given.lower().endswith((*SUFFIXES, *INDEX_SUFFIXES)) or (
        alone and "\n" not in given and (exists(given) or is_elsewhere(given))
    )


def content_hash(path: str | Path) -> str:
    """The hash of a file as it lies on disk, packed or not."""
    with Stream(path, hashed=True) as stream:
        stream.drain()
        return stream.xxh128


def find_files(paths: Paths, frames: dict[str, Any] | None = None) -> list[str]:
    """The files that `paths` name: files, `-` and addresses as they are, folders searched for PGN files, by name."""
    found: list[str] = []
    for path in _each(paths, frames):
        if path == STDIN or path in (frames or ()):
            found.append(path)
        elif exists(path) and Path(path).is_dir():
            # Only files: a pipe would be waited for, a link that leads nowhere or a folder cannot be read.
            named = (file for file in Path(path).rglob("*") if file.name.lower().endswith(SUFFIXES))
            inside = sorted(str(file) for file in named if file.is_file())
            if not inside:
                raise InputError(f"no PGN file in the folder {path} (looked for {', '.join(SUFFIXES)}).")
            found += inside
        elif exists(path):
            found.append(path)
        elif is_elsewhere(path):
            from assay.fetch.address import parse

            parse(path)  # what is wrong with it is said before anything is read
            found.append(path)
        else:
            raise InputError(f"there is no file {path}.")
    return found


def _each(paths: object, frames: dict[str, Any] | None = None) -> Iterator[str]:
    """The names among names, paths, and lists of them; a frame is noted in `frames` under a name of its own."""
    if isinstance(paths, str | PathLike) and (name := fspath(paths)) and isinstance(name, str):
        yield name
    elif frames is not None and is_frame(paths):
        name = f"table {len(frames) + 1}"
        frames[name] = paths
        yield name
    elif isinstance(paths, Iterable) and not isinstance(paths, str | bytes | PathLike | Mapping):
        for path in paths:
            yield from _each(path, frames)
    else:
        raise InputError(f"{paths!r:.80} names no file: give a path, a list of paths, or '-' for stdin.")


def is_frame(given: object) -> bool:
    """Whether something is a frame of polars or pandas."""
    return hasattr(given, "columns") and (hasattr(given, "iter_rows") or hasattr(given, "itertuples"))


def is_elsewhere(name: str) -> bool:
    """Whether games are to be fetched: there is no such file, and it reads like an address."""
    if name == STDIN or ":" not in name:
        return False
    from assay.fetch.address import is_address

    return is_address(name) and not exists(name)


def exists(path: str) -> bool:
    """Whether there is such a file or folder; a name that none can have is not there."""
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):
        return False
