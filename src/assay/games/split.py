"""Where games begin and end, told from the bytes alone: no board, no Python loop over lines.

A game starts at a tag after movetext (and at the first tag of the file). A line that looks like a tag inside a
`{comment}` is none. Movetext after a finished game and a blank line, without tags of its own, is a game too. A game
ends with its last byte that is not white space.

A comment that is never closed would swallow all that follows. So a tag counts as inside a comment only if the last
brace before it opens and the next one after it closes: an unclosed comment ends with its game.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from assay.games.lines import PADDING, USUAL_FIRST, Lines, Positions, same, usual

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
