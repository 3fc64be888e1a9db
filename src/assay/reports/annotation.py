"""A game as PGN with our comments in it: everything that stands in the file stays, what we wrote before is replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.reports.judged import GLYPHS, NAMES

SIGNATURE = "Assay"  # in the tag Annotator: comments of ours stand in this game
EVALUATED = "[%eval"

Words = Sequence[tuple[str, str]]  # kinds and texts

_WORD = re.compile(
    r"""(?P<comment>\{[^}]*(?:\}|\Z))
      | (?P<line>;[^\n]*)
      | (?P<escape>^%[^\n]*)
      | (?P<open>\()
      | (?P<close>\))
      | (?P<result>(?:1-0|0-1|1/2-1/2|\*)(?![^\s{;()]))
      | (?P<number>\d+\.+|\d+(?=\s|\Z)|\.+)
      | (?P<nag>\$\d+)
      | (?P<other>[^\s{}();$]+|\S)""",
    re.VERBOSE | re.MULTILINE,
)
_MOVE = re.compile(
    r"(?:[NBRQK]?[a-h]?[1-8]?[x:-]?[a-h][1-8](?:=?\(?[NBRQnbrq]\)?)?|[NBRQK][a-h]?[1-8]?@?[a-h][1-8]|[O0o]-[O0o](?:-[O0o])?)"
    r"[+#]*[!?]*"
)
_BREAKS = re.compile(r"\s*\n\s*")
# Where a long comment may go on in the next line: not within a command, and no line may begin as an escape, a comment
# to the end of its line, or a tag does.
_BLANK = re.compile(r" (?=[^\s%;\[}])(?![^\[]*\])")

# Every comment that a review or a report writes; with `mark` or `name` the glyph before it is ours as well.
_SAN = r"(?:[NBRQK]?[a-h]?[1-8]?x?[a-h][1-8](?:=[NBRQ])?|O-O(?:-O)?)[+#]?"
_SHARE = r"(?:\d+|fewer\ than\ 1)\ %"
_PLAYERS = r"of\ players\ rated\ \d+"
_CHANCE = r"p\ (?:<0\.1|\d+\.\d)\ %"
_OWN = re.compile(
    rf"""\{{\ (?P<eval>\[%eval\ [^\]]+\])?\ ?(?P<arrow>\[%cal\ G\w+\])?\ ?(?P<told>
      \d+\.(?:\.\.)?{_SAN}(?P<mark>[?!]*)\ (?:
          lost\ \d+\ %\ of\ winning\ chances
            (?:;\ (?:{_SHARE}\ {_PLAYERS}\ find\ {_SAN}|{_SAN}\ was\ best|players\ rated\ \d+\ lose\ \d+\ %\ here))?
        | (?:was\ needed|is\ found\ by\ {_SHARE}\ {_PLAYERS})
            (?:,\ who\ lose\ \d+\ %\ of\ winning\ chances\ here\ on\ average)?
      )\.
      | (?:(?P<name>{"|".join(name.capitalize() for name in NAMES.values())})\.)?\ ?(?:{_SAN}\ was\ best\.)?
        \ ?(?P<chance>{_CHANCE}(?:\ engine\ {_SAN}\ [-+\#\d.]+,\ {_CHANCE})?)?
    )\ \}}""",
    re.VERBOSE,
)
_LINE = re.compile(r"\(\d+\.+ [^(){};$]*\)")


def movetext(text: str) -> str:
    """What follows the tags of a game.

    >>> movetext('[White "A"]\\n\\n1. e4 e5 *')
    '1. e4 e5 *'
    """
    lines = text.splitlines(keepends=True)
    begin = next(
        (at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("[")), len(lines)
    )
    return "".join(lines[begin:])


def words_of(text: str, tags: Mapping[str, str]) -> Words:
    """The words of a game's movetext with their kinds, a whole variation as one, without what we wrote before."""
    found = list(_kinds(movetext(text)))
    return list(_without_own(found)) if is_signed(tags) else found


def is_signed(tags: Mapping[str, str]) -> bool:
    """Whether a game has been through a review or a report."""
    return SIGNATURE in tags.get("Annotator", "").split("; ")


def signed(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags with our name among the annotators.

    >>> signed({"Annotator": "Tal, Mihail"}), signed({"Annotator": "Assay"})
    ({'Annotator': 'Tal, Mihail; Assay'}, {'Annotator': 'Assay'})
    """
    other = tags.get("Annotator", "")
    if is_signed(tags):
        return dict(tags)
    return {**tags, "Annotator": f"{other}; {SIGNATURE}" if other.strip(" ?-") else SIGNATURE}


def is_evaluated(words: Words) -> bool:
    """Whether the game came with evaluations."""
    return any(EVALUATED in word for _, word in words)


def judged(words: Words, moves: int) -> list[bool]:
    """Which of so many moves of the main line somebody has given a glyph."""
    behind = [*words[1:], ("", "")]
    found = [
        word[-1] in "!?" or after == "nag"
        for (kind, word), (after, _) in zip(words, behind, strict=True)
        if kind == "move"
    ]
    return [*found, *[False] * moves][:moves]


def annotate(
    given: Words,
    comments: Sequence[str],
    first_ply: int,
    result: str,
    *,
    glyphs: Sequence[str] = (),
    variations: Sequence[str] = (),
) -> list[str] | None:
    """The words of a movetext, with a comment behind each move of its main line ("" for none).

    Comments, glyphs and variations stay where they are; numbers are written anew. Our own glyph goes behind a move that
    has none, our own variation behind the comment. None if the text has not as many moves as there are comments: then
    nobody knows which comment belongs where.
    """
    if sum(kind == "move" for kind, _ in given) != len(comments):
        return None
    theirs = judged(given, len(comments))
    words: list[str] = []
    waiting: list[str] = []
    at, interrupted = 0, True

    def speak() -> None:
        nonlocal interrupted
        interrupted |= bool(waiting)
        words.extend(waiting)
        waiting.clear()

    for kind, word in given:
        if kind == "move":
            speak()
            ply = at + first_ply
            if ply % 2 == 0 or interrupted:
                words.append(f"{ply // 2 + 1}{'...' if ply % 2 else '.'}")
            words.append(word)
            if glyphs and glyphs[at] and not theirs[at]:
                words.append(glyphs[at])
            if comments[at]:
                waiting.append(f"{{ {comments[at]} }}")
            if variations and variations[at]:
                waiting.append(variations[at])
            interrupted, at = False, at + 1
        elif kind == "result":
            speak()
            result = word
        elif kind in ("variation", "escape"):
            speak()
            words.append(word)
            interrupted = True
        elif kind != "number":
            words.append(word)
            interrupted |= kind in ("comment", "line")
    speak()
    return [*words, result]


def _kinds(text: str) -> Iterator[tuple[str, str]]:
    """Words of the main line with their kinds; a whole variation is one word."""
    depth, inside = 0, ""
    for match in _WORD.finditer(text):
        kind, word = match.lastgroup or "", match.group()
        if kind == "comment":
            word = _BREAKS.sub(" ", word if word.endswith("}") else word + "}")
        if kind == "close":
            if not depth:
                continue
            depth -= 1
            inside += ")"
            if not depth:
                yield "variation", inside
                inside = ""
        elif kind == "open" or depth:
            depth += kind == "open"
            inside += ("" if not inside or inside.endswith(("(", "\n")) else " ") + word
            inside += "\n" * (kind == "line")
        elif kind == "other" and _MOVE.fullmatch(word):
            yield "move", word
        else:
            yield kind, word
    if inside:
        yield "variation", inside + ")" * depth


def _without_own(words: Words) -> Iterator[tuple[str, str]]:
    """The words without comments of ours, and without the glyphs and the lines that belong to these.

    An evaluation that stands alone is ours where one of our comments has one too: in a game that came with evaluations
    they never do.
    """
    own = {at: found for at, (kind, word) in enumerate(words) if kind == "comment" and (found := _OWN.fullmatch(word))}
    evaluated = any(found["told"] and found["eval"] for found in own.values())
    own = {at: found for at, found in own.items() if found["told"] or (evaluated and found["eval"])}
    marks = {name.capitalize(): mark for mark, name in NAMES.items()}
    gone, move = set(own), 0
    for at, (kind, _) in enumerate(words):
        move = at if kind == "move" else move
        if at not in own:
            continue
        mark = own[at]["mark"] or marks.get(own[at]["name"] or "")
        if mark and words[move + 1 : move + 2] == [("nag", GLYPHS.get(mark, ""))]:
            gone.add(move + 1)
        after = words[at + 1 : at + 2]
        if own[at]["arrow"] and not own[at]["chance"] and after and after[0][0] == "variation":
            gone |= {at + 1} if _LINE.fullmatch(after[0][1]) else set()
    return (word for at, word in enumerate(words) if at not in gone)


def wrap(words: Iterable[str], width: int = 80) -> str:
    """Words in lines; what runs to the end of its line has that line to itself.

    Longer comments and variations go on in the next line, as the standard has it.
    """
    lines, line = [], ""
    for word in (piece for whole in words for piece in _pieces(whole, width)):
        alone = word.startswith("%")
        if line and (alone or len(line) + 1 + len(word) > width):
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
        if alone or word.startswith(";"):
            lines.append(line)
            line = ""
    return "\n".join([*lines, line] if line else lines)


def _pieces(word: str, width: int) -> list[str]:
    """A word, or the parts between which its line may end."""
    if len(word) <= width or word[0] not in "{(" or (word[0] == "(" and ";" in word):
        return [word]
    return _BLANK.split(word)


def head_of(tags: Mapping[str, str]) -> str:
    """Tags as they stand above a game."""
    return "".join(f'[{name} "{_tag_value(value)}"]\n' for name, value in tags.items())


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def _tag_value(text: str) -> str:
    r"""A tag's value on one line, quotes and backslashes protected.

    >>> print(_tag_value('Bobby "\n[Result'))
    Bobby \" [Result
    """
    return _CONTROL.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')


def evaluation(value: int | str) -> str:
    """A value, centipawns or "#n" in White's view, as Lichess writes it into a comment.

    >>> evaluation(-35), evaluation("#-3")
    ('[%eval -0.35]', '[%eval #-3]')
    """
    return f"[%eval {value if isinstance(value, str) else f'{value / 100:.2f}'}]"


def arrow(move: str) -> str:
    """A green arrow for a move given by its squares, as Lichess and ChessBase write it into a comment.

    >>> arrow("e7e8q")
    '[%cal Ge7e8]'
    """
    return f"[%cal G{move[:4]}]"
