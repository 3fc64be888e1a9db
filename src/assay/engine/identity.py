"""What identifies an analysis: who valued the moves, and under which rules; and how an engine is found.

Threads are always 1 and the hash is fresh for each position, so a value is a pure function of the position and this
identity. The depth stands beside it: a search to depth 10 passes through depth 6, and its values there are those of a
search to depth 6.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.errors import EngineError
from assay.presets import ALL_LINES, ALL_MOVES_TO, DEFAULT_DEPTH
from assay.records import dataclass

# The depth of a search that is limited by nodes alone.
NO_DEPTH = 245
# A shallow look before the search: one line to this depth; beyond this many centipawns the position counts as decided.
LOOK_DEPTH = 8
LOOK_LIMIT = 500


@dataclass(frozen=True)
class Identity:
    """Engine, net, options, node limit (0: none) and lines: two analyses with the same identity may be mixed.

    >>> print(Identity("Stockfish 15.1", "nn-ad9b42354671.nnue", (("Hash", "16"),), nodes=0, lines=50))
    Stockfish 15.1, 50 lines
    """

    engine: str
    net: str
    options: tuple[tuple[str, str], ...]
    nodes: int
    lines: int

    def __str__(self) -> str:
        lines = "all moves" if self.lines >= ALL_LINES else "1 line" if self.lines == 1 else f"{self.lines} lines"
        told = [(name, value) for name, value in self.options if (name, value) != ("Hash", "16")]
        # The hash of a policy is for programs.
        extra = "".join(f", {name} {value.partition(' by ')[0] if name == LIKELY else value}" for name, value in told)
        return f"{self.engine}, {lines}{f', {self.nodes} nodes' if self.nodes else ''}{extra}"


def jury(identities: Sequence[Identity]) -> Identity:
    """What identifies the averages of several analyses, in whatever order they are named; of one, itself.

    >>> print(jury([Identity("B 2", "", (), 0, 50), Identity("A 1", "net", (), 0, 256)]))
    A 1 and B 2, 50 lines
    """
    if len(identities) == 1:
        return identities[0]
    each = sorted(identities, key=lambda identity: (identity.engine, identity.net))
    return Identity(
        " and ".join(one.engine for one in each),
        " and ".join(one.net or "no net" for one in each),
        tuple(sorted({name: value for one in each for name, value in one.options}.items())),
        max(one.nodes for one in each),
        min(one.lines for one in each),
    )


# Words after the version tell how a program was built ("64 POPCNT", "WASM"), which does not change a value.
_VERSION = re.compile(r"(?P<family>\S.*?)[ _-]+v?(?P<version>\d+(?:\.\d+)*(?:[a-z]\w*)?|dev\S*)(?=\s|$)", re.IGNORECASE)


def version_of(engine: str) -> tuple[str, str]:
    """The family of an engine and its version, by the name that it says; builds of one version are the same engine.

    >>> version_of("Stockfish 17.1 WASM"), version_of("Stockfish 16 64 POPCNT"), version_of("Fairy-Stockfish 11.1 LB")
    (('Stockfish', '17.1'), ('Stockfish', '16'), ('Fairy-Stockfish', '11.1'))
    >>> version_of("Stockfish dev-20240630-abcdef0"), version_of("Toy")
    (('Stockfish', 'dev-20240630-abcdef0'), ('Toy', ''))
    """
    found = _VERSION.match(engine)
    return (found["family"], found["version"]) if found else (engine.strip(), "")


LIKELY = "Likely moves"  # the option that tells of it, among those of the engine
_LIKELY = re.compile(r"(\d{1,3})\+(\d{1,3}) deeper than (\d{1,3}) by (\w{1,64})")


@dataclass(frozen=True)
class LikelyDeeper:
    """All moves to the depth `wide`, and deeper only those that matter: the `natural` likeliest by a policy (`network`
    is its hash) and the `best` ones of that depth. Other moves keep their values.

    >>> str(LikelyDeeper("de468b39"))
    '5+3 deeper than 6 by de468b39'
    """

    network: str
    natural: int = 5
    best: int = 3
    wide: int = ALL_MOVES_TO

    def __str__(self) -> str:
        return f"{self.natural}+{self.best} deeper than {self.wide} by {self.network}"


def likely_of(options: Sequence[tuple[str, str]]) -> LikelyDeeper | None:
    """What the options of an analysis or a calibration say of likely moves; None if all moves are searched alike.

    >>> likely_of((("Hash", "16"), ("Likely moves", "5+3 deeper than 6 by de468b39")))
    LikelyDeeper(network='de468b39', natural=5, best=3, wide=6)
    """
    found = _LIKELY.fullmatch(dict(options).get(LIKELY, ""))
    if found is None:
        return None
    natural, best, wide = (int(found.group(number)) for number in (1, 2, 3))
    return LikelyDeeper(found.group(4), natural, best, wide)


@dataclass(frozen=True)
class Search:
    """What is asked of an engine: which one (as :func:`assay.engine.identity.find` takes it), and how far to search.

    With `likely` all moves are searched to its depth first, and then some of them to `depth`.
    """

    engine: str = "stockfish"
    depth: int = DEFAULT_DEPTH
    lines: int = 50
    nodes: int = 0
    hash_mb: int = 16
    options: tuple[tuple[str, str], ...] = ()
    look: bool = True
    likely: LikelyDeeper | None = None

    @property
    def looks_first(self) -> bool:
        """Whether to take a shallow look; it does not pay when the search itself is shallow or a single line."""
        return self.look and self.lines > 1 and self.depth > LOOK_DEPTH

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The options that decide values, in a fixed order."""
        return tuple(sorted({**dict(self.options), "Hash": str(self.hash_mb)}.items()))

    @property
    def first(self) -> Search:
        """What is asked for first: all moves, to the depth from which likely ones are searched alone."""
        return self if self.likely is None else replace(self, depth=self.likely.wide, likely=None)

    def only(self, moves: int) -> Search:
        """The search of so many moves alone."""
        return replace(self, lines=moves, likely=None)


DEFAULT = "stockfish"

# Debian puts games where PATH often does not look; `make demo` puts an engine it had to fetch into .tools/bin.
USUAL_PLACES = (
    "/usr/games",
    "/usr/local/games",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
    "~/.local/bin",
    ".tools/bin",
)


def find(engine: str = DEFAULT) -> tuple[str, ...]:
    """The command that starts an engine, its program as a full path.

    `engine` is a path (`./my-engine`), a name on PATH or in the usual places (`stockfish`), or a command with
    arguments (`node path/to/stockfish.js`).

    >>> find("no-such-engine --fast")
    Traceback (most recent call last):
    assay.errors.EngineError: no chess engine 'no-such-engine' found: give a path, or a name on PATH.
    """
    try:
        words = [engine] if Path(engine).expanduser().is_file() else shlex.split(engine, posix=os.name != "nt")
    except ValueError as error:
        raise EngineError(f"{engine!r} is no command ({error}): give a path, or a name on PATH.") from error
    if not words:
        raise EngineError("the name of the engine is empty: give a path, a name on PATH, or a command.")
    if program := _program(words[0]):
        return program, *words[1:]
    if words[0] != DEFAULT:
        raise EngineError(f"no chess engine {words[0]!r} found: give a path, or a name on PATH.")
    if others := installed():  # who it is stands in every answer
        return others[0], *words[1:]
    raise EngineError(f"Stockfish was not found. {_how_to_install()} Or name another engine with --engine.")


def is_here(engine: str) -> bool:
    """Whether there is a program of this name."""
    try:
        find(engine)
    except EngineError:
        return False
    return True


# Names under which chess engines are installed; other programs are not started to ask who they are.
NAMES = (
    *(
        "stockfish*",
        "fairy-stockfish*",
        "ethereal*",
        "lc0*",
        "berserk*",
        "obsidian*",
        "komodo*",
        "dragon*",
        "koivisto*",
    ),
    *(
        "rubichess*",
        "igel*",
        "clover*",
        "caissa*",
        "seer*",
        "toga2",
        "fruit",
        "glaurung*",
        "glaurung2",
        "sjeng",
        "arasan*",
    ),
)


def installed() -> list[str]:
    """The programs on PATH and in the usual places that are called like chess engines, each file once."""
    found: dict[Path, str] = {}
    for place in (*os.get_exec_path(), *USUAL_PLACES):
        folder = Path(place).expanduser()
        for name in NAMES:
            for path in sorted(folder.glob(name)) if place and folder.is_dir() else ():
                if path.is_file() and os.access(path, os.X_OK):
                    found.setdefault(path.resolve(), str(path.absolute()))
    return list(found.values())


def _program(name: str) -> str | None:
    path = Path(name).expanduser()
    if path.name != name:
        if path.is_file() and not os.access(path, os.X_OK):
            raise EngineError(f"{path} is not executable: chmod +x it, or give the command that runs it.")
        return str(path.absolute()) if path.is_file() else None
    places = [str(Path(place).expanduser()) for place in USUAL_PLACES]
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))
    return str(Path(found).absolute()) if found else None


def _how_to_install() -> str:
    if sys.platform == "darwin":
        return "Install it with: brew install stockfish."
    if sys.platform == "win32":
        return "Install it from stockfishchess.org and give its path."
    return "Install it with: sudo apt install stockfish (or your system's way; 'make demo' does it too)."
