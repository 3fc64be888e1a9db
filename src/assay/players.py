"""Who is meant by a name, small files of players, and who is in which set by a hash of the name."""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from assay.errors import AssayWarning, InputError, RatingError
from assay.paths import File
from assay.printable import decode

# Beyond this no number of such a file means anything.
MOST = 1e6
ORDER = " A row is main,other,...: the name to be shown, then those that stand for it."
_NEAR = 0.75
_NOBODY = frozenset({"", "?", "-"})
_FEDERATION = re.compile(r"\s*\(\s*[A-Za-z]{2,3}\s*\)\s*$|(?<=[a-z.])\s+[A-Z]{3}\s*$")
_OTHER_SIGNS = re.compile(r"[\W_]+")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})
_LISTED = 3
NEARLY_ALL, FEWEST_GAMES = 0.9, 6


def read_lines(path: File) -> list[str]:
    """The lines of a small text file, in UTF-8 or else in Latin-1."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    return decode(data).removeprefix("\ufeff").splitlines()


def read_rows(path: File, fewest: int, *, remarks: bool = False) -> list[tuple[int, list[str]]]:
    """The rows of a small CSV file with the number of their line; blank ones (and `remarks`, with a #) are left out."""
    rows = []
    reader = csv.reader(read_lines(path), skipinitialspace=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells) or (remarks and cells[0].startswith("#")):
                continue
            if len(cells) < fewest:
                raise InputError(f"{path}, line {reader.line_num}: {fewest} fields are needed, there are {len(cells)}.")
            rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from error
    return rows


def number(path: File, line: int, text: str) -> float:
    """A number of such a file."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f'{path}, line {line}: "{text}" is not a number.')
    if abs(value) > MOST:
        raise InputError(f'{path}, line {line}: "{text}" is too large a number (at most {MOST:,.0f}).')
    return value


def read_aliases(path: File, present: Collection[str] | None = None, *, lenient: bool = False) -> dict[str, str]:
    """Main name by other name from a CSV file: rows of main,other,other,...

    With the names that are `present` in the games, a row is an error if none of its other names is among them: it is
    misspelt, or its main name does not stand first. If `lenient` (or if most rows are about others than play here, as
    in a list kept for many events), it is told in a warning.
    """
    rows = [
        (line, cells[0], [name for name in cells[1:] if name and name != cells[0]])
        for line, cells in read_rows(path, 1, remarks=True)
    ]
    aliases: dict[str, str] = {}
    for line, main, others in rows:
        for other in others:
            if aliases.setdefault(other, main) != main:
                raise InputError(
                    f'{path}, line {line}: "{other}" stands for "{main}" here and for "{aliases[other]}" above; '
                    f"leave out one of them.{ORDER}"
                )
    for line, main, _ in rows:
        if main in aliases:
            raise InputError(
                f'{path}, line {line}: "{main}" is another name of "{aliases[main]}" in another row; put all names of '
                "a player into one row, the one that is to be shown first."
            )
    if rows and not aliases:
        raise InputError(f"{path}: no row has another name, with a comma before it.{ORDER}")
    if present is None:
        return aliases
    strangers = [
        (line, [name for name in (*others, main) if name not in present])
        for line, main, others in rows
        if others and not _any_of(others, present)
    ]
    named = {name for _, main, others in rows for name in (main, *others)}
    free = [name for name in present if name not in named]
    turned = [others[0] for _, main, others in rows if main in present and not _any_of(others, present)]
    hint = f'{ORDER} If "{turned[0]}" is to be shown, put it first.' if turned else ""
    _refuse(path, strangers, len(rows) - len(strangers), free, hint, lenient)
    return aliases


def read_ratings(path: File) -> dict[str, float]:
    """Ratings by player from a CSV file of names and ratings; a header is passed over."""
    ratings = {}
    for place, (line, cells) in enumerate(read_rows(path, 1, remarks=True)):
        if len(cells) != 2:
            raise InputError(
                f"{path}, line {line}: expected a name and a rating (two columns), and there are {len(cells)}."
            )
        try:
            rating = float(cells[1])
        except ValueError:
            rating = math.nan
        if math.isfinite(rating) and abs(rating) <= MOST:
            ratings[cells[0]] = rating
        elif place:
            raise InputError(f"{path}, line {line}: {cells[1]!r} is not a rating.")
    if not ratings:
        raise InputError(f"{path} holds no ratings: it needs lines with a name and a rating.")
    return ratings


def main_ratings(path: File, ratings: Mapping[str, float], aliases: Mapping[str, str]) -> dict[str, float]:
    """Ratings by main name; a player cannot have two."""
    found: dict[str, float] = {}
    for name, rating in ratings.items():
        main = aliases.get(name, name)
        if found.setdefault(main, rating) != rating:
            raise InputError(f'{path} rates "{main}" twice, under different names, as {found[main]:g} and {rating:g}.')
    return found


def given_rows(
    given: object, names: int, numbers: int, present: Collection[str], aliases: Mapping[str, str]
) -> list[tuple[Any, ...]]:
    """Names of players with their numbers: rows of a file, or a mapping, or tuples; the names are those of players.

    A name that nobody bears is an error, which tells the nearest one.
    """
    if given is None:
        return []
    if isinstance(given, str | PathLike):
        rows: list[tuple[str, tuple[Any, ...]]] = [
            (
                f"{given}, line {line}",
                (*cells[:names], *(number(given, line, cell) for cell in cells[names : names + numbers])),
            )
            for line, cells in read_rows(given, names + numbers)
        ]
    else:
        pairs = given.items() if isinstance(given, Mapping) else ((row[:names], row[names:]) for row in given)  # type: ignore[attr-defined]
        rows = [("anchors", (*_several(who), *_several(values))) for who, values in pairs]

    def player(name: str, place: str) -> str:
        main = aliases.get(name, name)
        if main not in present:
            hint = did_you_mean(nearest(name, present)) or " Check spelling, capitals and spaces."
            raise RatingError(f'{place}: no games of "{name}".{hint}')
        return main

    found = [(*(player(name, place) for name in row[:names]), *row[names:]) for place, row in rows]
    first: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row, (place, _) in zip(found, rows, strict=True):
        if first.setdefault(row[:names], row) != row:
            who = " and ".join(f'"{name}"' for name in row[:names])
            told = f"{first[row[:names]][names]:g} and {row[names]:g}"
            raise RatingError(f"{place}: {who} is given twice, with {told}: leave out one of them.")
    return found


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def read_start(path: File | None) -> dict[str, float]:
    """Ratings of an earlier list: a CSV file with columns PLAYER and RATING, or rows of name, rating."""
    if path is None:
        return {}
    rows = read_rows(path, 2)
    name, rating = 0, 1
    if rows:
        head = [cell.lower() for cell in rows[0][1]]
        if "player" in head and "rating" in head:
            name, rating = head.index("player"), head.index("rating")
            rows = rows[1:]
    return {cells[name]: number(path, line, cells[rating]) for line, cells in rows if len(cells) > max(name, rating)}


def read_list(path: File) -> list[str]:
    """The files named in a file, one in each line, in quotes or not."""
    named = [line.strip().strip('"') for line in read_lines(path) if line.strip()]
    if not named:
        raise InputError(f"{path} names no files: it needs the name of a file of games in each line.")
    return named


def check_ratings(path: File, ratings: Mapping[str, float], present: Collection[str]) -> None:
    """Refuse ratings of people who do not play, unless most rows are about others than play here (a whole list)."""
    lines = {cells[0]: line for line, cells in read_rows(path, 1, remarks=True)}
    strangers = [(lines[name], [name]) for name in ratings if name not in present]
    free = [name for name in present if name not in ratings]
    _refuse(path, strangers, len(ratings) - len(strangers), free, "", lenient=False)


def _any_of(names: Sequence[str], present: Collection[str]) -> bool:
    return any(name in present for name in names)


def _refuse(
    path: File,
    strangers: Sequence[tuple[int, Sequence[str]]],
    known: int,
    free: Collection[str],
    hint: str,
    lenient: bool,
) -> None:
    """Raise for rows that name nobody; in a list of many more than play here only for what looks misspelt."""
    if not strangers:
        return
    for line, names in strangers:
        near = next((found for name in names if (found := nearest(name, free))), None)
        if near is None and (lenient or len(strangers) > known > 0):
            continue
        shown = " or ".join(f'"{name}"' for name in names[:_LISTED])
        sentence = f"{path}, line {line}: nobody is called {shown} in these games.{did_you_mean(near)}{hint}"
        if not lenient:
            raise InputError(sentence)
        warnings.warn(sentence, AssayWarning, stacklevel=3)
    first = ", ".join(f'"{names[0]}"' for _, names in strangers[:_LISTED])
    rest = ", ..." if len(strangers) > _LISTED else ""
    warnings.warn(
        f"{path}: {len(strangers):,} of {len(strangers) + known:,} rows name nobody in these games ({first}{rest}).",
        AssayWarning,
        stacklevel=3,
    )


def plain_name(name: str) -> str:
    """A player's name without what its spellings differ in: case, accents, punctuation, a federation behind it.

    >>> plain_name("Nepomniachtchi,Ian"), plain_name("NEPOMNIACHTCHI, Ian (RUS)"), plain_name("Sjöström, Åke SWE")
    ('nepomniachtchi ian', 'nepomniachtchi ian', 'sjostrom ake')
    >>> plain_name("?"), plain_name("Stockfish 1.5") == plain_name("Stockfish 15")
    ('', False)
    """
    text = name.strip()
    if text in _NOBODY:
        return ""
    text = _FEDERATION.sub("", text) or text
    if not text.isascii():
        import unicodedata

        apart = unicodedata.normalize("NFKD", text.casefold()).translate(_LETTERS)
        text = "".join(c for c in apart if not unicodedata.combining(c)) or text
    return _OTHER_SIGNS.sub(" ", text.lower()).strip() or name


def nearest(name: str, names: Collection[str]) -> str | None:
    """The one of these names that is likely to be meant: the same but for case, accents and order, or nearly so.

    >>> nearest("Garry Kasparov", ["Karpov, Anatoly", "Kasparov, Garry"]), nearest("Elm", ["Oak"])
    ('Kasparov, Garry', None)
    """

    def plain(text: str) -> str:
        return " ".join(sorted(plain_name(text).split()))

    from difflib import SequenceMatcher

    wanted = plain(name)
    best, found = _NEAR, None
    for other in names:
        compare = SequenceMatcher(None, wanted, plain(other))
        if compare.real_quick_ratio() >= best and compare.quick_ratio() >= best and compare.ratio() >= best:
            best, found = compare.ratio(), other
            if best == 1.0:
                break
    return found


def did_you_mean(near: str | None) -> str:
    """The question at the end of a sentence about a name, if there is somebody to ask about."""
    return f' Did you mean "{near}"?' if near else ""


SPLITS = ("train", "validation", "test")
SHARES = (0.8, 0.1, 0.1)

_UNKNOWN = frozenset({"", "?", "-", "nn", "n.n.", "n. n.", "unknown", "anonymous"})


def is_known(name: str | None) -> bool:
    """Whether a tag names somebody.

    >>> is_known("Carlsen, Magnus"), is_known("?"), is_known(None)
    (True, False, False)
    """
    return name is not None and name.strip().lower() not in _UNKNOWN


def hash64(text: str | bytes) -> int:
    """A 64-bit number that stands for a text, the same on every machine."""
    data = text.encode() if isinstance(text, str) else text
    import hashlib

    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def split_of(number: int) -> str:
    """The set of a player or game with this hash: 80 % train, 10 % validation, 10 % test."""
    place = number / 2**64
    return SPLITS[0] if place < SHARES[0] else SPLITS[1] if place < SHARES[0] + SHARES[1] else SPLITS[2]


def splits_of_game(white: str | None, black: str | None, moves: bytes) -> tuple[str, str]:
    """The sets of both players of a game.

    Where a name is unknown, the game itself is hashed (by its moves, so that a game and its copies stay together), and
    both belong to its set.
    """
    if white is not None and black is not None and is_known(white) and is_known(black):
        return split_of(hash64(_plain(white))), split_of(hash64(_plain(black)))
    whole = split_of(hash64(moves))
    return whole, whole


def player_id(name: str | None) -> int | None:
    """A number that stands for a player, or None if the name is unknown."""
    return hash64(_plain(name)) if name is not None and is_known(name) else None


def _plain(name: str) -> str:
    return " ".join(name.lower().replace(",", ", ").split())


def guessed(names: Sequence[tuple[str, str]], *, one: bool = False) -> str | None:
    """Whose games these are: the one name that is in nearly all of them, if there is one.

    Where it is said that they are `one` player's, few games will do, and an opponent who is in most of them.

    >>> guessed([("Elm", f"N{n}") for n in range(5)] + [("N7", "Elm"), ("N8", "N9")]), guessed([("A", "B")] * 9)
    (None, None)
    >>> guessed([("Elm", f"N{n}") for n in range(9)]), guessed([("Elm", "Oak"), ("Elm", "Ash")], one=True)
    ('Elm', 'Elm')
    """
    if len(names) < FEWEST_GAMES and not one:
        return None
    counts = Counter(name for pair in names for name in set(pair) if name.strip("? "))
    often = [(count, name) for name, count in counts.most_common(2)]
    if not often or often[0][0] < NEARLY_ALL * len(names):
        return None
    second = often[1][0] if len(often) > 1 else 0
    return often[0][1] if second < (often[0][0] if one else len(names) / 2) else None
