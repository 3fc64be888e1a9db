"""Calibrations as files: written, read, found by name, and checked against the analyses they are to judge.

A calibration is for one engine at one depth. It holds the choice models, with and without a policy, that turn moves
into curves over ratings; the line from their scale to the ratings of each pool; and the marks, the line and the
reference positions of Regan's way.
"""

from __future__ import annotations

import base64
import json
import math
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from assay import manifest
from assay.engine.identity import DEFAULT_DEPTH, NO_DEPTH, Identity
from assay.errors import AssayWarning, CalibrationError, ModelError
from assay.moves.choice import model as choice
from assay.moves.choice.model import Model
from assay.moves.regan.ipr import Layers, Scale
from assay.moves.regan.line import Line
from assay.moves.regan.models import MODELS
from assay.moves.regan.settings import DEPTHS, METHODS, Fitting
from assay.moves.regan.spread import SCALES, Floats, scaled_deltas
from assay.moves.regan.temptation import CURVES
from assay.paths import atomic

KIND = "assay calibration"
FORMAT = 3
QUICK, DEEP = 6, 10
# Multi-PV with so many lines values every move of all but one position in a thousand.
FULL_WIDTH = 50
POOL = "otb-slow"
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
class Calibration:
    """What turns the moves of one engine's analyses into ratings, with everything that identifies it.

    `models` are the choice models, "engine" by values alone and "policy" with the chances that the network of the hash
    `network` gives; `scale` is Regan's (None for a published calibration, whose reference positions are not public),
    `marks` are the rows of its table, `figures` what held-out players said of each model, `made` is the manifest.
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

    def __str__(self) -> str:
        width = "all moves" if self.lines >= FULL_WIDTH else f"{self.lines} lines"
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
        return self.models["policy" if policy and "policy" in self.models else "engine"]

    def refusal(self, identity: Identity, depth: int) -> str:
        """Why analyses of this identity and depth cannot be judged by this calibration; empty if they can."""
        wide = min(identity.lines, FULL_WIDTH) == min(self.lines, FULL_WIDTH)
        same = (identity.engine, identity.net, identity.nodes) == (self.engine, self.net, 0)
        plain = {k: v for k, v in identity.options if k != "Hash"} == {k: v for k, v in self.options if k != "Hash"}
        if same and wide and plain and depth == self.depth:
            return ""
        limit = f", {identity.nodes} nodes" if identity.nodes else ""
        width = "all moves" if identity.lines >= FULL_WIDTH else f"{identity.lines} lines"
        return (
            f"the analyses are by {identity.engine} ({identity.net or 'no net'}), depth {depth}, {width}{limit}, "
            f"and the calibration {self.name} is for {self.engine} ({self.net or 'no net'}), depth {self.depth}"
        )

    def check(self, identities: Sequence[Identity], depth: int, *, any_engine: bool = False) -> None:
        """Refuse analyses of another engine, depth or width than the calibration's; with `any_engine` only warn."""
        for identity in identities:
            why = self.refusal(identity, depth)
            if why and not any_engine:
                raise CalibrationError(
                    f"{why}. Make a calibration for them with 'assay calibrate GAMES --store S --depth {depth} "
                    "-o MINE.json' and give it with --calibration, or go on all the same with --any-engine."
                )
            if why:
                warnings.warn(f"{why}: ratings may be off by hundreds of points.", AssayWarning, stacklevel=2)


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
        "models": not models or ("engine" in found.models and all(model.depth == found.depth for model in models)),
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


@lru_cache(maxsize=4)
def _shipped(name: str) -> Calibration:
    text = (resources.files("assay.data") / "calibrations" / f"{name}.json").read_text(encoding="utf-8")
    return from_json(json.loads(text))


def load(name: str | Path | None = None, *, depth: int | None = None) -> Calibration:
    """A calibration by the name of one that is shipped, or by the path of a file; without either, the default.

    >>> str(load(depth=8)), str(load("rybka-3-d13"))
    ('stockfish-15.1-d8 (Stockfish 15.1, depth 8, all moves)', 'rybka-3-d13 (Rybka 3, depth 13, all moves)')
    """
    wanted = default_name(depth or DEFAULT_DEPTH) if name is None else str(name)
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
    return found


_STOCKFISH = "stockfish-15.1-d"


def depths() -> list[int]:
    """The depths that a calibration is shipped for, ascending."""
    return sorted(int(name.removeprefix(_STOCKFISH)) for name in shipped() if name.startswith(_STOCKFISH))


def preset_depth(*, quick: bool = False, deep: bool = False) -> int:
    """The depth of a preset.

    >>> preset_depth(quick=True), preset_depth(), preset_depth(deep=True)
    (6, 8, 10)
    """
    return QUICK if quick else DEEP if deep else DEFAULT_DEPTH


@dataclass(frozen=True)
class Preset:
    """The depth of the engine, and what to expect of it."""

    depth: int
    words: str


def presets() -> dict[str, Preset]:
    """The presets, the usual one first.

    >>> presets()["quick"].depth
    6
    """
    return {
        "default": Preset(DEFAULT_DEPTH, f"depth {DEFAULT_DEPTH}: about an eighth of a second for each move and core"),
        "quick": Preset(QUICK, f"depth {QUICK}: six times quicker, wider intervals"),
        "deep": Preset(DEEP, f"depth {DEEP}: four times slower, narrower intervals"),
    }


def depth_of(preset: str) -> int:
    """The depth of a preset by name.

    >>> depth_of("quick"), depth_of("default")
    (6, 8)
    """
    return preset_depth(quick=preset == "quick", deep=preset == "deep")
