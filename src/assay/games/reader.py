"""Games from files: buffers that hold whole games, and one game after the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from assay.errors import InputError
from assay.games.lines import PADDING
from assay.games.split import Split, split, split_open, start_within
from assay.games.stream import Stream
from assay.printable import decode

UNTAGGED = "game without tags"
OUTSIDE = "text before the first game"
TOO_LONG = "game longer than 64 MB or two million lines, its end left out"

MAX_GAME = 64 << 20
MAX_LINES = 2_000_000  # a file of empty lines must not take more memory than one of games
BLOCK = 4 << 20
_LINES = 500_000  # as many as a piece usually has, or more
_PART = 1 << 20  # this much is still in the cache when its hash is taken
_KEPT = 31 << 20

_TAG_LINE = re.compile(rb'^[ \t]*\[([A-Za-z0-9][A-Za-z0-9_+#=:-]*)[ \t]+"([^\n]*)"[ \t]*\][ \t\r]*$')
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_ESCAPED = re.compile(r'\\([\\"])')


@dataclass(frozen=True)
class Game:
    """One game as it stands in the file: its bytes and where they are in the uncompressed stream."""

    source: str
    start_offset: int
    end_offset: int
    data: bytes

    @cached_property
    def text(self) -> str:
        """The game as text: UTF-8, or Latin-1 where it is not."""
        return decode(self.data)

    @cached_property
    def tags(self) -> dict[str, str]:
        """The tag pairs; of a repeated tag the last counts.

        >>> Game("-", 0, 25, b'[White "Anand"]\\n\\n1. e4 *').tags
        {'White': 'Anand'}
        """
        tags = {}
        for line in self.data.split(b"\n"):
            if match := _TAG_LINE.match(line):
                tags[match.group(1).decode("ascii")] = unescape(decode(match.group(2)))
            elif line.strip() and not line.lstrip().startswith(b"["):
                break
        return tags


def players_of(games: Iterable[Game]) -> set[str]:
    """Who plays in these games."""
    return {name.strip() for game in games for tag in ("White", "Black") if (name := game.tags.get(tag))}


def unescape(value: str) -> str:
    r"""A tag's value without the backslashes that protect quotes and backslashes (PGN standard, section 7).

    >>> unescape(r'Robert \"Bobby\" Fischer')
    'Robert "Bobby" Fischer'
    """
    return _ESCAPED.sub(r"\1", value) if "\\" in value else value


@dataclass(frozen=True)
class Piece:
    """Bytes of a stream that hold whole games; what :func:`assay.games.split.split` needs to know about them."""

    data: bytes  # with a padding of empty lines
    base: int
    end: int
    at_start: bool
    in_game: bool
    cut: bool = False  # the last game is longer than Assay reads, and cut here
    found: Split | None = None  # its games, where they had to be found to know where it ends


def pieces(stream: Stream, *, block: int) -> Iterator[Piece]:
    """The bytes of a stream in pieces that end where a game ends.

    Memory stays bounded: a game longer than 64 MB is cut there, and its rest left out; so is one of endless lines.
    Lines that end with a carriage return alone, as on old Macs, are made to end as all others: no byte moves by that.
    """
    _keep_memory()
    held: list[bytes] = []
    base, size, look_again = 0, 0, 2 * block
    lines, blank = 0, 0
    at_start, in_game = True, False
    for data in with_line_ends(stream.parts(min(block, _PART))):
        blank = blank + len(data) if data.isspace() else 0
        if blank >= _PART:
            # Nothing goes on behind a megabyte of white space, and of what follows of it nothing is held.
            if size:
                yield Piece(b"".join([*held, PADDING]), base, base + size, at_start, in_game)
            base, held, size, lines = base + size + len(data), [], 0, 0
            at_start, in_game = False, False
            continue
        lines += _line_ends_in(data)
        # Nearly every part holds the start of a game; then nothing is copied twice.
        keep = start_within(data, held) if size + len(data) >= block or lines >= _LINES else 0
        cut, found = False, None
        if not keep:
            held.append(data)
            size += len(data)
            if size < min(look_again, MAX_GAME) and lines < MAX_LINES:
                continue
            data = b"".join(held)
            found, keep = split_open(data, at_start=at_start, in_game=in_game)
            cut = not keep and (size >= MAX_GAME or lines >= MAX_LINES)
            if not keep and not cut:
                held, look_again = [data], 2 * size
                continue
            if cut and lines < MAX_LINES:
                found = None  # its last line may be long, and is to be in it as far as it goes
            keep = keep or size
            held, size = [], 0
        end = base + size + keep
        piece = found.data if found is not None else b"".join([*held, memoryview(data)[:keep], PADDING])
        yield Piece(piece, base, end, at_start, in_game, cut, found)
        held = [data[keep:]]
        base, size, look_again, lines = end, len(held[0]), 2 * block, _line_ends_in(held[0])
        at_start, in_game = False, cut
    if size:
        yield Piece(b"".join([*held, PADDING]), base, base + size, at_start, in_game)


def with_line_ends(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes with a line feed for each carriage return that has none behind it.

    >>> list(with_line_ends([b"[White \\"Elm\\"]\\r", b"\\n\\r\\n1. e4\\re5 *\\r"]))
    [b'[White "Elm"]', b'\\r\\n\\r\\n1. e4\\ne5 *', b'\\n']
    """
    held = b""  # what a carriage return at the end of a part is, the next part tells
    for part in parts:
        data = held + part if held else part
        held = b"\r" if data.endswith(b"\r") else b""
        yield line_ends(data[:-1] if held else data)
    if held:
        yield b"\n"


def line_ends(data: bytes) -> bytes:
    """The same bytes with a line feed for each carriage return that has none behind it."""
    if b"\r" not in data:
        return data
    returns = np.frombuffer(data, np.uint8) == ord("\r")
    followed = np.frombuffer(data, np.uint8)[1:] == ord("\n")
    return data if (returns[:-1] <= followed).all() and not returns[-1] else _LONE_RETURN.sub(b"\n", data)


def _line_ends_in(data: bytes) -> int:
    """How many line feeds there are: ten times as fast as bytes.count where there are many."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))


def _keep_memory() -> None:
    """Have the C library keep what is given back to it for the next piece, which needs as much.

    By default glibc returns large blocks to the system, which hands them out again page by page, each wiped. It takes
    the largest block that was ever given back (up to 32 MB) for the limit of what is large: mallopt(3),
    M_MMAP_THRESHOLD. Elsewhere this does nothing.
    """
    np.empty(_KEPT, np.uint8)


def split_piece(piece: Piece, problems: Counter[str]) -> Split:
    """The games of a piece; what is wrong is counted in `problems`."""
    found = piece.found
    if found is None:
        found = split(piece.data, at_start=piece.at_start, in_game=piece.in_game)
    if untagged := len(found) - found.tagged():
        problems[UNTAGGED] += untagged
    if piece.at_start and found.outside:
        problems[OUTSIDE] += 1
    if piece.cut and len(found):
        problems[TOO_LONG] += 1
    return replace(found, base=piece.base)


def splits(stream: Stream, problems: Counter[str] | None = None) -> Iterator[Split]:
    """The games of a stream, buffer by buffer; each game is whole in one of them."""
    count = Counter[str]() if problems is None else problems
    for piece in pieces(stream, block=BLOCK):
        yield split_piece(piece, count)


def pick(stream: Stream, source: str, spans: Iterable[tuple[int, int]]) -> Iterator[Game]:
    """The games between these offsets, which rise."""
    at, held = 0, b""  # `held` are the bytes from `at` on
    blocks = stream.blocks()
    for start, end in spans:
        if start is None or end is None or not at <= start <= end:
            raise InputError(f"the index says that a game of {source} goes from {start} to {end}; index it again.")
        while at + len(held) < end:
            block = next(blocks, None)
            if block is None:
                raise InputError(f"{source} ends before its last game; index it again.")
            keep = max(0, min(start - at, len(held)))
            at, held = at + keep, held[keep:] + block
        yield Game(source, start, end, line_ends(held[start - at : end - at]))


def batched(games: Iterator[Game], size: int) -> Iterator[list[Game]]:
    """So many games at a time."""
    while batch := list(islice(games, size)):
        yield batch


def read_games(path: str | Path, problems: Counter[str] | None = None) -> Iterator[Game]:
    """Read the games of a file one after the other: `.pgn`, `.zst`, `.gz`, `.bz2`, or `-` for stdin.

    What is wrong with the file is counted by reason in `problems`, if given; nothing of it stops the reading.

    >>> from assay.games.samples import write_samples
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [game.tags["Result"] for game in read_games(write_samples(folder)[0])]
    ['1-0', '1-0', '1/2-1/2', '1/2-1/2', '1/2-1/2', '1-0']
    """
    with Stream(path) as stream:
        for part in splits(stream, problems):
            for start, end in zip(part.starts.tolist(), part.ends.tolist(), strict=True):
                yield Game(stream.name, part.base + start, part.base + end, part.data[start:end])
        if stream.problem and problems is not None:
            problems[stream.problem] += 1
