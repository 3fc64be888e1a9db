"""Openings by name: families of the ECO code, and the moves that lead to them, for files without tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

_CODE = re.compile(r"[A-E]\d\d")

# First and last code, the name, and the moves by which a game is told where no tag does it. Of several that fit, the
# narrower range and the longer line count.
FAMILIES = """
A00 A00 Irregular opening|
A00 A00 Polish opening|b4
A00 A00 Grob|g4
A01 A01 Larsen's opening|b3
A02 A03 Bird's opening|f4
A04 A06 Réti opening|Nf3
A07 A08 King's Indian attack|Nf3 d5 g3
A09 A09 Réti opening|Nf3 d5 c4
A10 A39 English opening|c4
A20 A29 English opening, reversed Sicilian|c4 e5
A30 A39 English opening, symmetrical|c4 c5
A40 A41 Queen's pawn game|d4
A42 A42 Modern defence|d4 g6 c4 Bg7 Nc3 d6
A43 A44 Old Benoni|d4 c5
A45 A46 Indian game|d4 Nf6
A45 A45 Trompowsky attack|d4 Nf6 Bg5
A46 A46 Torre attack|d4 Nf6 Nf3 e6 Bg5
A48 A49 East Indian|d4 Nf6 Nf3 g6
A48 A48 London system|d4 Nf6 Nf3 g6 Bf4
A50 A50 Indian game|d4 Nf6 c4
A51 A52 Budapest gambit|d4 Nf6 c4 e5
A53 A55 Old Indian|d4 Nf6 c4 d6
A56 A56 Benoni|d4 Nf6 c4 c5
A57 A59 Benko gambit|d4 Nf6 c4 c5 d5 b5
A60 A79 Modern Benoni|d4 Nf6 c4 c5 d5 e6
A80 A99 Dutch defence|d4 f5
A87 A89 Leningrad Dutch|d4 f5 c4 Nf6 g3 g6
B00 B00 Irregular defence to 1.e4|e4
B00 B00 Nimzowitsch defence|e4 Nc6
B00 B00 Owen's defence|e4 b6
B01 B01 Scandinavian defence|e4 d5
B02 B05 Alekhine's defence|e4 Nf6
B06 B06 Modern defence|e4 g6
B07 B09 Pirc defence|e4 d6
B10 B19 Caro-Kann|e4 c6
B12 B12 Caro-Kann, advance|e4 c6 d4 d5 e5
B13 B14 Caro-Kann, exchange and Panov|e4 c6 d4 d5 exd5
B18 B19 Caro-Kann, classical|e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5
B20 B99 Sicilian|e4 c5
B21 B21 Sicilian, Smith-Morra and Grand Prix|e4 c5 d4
B22 B22 Sicilian, Alapin|e4 c5 c3
B23 B26 Sicilian, closed|e4 c5 Nc3
B27 B29 Sicilian|e4 c5 Nf3
B30 B31 Sicilian, Rossolimo|e4 c5 Nf3 Nc6 Bb5
B32 B32 Sicilian, Löwenthal and others|e4 c5 Nf3 Nc6 d4
B33 B33 Sicilian, Sveshnikov|e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5
B34 B39 Sicilian, accelerated dragon|e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6
B40 B40 Sicilian|e4 c5 Nf3 e6
B41 B43 Sicilian, Kan|e4 c5 Nf3 e6 d4 cxd4 Nxd4 a6
B44 B49 Sicilian, Taimanov|e4 c5 Nf3 e6 d4 cxd4 Nxd4 Nc6
B50 B50 Sicilian|e4 c5 Nf3 d6
B51 B52 Sicilian, Moscow|e4 c5 Nf3 d6 Bb5+
B54 B59 Sicilian, classical|e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6
B60 B69 Sicilian, Richter-Rauzer|e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6 Bg5
B70 B79 Sicilian, dragon|e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6
B80 B89 Sicilian, Scheveningen|e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 e6
B90 B99 Sicilian, Najdorf|e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6
C00 C19 French defence|e4 e6
C01 C01 French defence, exchange|e4 e6 d4 d5 exd5
C02 C02 French defence, advance|e4 e6 d4 d5 e5
C03 C09 French defence, Tarrasch|e4 e6 d4 d5 Nd2
C10 C10 French defence, Rubinstein|e4 e6 d4 d5 Nc3 dxe4
C11 C14 French defence, classical|e4 e6 d4 d5 Nc3 Nf6
C15 C19 French defence, Winawer|e4 e6 d4 d5 Nc3 Bb4
C20 C20 King's pawn game|e4 e5
C21 C22 Centre game|e4 e5 d4
C23 C24 Bishop's opening|e4 e5 Bc4
C25 C29 Vienna game|e4 e5 Nc3
C30 C39 King's gambit|e4 e5 f4
C40 C40 King's knight opening|e4 e5 Nf3
C41 C41 Philidor's defence|e4 e5 Nf3 d6
C42 C43 Petrov's defence|e4 e5 Nf3 Nf6
C44 C44 Open game|e4 e5 Nf3 Nc6
C44 C44 Ponziani|e4 e5 Nf3 Nc6 c3
C45 C45 Scotch game|e4 e5 Nf3 Nc6 d4
C46 C46 Three knights|e4 e5 Nf3 Nc6 Nc3
C47 C49 Four knights|e4 e5 Nf3 Nc6 Nc3 Nf6
C50 C54 Italian game|e4 e5 Nf3 Nc6 Bc4
C51 C52 Evans gambit|e4 e5 Nf3 Nc6 Bc4 Bc5 b4
C55 C59 Two knights defence|e4 e5 Nf3 Nc6 Bc4 Nf6
C60 C99 Ruy Lopez|e4 e5 Nf3 Nc6 Bb5
C65 C67 Ruy Lopez, Berlin|e4 e5 Nf3 Nc6 Bb5 Nf6
C68 C69 Ruy Lopez, exchange|e4 e5 Nf3 Nc6 Bb5 a6 Bxc6
C80 C83 Ruy Lopez, open|e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Nxe4
C84 C99 Ruy Lopez, closed|e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7
D00 D00 Queen's pawn game|d4 d5
D00 D00 London system|d4 d5 Bf4
D01 D01 Veresov and Jobava|d4 d5 Nc3
D02 D02 London system|d4 d5 Nf3 Nf6 Bf4
D02 D02 Queen's pawn game|d4 d5 Nf3
D03 D03 Torre attack|d4 d5 Nf3 Nf6 Bg5
D04 D05 Colle system|d4 d5 Nf3 Nf6 e3
D06 D06 Queen's gambit|d4 d5 c4
D07 D07 Chigorin defence|d4 d5 c4 Nc6
D08 D09 Albin countergambit|d4 d5 c4 e5
D10 D19 Slav defence|d4 d5 c4 c6
D20 D29 Queen's gambit accepted|d4 d5 c4 dxc4
D30 D69 Queen's gambit declined|d4 d5 c4 e6
D32 D34 Tarrasch defence|d4 d5 c4 e6 Nc3 c5
D35 D36 Queen's gambit declined, exchange|d4 d5 c4 e6 Nc3 Nf6 cxd5
D37 D39 Queen's gambit declined|d4 d5 c4 e6 Nc3 Nf6 Nf3
D43 D49 Semi-Slav|d4 d5 c4 e6 Nc3 c6
D43 D49 Semi-Slav|d4 d5 c4 c6 Nf3 Nf6 Nc3 e6
D70 D99 Grünfeld defence|d4 Nf6 c4 g6 Nc3 d5
E00 E00 Queen's pawn game|d4 Nf6 c4 e6
E01 E09 Catalan|d4 Nf6 c4 e6 g3
E01 E09 Catalan|d4 d5 c4 e6 g3
E10 E10 Indian game|d4 Nf6 c4 e6 Nf3
E11 E11 Bogo-Indian|d4 Nf6 c4 e6 Nf3 Bb4+
E12 E19 Queen's Indian|d4 Nf6 c4 e6 Nf3 b6
E20 E59 Nimzo-Indian|d4 Nf6 c4 e6 Nc3 Bb4
E60 E99 King's Indian|d4 Nf6 c4 g6
""".strip()


@lru_cache(maxsize=1)
def _families() -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
    return tuple(_parsed())


def _parsed() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    for line in FAMILIES.splitlines():
        words, _, moves = line.partition("|")
        first, last, name = words.split(" ", 2)
        yield first, last, name, tuple(moves.split())


def family(code: str) -> str:
    """The family of an ECO code, "" if it is none.

    >>> family("B90"), family("C67"), family("D12"), family("?")
    ('Sicilian, Najdorf', 'Ruy Lopez, Berlin', 'Slav defence', '')
    """
    found = _CODE.match(code)
    if not found:
        return ""
    own = [
        (int(last[1:]) - int(first[1:]), at, name)
        for at, (first, last, name, _) in enumerate(_families())
        if first <= found.group() <= last
    ]
    return min(own)[2] if own else ""


def by_moves(moves: Sequence[str]) -> tuple[str, str]:
    """The name of the longest known line that a game begins with, and its first ECO code; nothing if none.

    >>> by_moves("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be2".split())
    ('Sicilian, Najdorf', 'B90')
    """
    known = [(len(line), name, first) for first, _, name, line in _families() if line == tuple(moves[: len(line)])]
    best = max(known, key=lambda one: one[0], default=(0, "", ""))
    return (best[1], best[2]) if best[0] else ("", "")


def opening_of(tags: Mapping[str, str], moves: Sequence[str]) -> tuple[str, str]:
    """The opening of a game and its ECO code: as its tags say, by the code, or by the moves.

    >>> opening_of({"ECO": "E97", "Opening": "?"}, [])
    ("King's Indian", 'E97')
    """
    told = tags.get("Opening", "").strip()
    code = (_CODE.match(tags.get("ECO", "").strip()) or [""])[0]
    if told and told != "?":
        return told, code
    if code:
        return family(code), code
    return by_moves(moves) if not tags.get("FEN") else ("", "")


def family_of(tags: Mapping[str, str], moves: Sequence[str]) -> str:
    """The family of a game's opening, coarse enough for a table: by the ECO code, else by the moves.

    >>> family_of({"ECO": "B97"}, []), family_of({}, ["e4", "c5", "c3"])
    ('Sicilian', 'Sicilian')

    What is one opening has one name, whatever its line.

    >>> {family_of({"ECO": code}, []) for code in ("C00", "C01", "C15")}, family_of({"ECO": "A25"}, [])
    ({'French defence'}, 'English opening')
    """
    code = (_CODE.match(tags.get("ECO", "").strip()) or [""])[0]
    name = family(code) if code else "" if tags.get("FEN") else by_moves(moves)[0]
    return name.partition(",")[0]
