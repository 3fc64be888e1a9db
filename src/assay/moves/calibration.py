"""Calibrations as files: written, read, found by name, and checked against the analyses they are to judge.

A calibration is for one engine at one depth. It holds the choice models, with and without a policy, that turn moves
into curves over ratings; the line from their scale to the ratings of each pool; and the marks, the line and the
reference positions of Regan's way.
"""

from __future__ import annotations

import base64
import json
import math
import re
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, field, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from assay import manifest
from assay.engine.identity import NO_DEPTH, Identity, likely_of, version_of
from assay.errors import AssayWarning, CalibrationError, ModelError
from assay.moves.choice import model as choice
from assay.moves.choice.model import Model
from assay.moves.regan.fitting import DEPTHS, METHODS, Fitting
from assay.moves.regan.ipr import Layers, Line, Scale
from assay.moves.regan.models import MODELS
from assay.moves.regan.spread import CURVES, SCALES, Floats, scaled_deltas
from assay.paths import atomic, own_calibrations
from assay.presets import DEFAULT_DEPTH
from assay.records import dataclass

KIND = "assay calibration"
FORMAT = 3
# Multi-PV with so many lines values every move of all but one position in a thousand.
FULL_WIDTH = 50
POOL = "otb-slow"
# For searches that go deeper with likely moves alone.
LIKELY_NAME = "stockfish-15.1-likely-8"
_END = 32767
_NUMBERS, _MOST = ("from_move", "limit", "k", "cap", "tie"), 1e6  # settings that are numbers, and up to where
_FITTING = ("method", "model", "curve", "k", "cap", "tie", "scale")  # settings of Regan's part
_MOST_BYTES = 64 << 20  # of the reference set; a thousand games have a fiftieth of it


@dataclass(frozen=True)
class PoolScale:
    """A pool's ratings in terms of the model's own scale, with the error of this line and the range it stands on."""

    at_2200: float = 2200.0
    per_400: float = 400.0
    error: float = 0.0
    low: float = 1600.0
    high: float = 2700.0
    years: str = ""


@dataclass(frozen=True)
class StandIn:
    """A calibration of one engine that judges analyses of another, and by how many Elo it may be off."""

    engine: str
    own: str
    off: float

    def __str__(self) -> str:
        return f"{self.engine} has no calibration: that of {self.own} serves, and may be off by {self.off:.0f} Elo"

    @property
    def remedy(self) -> str:
        """How to mend it."""
        return f"{self}. Mend it with 'assay calibrate --engine PATH --transfer' (a quarter of an hour)."


@dataclass(frozen=True)
class Calibration:
    """What turns the moves of one engine's analyses into ratings, with everything that identifies it.

    `models` are the choice models, "engine" by values alone and "policy" with the chances that the network of the hash
    `network` gives; `scale` is Regan's (None for a published calibration, whose reference positions are not public),
    `marks` are the rows of its table, `figures` what held-out players said of each model, `made` is the manifest.
    `stand_in` tells that analyses of another engine are judged by it.
    """

    name: str
    engine: str
    net: str
    options: tuple[tuple[str, str], ...]
    depth: int
    lines: int
    settings: Mapping[str, Any]
    exclusions: Mapping[str, int]
    models: Mapping[str, Model]
    network: str
    pools: Mapping[str, PoolScale]
    figures: Mapping[str, Mapping[str, Any]]
    marks: Sequence[Mapping[str, Any]]
    line: Line | None
    c_at_2000: float
    c_per_100: float
    scale: Scale | None
    made: Mapping[str, Any] = field(default_factory=dict)
    stand_in: StandIn | None = None

    def __str__(self) -> str:
        width = "all moves" if self.lines >= FULL_WIDTH else f"{self.lines} lines"
        if likely := likely_of(self.options):
            width = f"likely moves deeper than {likely.wide}"
        return f"{self.name} ({self.engine}, depth {self.depth}, {width})"

    @property
    def games(self) -> int:
        """Games that the calibration was made from."""
        return int(self.settings.get("games", 0)) or sum(int(mark.get("games", 0)) for mark in self.marks)

    @property
    def turns(self) -> int:
        """Turns that the calibration was made from."""
        return int(self.settings.get("turns", 0)) or sum(int(mark.get("turns", 0)) for mark in self.marks)

    @property
    def published(self) -> bool:
        """Whether this is a line from print, whose reference positions nobody has."""
        return self.line is not None and self.scale is None

    @property
    def fitting(self) -> Fitting:
        """How Regan's part was fitted."""
        return Fitting(**{name: self.settings[name] for name in _FITTING if name in self.settings})

    def usable(self) -> None:
        """A sentence for a calibration that has no choice model."""
        if self.published:
            raise CalibrationError(
                f"the calibration {self.name} is for reading, and for --method regan with reference positions of your "
                "own (--reference): its own were never published. Rate with the default, or make your own with 'assay "
                "calibrate'."
            )
        if not self.models:
            raise CalibrationError(
                f"the calibration {self.name} has no choice model, which needs one engine: give --method regan."
            )

    def regan(self) -> Scale:
        """Regan's scale, or a sentence where there is none."""
        if self.published:
            raise CalibrationError(
                f"the reference positions of the calibration {self.name} were never published: give your own with "
                f"--reference, rated games whose analyses by {self.engine} to depth {self.depth} are in the store, or "
                "a calibration file made from them."
            )
        if self.scale is None:
            raise CalibrationError(
                f"the calibration {self.name} has no reference positions for Regan's way; "
                "make one that has with 'assay calibrate'."
            )
        return self.scale

    def model(self, *, policy: bool = True) -> Model:
        """The choice model with the policy, or the one by the engine alone."""
        self.usable()
        if not policy and "engine" not in self.models:
            raise CalibrationError(
                f"the calibration {self.name} rests on what people would play: leave out --policy none, or --likely."
            )
        found = self.models["policy" if policy and "policy" in self.models else "engine"]
        if self.stand_in is None:
            return found
        # Twice the standard error is what a reader is told that it may be off.
        error = math.hypot(found.honesty.scale_error, self.stand_in.off / 2)
        return replace(found, honesty=replace(found.honesty, scale_error=error))

    def is_for(self, identity: Identity) -> bool:
        """Whether analyses are by the engine of this calibration: same family, version and net, however built."""
        one, two = identity.engine, self.engine
        # The names of a jury are taken word by word.
        same = one == two if " and " in one + two else version_of(one) == version_of(two)
        return same and identity.net == self.net

    def refusal(self, identity: Identity, depth: int, *, any_engine: bool = False) -> str:
        """Why analyses are of another engine, depth or width than this calibration is for; empty if they are not.

        With `any_engine` it is no reason that they are another engine's.
        """
        wide = min(identity.lines, FULL_WIDTH) == min(self.lines, FULL_WIDTH)
        plain = {k: v for k, v in identity.options if k != "Hash"} == {k: v for k, v in self.options if k != "Hash"}
        same = (any_engine or self.is_for(identity)) and not identity.nodes
        if same and wide and plain and depth == self.depth:
            return ""
        limit = f", {identity.nodes} nodes" if identity.nodes else ""
        width = "all moves" if identity.lines >= FULL_WIDTH else f"{identity.lines} lines"
        return (
            f"the analyses are by {identity.engine} ({identity.net or 'no net'}), depth {depth}, {width}{limit}, "
            f"and the calibration {self.name} is for {self.engine} ({self.net or 'no net'}), depth {self.depth}"
        )

    def check(self, identities: Sequence[Identity], depth: int, *, any_engine: bool = False) -> None:
        """Refuse analyses of another depth or width than the calibration's, or of another engine."""
        for identity in identities:
            if why := self.refusal(identity, depth, any_engine=any_engine):
                raise CalibrationError(
                    f"{why}. Make a calibration for them with 'assay calibrate GAMES --store S --depth {depth} "
                    "-o MINE.json' and give it with --calibration."
                )

    def judging(self, identity: Identity) -> Calibration:
        """This calibration for analyses of an engine, marked as a stand-in where it is another's."""
        if self.is_for(identity):
            return replace(self, stand_in=None)
        same = version_of(identity.engine) == version_of(self.engine)
        who = f"{identity.engine} with {identity.net or 'no net'}" if same else identity.engine
        return replace(self, stand_in=StandIn(who, self.engine, _off(identity, self)))


# Files.


def to_json(calibration: Calibration, reference_values: Floats | None) -> dict[str, Any]:
    """A calibration as plain values; `reference_values` are the reference set's values in pawns, best first.

    A third axis has them at the depths that are weighed, the last one deepest.
    """
    scale = calibration.scale
    regan: dict[str, Any] = {"marks": [dict(mark) for mark in calibration.marks]}
    if calibration.line is not None:
        regan |= {
            "line": _line_out(calibration.line),
            "c_at_2000": calibration.c_at_2000,
            "c_per_100": calibration.c_per_100,
        }
    if scale is not None and reference_values is not None:
        last = reference_values if reference_values.ndim == 2 else reference_values[:, :, -1]
        regan |= {
            "lines": {name: _line_out(line) for name, line in scale.lines.items()},
            "reference": {
                "encoding": f"base64 of zlib of little-endian int16 centipawns, best first, each turn ended by {_END}",
                "data": pack_values(last),
            },
        }
        if scale.layers is not None:
            shallower = np.moveaxis(reference_values[:, :, :-1], 2, 0)
            regan["layers"] = {
                "depths": list(scale.layers.depths),
                "weights": scale.layers.weights.tolist(),
                "reference": [pack_values(layer) for layer in shallower],
            }
    return {
        "kind": KIND,
        "format": FORMAT,
        "name": calibration.name,
        "engine": calibration.engine,
        "net": calibration.net,
        "options": dict(calibration.options),
        "depth": calibration.depth,
        "lines": calibration.lines,
        "settings": dict(calibration.settings),
        "exclusions": dict(calibration.exclusions),
        "models": {name: model.to_json() for name, model in calibration.models.items()},
        "network": calibration.network,
        "pools": {name: dict(vars(pool)) for name, pool in calibration.pools.items()},
        "figures": {name: dict(figures) for name, figures in calibration.figures.items()},
        "regan": regan,
        "made": dict(calibration.made),
    }


def from_json(data: Mapping[str, Any]) -> Calibration:
    """A calibration from plain values."""
    regan = data["regan"]
    line = _line_in(regan["line"]) if "line" in regan else None
    found = Calibration(
        name=str(data["name"]),
        engine=str(data["engine"]),
        net=str(data["net"]),
        options=tuple(sorted((str(k), str(v)) for k, v in data["options"].items())),
        depth=int(data["depth"]),
        lines=int(data["lines"]),
        settings=dict(data["settings"]),
        exclusions=dict(data["exclusions"]),
        models={str(name): choice.from_json(model) for name, model in data["models"].items()},
        network=str(data["network"]),
        pools={str(name): PoolScale(**pool) for name, pool in data["pools"].items()},
        figures={str(name): dict(figures) for name, figures in data["figures"].items()},
        marks=list(regan["marks"]),
        line=line,
        c_at_2000=float(regan.get("c_at_2000", math.nan)),
        c_per_100=float(regan.get("c_per_100", math.nan)),
        scale=_scale_in(data["settings"], regan, line) if "reference" in regan and line else None,
        made=dict(data["made"]),
    )
    _check(found)
    return found


def _check(found: Calibration) -> None:
    """ValueError if the parts of a calibration do not fit each other, as in one that was edited."""
    models = found.models.values()
    sound = {
        "depth and lines": 1 <= found.depth <= NO_DEPTH and found.lines >= 1,
        "settings": all(0 <= float(found.settings[name]) <= _MOST for name in _NUMBERS),
        "fitting": found.fitting.method in METHODS
        and found.fitting.model in MODELS
        and found.fitting.curve in CURVES
        and found.fitting.scale in SCALES,
        "marks": all(isinstance(mark, Mapping) for mark in found.marks),
        "models": not models
        or (
            ("engine" in found.models or likely_of(found.options) is not None)
            and all(model.depth == found.depth for model in models)
        ),
        "network": "policy" not in found.models or bool(found.network),
        "pools": all(_finite(*astuple(pool)[:5]) and pool.per_400 > 0 for pool in found.pools.values())
        and (not models or POOL in found.pools),
    }
    if found.line is not None:
        line = _finite(*astuple(found.line), found.c_at_2000, found.c_per_100)
        sound["line"] = line and found.line.slope != 0
    if scale := found.scale:
        lines = scale.lines.values()
        sound["lines of the scale"] = all(_finite(*astuple(line)) and line.slope != 0 for line in lines)
        sound["layers"] = (DEPTHS in scale.lines) == (scale.layers is not None)
        sound["reference"] = scale.reference.shape[1] > 1 and bool(np.isfinite(scale.reference[:, 1]).any())
    if wrong := [name for name, good in sound.items() if not good]:
        raise ValueError(f"its {wrong[0]} cannot be right")


def _finite(*values: Any) -> bool:
    return all(np.isfinite(value).all() for value in values)


def _scale_in(settings: Mapping[str, Any], regan: Mapping[str, Any], line: Line) -> Scale:
    values = unpack_values(regan["reference"]["data"])
    elos = [float(mark["elo"]) for mark in regan["marks"]]
    how = {name: settings[name] for name in ("k", "cap", "tie", "scale") if name in settings}
    layers = None
    if said := regan.get("layers"):
        depths, weights = tuple(map(int, said["depths"])), np.asarray(said["weights"], dtype=np.float64)
        stacked = np.stack([*map(unpack_values, said["reference"]), values], axis=2)
        if not (len(depths) == len(weights) == stacked.shape[2] and (weights >= 0).all() and weights.sum() > 0):
            raise ValueError("its layers cannot be right")
        layers = Layers(depths, weights, scaled_deltas(stacked, **how))
    return Scale(
        reference=scaled_deltas(values, **how),
        line=line,
        lines={name: _line_in(one) for name, one in regan["lines"].items()},
        range=(min(elos), max(elos)),
        model=settings["model"],
        curve=settings["curve"],
        layers=layers,
    )


def _line_out(line: Line) -> dict[str, Any]:
    covariance = line.covariance.tolist()
    return {"intercept": line.intercept, "slope": line.slope, "covariance": covariance, "misfit": line.misfit}


def _line_in(data: Mapping[str, Any]) -> Line:
    covariance = np.asarray(data["covariance"], dtype=np.float64).reshape(2, 2)
    return Line(float(data["intercept"]), float(data["slope"]), covariance, float(data["misfit"]))


def pack_values(values: Floats) -> str:
    """Spreads in pawns (padded with nan) as text.

    >>> unpack_values(pack_values(np.array([[0.5, -0.25], [0.1, np.nan]]))).tolist()
    [[0.5, -0.25], [0.1, nan]]
    """
    rows = [np.append(np.round(row[np.isfinite(row)] * 100), _END) for row in values]
    return base64.b64encode(zlib.compress(np.concatenate(rows).astype("<i2").tobytes(), 9)).decode("ascii")


def unpack_values(text: str) -> Floats:
    """The spreads that `pack_values` wrote."""
    flat = np.frombuffer(zlib.decompressobj().decompress(base64.b64decode(text), _MOST_BYTES), "<i2")
    rows = np.split(flat, np.flatnonzero(flat == _END) + 1)[:-1]
    out = np.full((len(rows), max(len(row) for row in rows) - 1), np.nan)
    for turn, row in enumerate(rows):
        out[turn, : len(row) - 1] = row[:-1] / 100
    return out


def save(calibration: Calibration, reference_values: Floats | None, path: str | Path) -> None:
    """Write a calibration, whole or not at all."""
    text = json.dumps(manifest.sealed(to_json(calibration, reference_values)), indent=1, ensure_ascii=False)
    with atomic(path) as part:
        part.write_text(text + "\n", encoding="utf-8")


def shipped() -> tuple[str, ...]:
    """The names of the calibrations that come with Assay.

    >>> {"rybka-3-d13", "stockfish-15.1-d8"} <= set(shipped())
    True
    """
    folder = resources.files("assay.data") / "calibrations"
    return tuple(sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json")))


def default_name(depth: int = DEFAULT_DEPTH) -> str:
    """The name of the default calibration at a depth.

    >>> default_name(8)
    'stockfish-15.1-d8'
    """
    return f"stockfish-15.1-d{depth}"


def slug(engine: str, depth: int) -> str:
    """The name of an engine's calibration at a depth.

    >>> slug("Stockfish 18 WASM", 8)
    'stockfish-18-d8'
    """
    words = re.sub(r"[^a-z0-9.]+", "-", " ".join(version_of(engine)).lower()).strip("-.")
    return f"{words or 'engine'}-d{depth}"


@lru_cache(maxsize=32)
def _shipped(name: str) -> Calibration:
    text = (resources.files("assay.data") / "calibrations" / f"{name}.json").read_text(encoding="utf-8")
    return _with_lines(from_json(json.loads(text)))


def _with_lines(found: Calibration) -> Calibration:
    """A calibration with the lines of the one that it was transferred from: it is on the same scale, now as ever."""
    base = found.settings.get("transferred_from")
    return replace(found, pools=_shipped(base).pools) if base in shipped() else found


def load(name: str | Path | None = None, *, depth: int | None = None) -> Calibration:
    """A calibration by the name of one that is shipped, or by the path of a file; without either, the default.

    "likely" is short for the one that has likely moves searched deeper.

    >>> str(load(depth=8)), str(load("rybka-3-d13"))
    ('stockfish-15.1-d8 (Stockfish 15.1, depth 8, all moves)', 'rybka-3-d13 (Rybka 3, depth 13, all moves)')
    """
    wanted = default_name(depth or DEFAULT_DEPTH) if name is None else LIKELY_NAME if name == "likely" else str(name)
    if wanted in shipped():
        return _shipped(wanted)
    if name is None:
        others = ", ".join(other for other in shipped() if other.startswith("stockfish"))
        raise CalibrationError(
            f"no calibration for depth {depth} is shipped (there are {others}); make one with 'assay calibrate'."
        )
    path = Path(wanted)
    try:
        data = manifest.parse(path.read_bytes())
    except FileNotFoundError:
        raise CalibrationError(
            f"there is no calibration {wanted}: give the path of a file, or one of {', '.join(shipped())}."
        ) from None
    except OSError as error:
        raise CalibrationError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise CalibrationError(f"{path} is not a calibration ({error}). 'assay calibrate' makes one.") from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise CalibrationError(f"{path} is not a calibration. 'assay calibrate' makes one.")
    if data.get("format") != FORMAT:
        raise CalibrationError(f"{path} was written by another version of Assay: make it again with 'assay calibrate'.")
    try:
        found = from_json(data)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        zlib.error,
        ModelError,
        CalibrationError,
    ) as error:
        raise CalibrationError(
            f"{path} is damaged ({type(error).__name__} {error}): make it again with 'assay calibrate'."
        ) from error
    manifest.unsealed(data, path)
    return _with_lines(found)


def for_engine(identity: Identity, depth: int, asked: Calibration | None = None) -> Calibration:
    """The calibration that judges an engine's analyses: the one asked for, the engine's own, or else the nearest.

    Made on this machine (`assay calibrate --transfer`) goes before shipped. The nearest is that of the same family and
    the next version; for another family that of the engine which the scale was made with.

    >>> found = for_engine(Identity("Stockfish 15.1 64 POPCNT", "nn-ad9b42354671.nnue", (), 0, 50), 8)
    >>> found.name, found.stand_in
    ('stockfish-15.1-d8', None)
    >>> str(for_engine(Identity("Toy 1", "", (), 0, 50), 8).stand_in)
    'Toy 1 has no calibration: that of Stockfish 15.1 serves, and may be off by ... Elo'
    """
    if asked is not None:
        return asked.judging(identity)
    family, version = version_of(identity.engine)
    usual = slug(identity.engine, depth)
    known = [*_own(depth), *([load(usual)] if usual in shipped() else [])]
    for one in known:
        if one.is_for(identity) and not one.refusal(identity, depth):
            return one
    related = [one for one in _at_depth(depth) if version_of(one.engine)[0] == family]
    nearest = min(related, key=lambda one: _distance(version, version_of(one.engine)[1]), default=None)
    return (nearest or load(depth=depth)).judging(identity)


def _at_depth(depth: int) -> list[Calibration]:
    """The shipped calibrations of a depth that can be used."""
    return [one for name in shipped() if name.endswith(f"-d{depth}") and (one := load(name)).models]


def _own(depth: int) -> list[Calibration]:
    """The calibrations of this depth that were made on this machine; one that cannot be read is told of."""
    found = []
    for file in sorted(own_calibrations().glob("*.json")):
        try:
            one = load(file)
        except CalibrationError as error:
            warnings.warn(str(error), AssayWarning, stacklevel=2)
            continue
        if one.depth == depth:
            found.append(one)
    return found


def _distance(one: str, two: str) -> float:
    """How far versions lie apart; what is no number is newer than all."""
    numbers = [float(".".join(text.split(".")[:2])) if text[:1].isdecimal() else math.inf for text in (one, two)]
    return abs(numbers[0] - numbers[1]) if all(map(math.isfinite, numbers)) else -min(numbers)


def _off(identity: Identity, judge: Calibration) -> float:
    """By how much a calibration may be off for another engine: as 15.1's was for the engines on which it was measured.

    That is the greatest difference which its use for another engine's values made on the same games, with twice its
    error: among engines of the same family, at this depth, or else at the next lesser one. Of another family one was
    measured, and lay much further off.
    """
    family = version_of(identity.engine)[0]
    for depth in sorted((depth for depth in depths() if depth <= judge.depth), reverse=True):
        figures = {one.engine: one.figures["transfer"] for one in _at_depth(depth) if "transfer" in one.figures}
        main = {engine: said.get("policy", said["engine"]) for engine, said in figures.items()}
        off = {engine: abs(said["untouched"]) + 2 * said["untouched_error"] for engine, said in main.items()}
        related = [value for engine, value in off.items() if version_of(engine)[0] == family]
        if off:
            return float(max(related or [*off.values(), _FOREIGN]))
    return _UNMEASURED


_UNMEASURED = 200.0  # Elo: where no transfer is shipped to tell
_FOREIGN = 818.0  # Elo: Ethereal 12 at depth 6 lay 706 +- 56 below (docs/validation.md, "Engines")
_STOCKFISH = "stockfish-15.1-d"


def depths() -> list[int]:
    """The depths that a calibration is shipped for, ascending."""
    return sorted(int(name.removeprefix(_STOCKFISH)) for name in shipped() if name.startswith(_STOCKFISH))
