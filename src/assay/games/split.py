"""Games in bytes: where they begin and end, told from the bytes alone; no board, no Python loop over lines.

A game starts at a tag after movetext (and at the first tag of the file). A line that looks like a tag inside a
`{comment}` is none. Movetext after a finished game and a blank line, without tags of its own, is a game too. A game
ends with its last byte that is not white space.

A comment that is never closed would swallow all that follows. So a tag counts as inside a comment only if the last
brace before it opens and the next one after it closes: an unclosed comment ends with its game.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games.lines import PADDING, USUAL_FIRST, Lines, Positions, same, usual
from assay.games.stream import Stream
from assay.printable import decode
from assay.records import dataclass

_TAILS = (8 << 10, 64 << 10)  # how much of the end of a block is looked at for the start of a game

_TAG_NAME = re.compile(rb"\[([A-Za-z0-9_+#=:-]+)")
_MOVES = re.compile(rb"\s*(?:\{|\d+\s*\.|(?:1-0|0-1|1/2-1/2|\*)\s)")
_FINISHED = re.compile(rb"(?:1-0|0-1|1/2-1/2|\*)\s*$")


@dataclass(frozen=True)
class Split:
    """The games of one buffer.

    `starts` and `ends` are positions in `data`; `base` is the position of `data` in the uncompressed stream. The
    tag lines run from `tag_starts` to `tag_ends` (without the line's end); `tag_games` tells the game of each and
    `tag_words` its first eight bytes behind the bracket; `tag_counts` tells how many each game has.
    `rare` holds those of the characters `%\\{();` and tab that stand anywhere; `ascii` tells whether all is ASCII.
    `data` ends with a few empty lines, so that words can be read at any position of `padded`, its bytes. `outside`
    tells of text before the first game that is none.
    """

    data: bytes
    padded: npt.NDArray[np.uint8]
    starts: Positions
    ends: Positions
    tag_starts: Positions
    tag_ends: Positions
    tag_games: Positions
    tag_counts: Positions
    tag_words: npt.NDArray[np.uint64]
    rare: bytes
    ascii: bool
    outside: bool = False
    base: int = 0

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def movetext_starts(self) -> Positions:
        """Where the movetext of each game begins: with the end of its last tag's line, or of the line before."""
        begin = np.maximum(self.starts - 1, 0)
        tagged = self.tag_counts > 0
        begin[tagged] = self.tag_ends[np.cumsum(self.tag_counts)[tagged] - 1]
        return np.minimum(begin, self.ends)  # a game of tags alone ends before the white space of its last line

    def tagged(self) -> int:
        """How many of the games have a tag."""
        return int(np.count_nonzero(self.tag_counts))

    def without_last(self) -> Split:
        """All games but the last."""
        tags = len(self.tag_games) - int(self.tag_counts[-1])
        return replace(
            self,
            starts=self.starts[:-1],
            ends=self.ends[:-1],
            tag_starts=self.tag_starts[:tags],
            tag_ends=self.tag_ends[:tags],
            tag_games=self.tag_games[:tags],
            tag_counts=self.tag_counts[:-1],
            tag_words=self.tag_words[:tags],
        )


def split(data: bytes, *, at_start: bool = True, last: bool = True, in_game: bool = False) -> Split:
    """Find the games in a buffer.

    `at_start`: the buffer is the start of the stream. `last`: nothing follows it. `in_game`: it begins in the
    middle of a game, whose rest is left out.
    """
    if not data.endswith(PADDING):
        data += PADDING
    lines = Lines(data, at_start=at_start)
    heads, before = _tag_heads(lines, last=last)
    is_tag = np.zeros(len(lines.starts) + 1, np.bool_)  # one more, so that line -1 is none
    is_tag[lines.tags] = True
    after_text = ~is_tag[before]
    starting = heads[after_text]
    if not after_text.all():
        starting = np.sort(np.append(starting, _repeated_heads(lines, heads, after_text)))
    untagged, outside = _untagged(lines, is_tag, last=last, in_game=in_game)
    if len(untagged):
        starting = np.sort(np.append(starting, untagged))

    starts = lines.starts[starting]
    ends = _without_space(lines, np.append(starts, len(data) - len(PADDING))[1:])
    first_tag = np.searchsorted(lines.tags, starting)
    own = slice(first_tag[0] if len(starting) else len(lines.tags), None)
    tag_counts = np.diff(np.append(first_tag, len(lines.tags)))
    return Split(
        data=data,
        padded=lines.padded,
        starts=starts,
        ends=ends,
        tag_starts=lines.tag_starts[own],
        tag_ends=lines.ends[lines.tags[own]],
        tag_games=np.repeat(np.arange(len(starting)), tag_counts),
        tag_counts=tag_counts,
        tag_words=lines.tag_words[own],
        rare=lines.rare,
        ascii=lines.ascii,
        outside=outside,
    )


def split_open(data: bytes, *, at_start: bool, in_game: bool) -> tuple[Split, int]:
    """The games of a buffer that goes on, but for the last, and where that starts; all and 0 if there is no other.

    What stands before the start of a game does not depend on what follows it: the games are those of the bytes before.
    """
    whole = data[: data.rfind(b"\n") + 1]  # what a line is that breaks off here, the next block tells
    found = split(whole, at_start=at_start, last=False, in_game=in_game)
    start = int(found.starts[-1]) if len(found) else 0
    return (found.without_last(), start) if start else (found, 0)


def start_within(data: bytes, held: Sequence[bytes]) -> int:
    """Where a game starts near the end of this block, as far as the block alone can tell; else 0.

    Whether a game starts at a line depends only on what is near, so a small part of the block is enough. `held` is
    what came before the block, since the last game that was found.
    """
    end = data.rfind(b"\n") + 1  # what a line is that breaks off here, the next block tells
    for size in _TAILS:
        begin = data.find(b"\n", max(0, end - size)) + 1
        tail = split(data[begin:end], at_start=False, last=False, in_game=True)
        if len(tail):
            start = begin + int(tail.starts[-1])
            # Only behind movetext: the tail may begin amid the tags of a game, where a repeated tag means nothing.
            before = data[begin:start].rstrip()
            after_text = before and not before[before.rfind(b"\n") + 1 :].lstrip().startswith(b"[")
            if after_text and not _may_be_in_comment(data, start, held):
                return start
    return 0


def _may_be_in_comment(data: bytes, at: int, held: Sequence[bytes]) -> bool:
    """Whether the last brace before this place opens."""
    if b"{" not in data and not any(b"{" in block for block in held):
        return False
    for block, end in ((data, at), *((block, len(block)) for block in reversed(held))):
        opening, closing = block.rfind(b"{", 0, end), block.rfind(b"}", 0, end)
        if opening != closing:
            return opening > closing
    return False


def _tag_heads(lines: Lines, *, last: bool) -> tuple[Positions, Positions]:
    """The first tag line of each run of tag lines, and the nearest line with text before it.

    A line that repeats the first tag of its run, or follows a first line that broke off, is a head too: a game that
    broke off in its tags stands before it.
    Lines that only look like tags are taken out of `lines.tags` on the way.
    """
    while True:
        tags = lines.tags
        is_head = np.ones(len(tags), np.bool_)
        np.not_equal(tags[1:], tags[:-1] + 1, out=is_head[1:])
        firsts, first_words = tags[is_head], lines.tag_words[is_head]
        right = lines.are_tags(firsts, first_words)
        if lines.in_comment(firsts, last=last).any():
            # One comment can hold many such lines: look at all of them at once.
            lines.keep_tags(~lines.in_comment(tags, last=last))
        elif not right.all():
            lines.keep_tags(_from_first_right(lines, is_head, right))
        else:
            break
    heads, words = is_head.copy(), lines.tag_words
    for name in USUAL_FIRST:
        begins = same(first_words, name + b' "')
        if begins.any():
            again = same(words, name + b' "') & ~is_head
            if again.any():
                run = np.cumsum(is_head) - 1
                heads |= again & begins[run]
    broken = firsts[~usual(first_words)]
    behind = np.array([line + 1 for line in broken.tolist() if lines.is_broken(line)], np.int64)
    if len(behind):
        follow = np.flatnonzero(np.isin(tags, behind))
        heads[follow[lines.are_tags(tags[follow], words[follow])]] = True
    return tags[heads], lines.nonblank_before(tags[heads])


def _from_first_right(
    lines: Lines, is_head: npt.NDArray[np.bool_], right: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Which tag lines are left if each run begins with the first that is one, not with lines that only look so."""
    run = np.cumsum(is_head) - 1
    doubtful = np.flatnonzero(~right[run])
    good = lines.are_tags(lines.tags[doubtful], lines.tag_words[doubtful])
    good_so_far = np.cumsum(good)
    first = np.searchsorted(doubtful, np.flatnonzero(is_head)[~right])  # of each doubtful run
    before: Positions = (good_so_far - good)[first]  # good ones in the runs before
    keep = np.ones(len(lines.tags), np.bool_)
    which = np.searchsorted(first, np.arange(len(doubtful)), side="right") - 1
    keep[doubtful] = good_so_far > before[which]
    return keep


def _repeated_heads(lines: Lines, heads: Positions, after_text: npt.NDArray[np.bool_]) -> Positions:
    """Heads that follow other tags and blank lines only: a new game if they repeat the first tag of the game before.

    Files of results without any movetext look so.
    """
    found = []
    current = None
    for head, after in zip(heads.tolist(), after_text.tolist(), strict=True):
        match = _TAG_NAME.match(lines.data, lines.starts[head])
        name = match.group(1) if match else None
        if after:
            current = name
        elif name in (current, b"Event") or lines.is_broken(head - 1):
            found.append(head)
            current = name
    return np.array(found, np.int64)


def _untagged(lines: Lines, is_tag: npt.NDArray[np.bool_], *, last: bool, in_game: bool) -> tuple[Positions, bool]:
    """The lines where games without tags start, and whether the buffer starts with text that is no game.

    Such a game stands at the start of the stream, or after a finished game and a blank line.
    """
    paragraphs = np.flatnonzero(~lines.blank[:-1] & np.append(True, lines.blank[:-2]) & ~is_tag[:-1])
    before = lines.nonblank_before(paragraphs)
    odd = ~is_tag[before]  # almost all follow their game's tags
    found, outside = [], False
    for line, previous in zip(paragraphs[odd].tolist(), before[odd].tolist(), strict=True):
        moves = _MOVES.match(lines.data, int(lines.starts[line])) is not None
        if previous < 0:
            outside = not (moves or in_game)
            moves = moves and not in_game
        elif moves:
            tail = lines.data[max(0, int(lines.ends[previous]) - 16) : int(lines.ends[previous])]
            moves = bool(_FINISHED.search(tail))
        if moves:
            found.append(line)
    starting = np.array(found, np.int64)
    if len(starting):
        # All at once: each look for the braces before a line begins at the line before.
        starting = starting[
            ~lines.in_comment(starting, last=last) | (before[np.searchsorted(paragraphs, starting)] < 0)
        ]
    return starting, outside


def _without_space(lines: Lines, ends: Positions) -> Positions:
    """Move each end back over white space."""
    ends = ends.copy()
    moving = np.arange(len(ends))
    for _ in range(16):
        byte = lines.padded[ends[moving] - 1]
        moving = moving[(byte <= 32) & (byte > 0)]
        if not len(moving):
            return ends
        ends[moving] -= 1
    for i in moving:
        while 0 < lines.data[ends[i] - 1] <= 32:
            ends[i] -= 1
    return ends


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


def tag_line(name: str, value: str) -> str:
    r"""A tag pair as it stands in a file.

    >>> print(tag_line("White", 'Robert "Bobby" Fischer'))
    [White "Robert \"Bobby\" Fischer"]
    """
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


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
                yield Piece(b"".join(held).rstrip() + PADDING, base, base + size, at_start, in_game)
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
        yield Piece(b"".join(held).rstrip() + PADDING, base, base + size, at_start, in_game)


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
