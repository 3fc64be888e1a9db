"""Files from elsewhere: analyses, calibrations, aliases and ratings, manifests; taken as they are, or refused in words.

The first byte says what kind of file the rest is.
"""

from __future__ import annotations

import atexit
import json
import math
import warnings
from collections.abc import Callable
from importlib import resources

from fuzz.made import FOLDER, scratch

from assay import manifest
from assay.engine.exchange import Imported, import_file, read, rows_of
from assay.engine.identity import Search
from assay.engine.store import Store
from assay.errors import AssayError, AssayWarning
from assay.moves.calibration import load, to_json
from assay.players import read_aliases, read_ratings

_ROW = {
    "fen": "4k3/P7/8/8/8/8/8/4K3 w - - 0 1",
    "engine": "Fish",
    "net": "n",
    "options": {"Hash": "16"},
    "limit": {"depth": 2, "lines": 3},
    "nodes": 12,
    "milliseconds": 3,
    "moves": ["a7a8q", "e1e2", "a7a8n"],
    "scores": {"1": [5, None, -3], "2": ["#4", 0, "#-2"]},
    "game": "g",
    "ply": 3,
    "ends_game": True,
}
_OUT = {"fen": "8/8/8/8/8/8/8/K1k5 w - - 0 1", "engine": "Fish", "skipped": "decided", "pre": "#-3"}
_UNNAMED = {**_ROW, "engine": None, "limit": {"nodes": 9}}
_CALIBRATION = json.loads((resources.files("assay.data") / "calibrations" / "rybka-3-d13.json").read_text())
SEEDS = (
    b"\x00" + "\n".join(json.dumps(row) for row in (_ROW, _OUT, _UNNAMED)).encode(),
    b"\x01" + json.dumps({**_CALIBRATION, "regan": {"marks": _CALIBRATION["regan"]["marks"][:1]}}).encode(),
    b'\x02# aliases\nA. Other,Other\n"B, C",D\n',
    b'\x03name,rating\nAnand,2788\n"B, C", 1500.5\n',
    b"\x04" + json.dumps(manifest.sealed(manifest.make("kind", settings={"version": 1}))).encode(),
)
WORDS = (
    *(f'"{name}": ' for name in (*_ROW, "skipped", "pre")),
    *(
        "null",
        "true",
        "[]",
        "{}",
        "NaN",
        "1e400",
        "-1",
        "9" * 25,
        '"#',
        "\\ud800",
        ",",
        '"',
        "\n",
        "nan",
        "inf",
        "depth",
    ),
)


def check(data: bytes) -> None:
    kind, rest = data[0] % len(_CHECKS) if data else 0, data[1:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", AssayWarning)
            _CHECKS[kind](rest)
    except AssayError:
        pass


def _analyses(data: bytes) -> None:
    """What is imported comes back from an export, and is the same when it is imported again."""
    for table in ("valued", "left_out", "covered", "analysis"):
        _STORE._db.execute(f"DELETE FROM {table}")
    import_file(scratch("in.jsonl", data), _STORE, search=Search("no-engine"), named="Fish", quiet=True)
    rows = list(rows_of(_STORE))
    stored = [
        result for kept in _STORE.kept() for result in (*_STORE.all_valued(kept.id), *_STORE.all_left_out(kept.id))
    ]
    found = Imported()
    text = "".join(json.dumps(row) + "\n" for row in rows)
    again = [entry.result for entry in read(scratch("out.jsonl", text.encode()), found)]
    assert again == stored and not found.refused, "not the same when it comes back"


def _calibration(data: bytes) -> None:
    found = load(scratch("calibration.json", data))
    assert json.dumps(to_json(found, None))


def _aliases(data: bytes) -> None:
    scratch("aliases.csv", data)
    assert all(name == name.strip() for pair in read_aliases(FOLDER / "aliases.csv").items() for name in pair)


def _ratings(data: bytes) -> None:
    scratch("ratings.csv", data)
    assert all(math.isfinite(rating) for rating in read_ratings(FOLDER / "ratings.csv").values())


def _manifest(data: bytes) -> None:
    found = manifest.read(scratch("manifest.json", data), "kind")
    manifest.write(FOLDER / "again.json", found)
    assert manifest.read(FOLDER / "again.json", "kind") == found


_STORE = Store(FOLDER / "imports.db", create=True)
atexit.register(_STORE.close)
_CHECKS: tuple[Callable[[bytes], None], ...] = (_analyses, _calibration, _aliases, _ratings, _manifest)
