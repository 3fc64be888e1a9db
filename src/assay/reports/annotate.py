"""The movetext of a game with comments of ours behind its moves, and with everything that stood there before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

EVALUATED = "[%eval"

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


def annotate(text: str, comments: Sequence[str], first_ply: int, result: str) -> list[str] | None:
    """The words of a movetext, with a comment behind each move of its main line ("" for none).

    Comments, glyphs and variations stay where they are; numbers are written anew. None if the text has not as many
    moves as there are comments: then nobody knows which comment belongs where.
    """
    kinds = list(_kinds(text))
    if sum(kind == "move" for kind, _ in kinds) != len(comments):
        return None
    words: list[str] = []
    waiting, at, interrupted = "", 0, True

    def speak() -> None:
        nonlocal waiting, interrupted
        if waiting:
            words.append(f"{{ {waiting} }}")
            waiting, interrupted = "", True

    for kind, word in kinds:
        if kind == "move":
            speak()
            ply = at + first_ply
            if ply % 2 == 0 or interrupted:
                words.append(f"{ply // 2 + 1}{'...' if ply % 2 else '.'}")
            words.append(word)
            waiting, interrupted, at = comments[at], False, at + 1
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


def wrap(words: Iterable[str], width: int = 80) -> str:
    """Words in lines; what runs to the end of its line has that line to itself."""
    lines, line = [], ""
    for word in words:
        alone = word.startswith("%")
        if line and (alone or len(line) + 1 + len(word) > width):
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
        if alone or word.startswith(";"):
            lines.append(line)
            line = ""
    return "\n".join([*lines, line] if line else lines)
