"""Calibrations as files: written, read, found by name, and checked against the analyses they are to judge.

How thorough to be is a choice of their depths, which trade time for noise (docs/rating.md has the figures).
"""

from __future__ import annotations

import base64
import json
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from assay import manifest
from assay.engine.identity import NO_DEPTH, Identity
from assay.errors import AssayWarning, CalibrationError, ModelError
from assay.moves.regan.artery import Artery, Line
from assay.moves.regan.difficulty import TERMS, TRAITS, Difficulty
from assay.moves.regan.scale import Scale, Trend
from assay.moves.regan.spread import Floats, scaled_deltas
from assay.moves.regan.tally import STATISTICS
from assay.paths import atomic

KIND = "assay calibration"
FORMAT = 2
DEFAULT_DEPTH = 10
# Multi-PV with so many lines values every move of all but one position in a thousand.
FULL_WIDTH = 50
_END = 32767
_NUMBERS, _MOST = ("from_move", "limit", "k", "cap", "tie"), 1e6  # settings that are numbers, and up to where
_MOST_BYTES = 64 << 20  # of the reference set; a thousand games have a fiftieth of it


@dataclass(frozen=True)
class Calibration:
    """A scale with everything that identifies it.

    `scale` is None for a published calibration, whose reference positions are not public: it can be read, not used.
    `marks` are the rows of its table, `made` is the manifest.
    """

    name: str
    engine: str
    net: str
    options: tuple[tuple[str, str], ...]
    depth: int
    lines: int
    settings: Mapping[str, Any]
    exclusions: Mapping[str, int]
    marks: Sequence[Mapping[str, Any]]
    line: Line
    c_at_2000: float
    c_per_100: float
    scale: Scale | None
    coverage: Sequence[float]
    made: Mapping[str, Any]

    def __str__(self) -> str:
        width = "all moves" if self.lines >= FULL_WIDTH else f"{self.lines} lines"
        return f"{self.name} ({self.engine}, depth {self.depth}, {width})"

    @property
    def games(self) -> int:
        """Games that the calibration was made from."""
        return sum(int(mark.get("games", 0)) for mark in self.marks)

    @property
    def turns(self) -> int:
        """Turns that the calibration was made from."""
        return sum(int(mark.get("turns", 0)) for mark in self.marks)

    def usable(self) -> Scale:
        """The scale, or a sentence for a calibration that can only be read."""
        if self.scale is None:
            raise CalibrationError(
                f"the calibration {self.name} is for reading: its reference positions were never published. "
                "Rate with the default, or make your own with 'assay calibrate'."
            )
        return self.scale

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
    """A calibration as plain values; `reference_values` are the reference set's values in pawns, best first."""
    scale = calibration.scale
    out: dict[str, Any] = {
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
        "marks": [dict(mark) for mark in calibration.marks],
        "line": _line_out(calibration.line),
        "c_at_2000": calibration.c_at_2000,
        "c_per_100": calibration.c_per_100,
        "made": dict(calibration.made),
    }
    if scale is not None and reference_values is not None:
        out["scale"] = {
            "lines": {name: _line_out(line) for name, line in scale.lines.items()},
            "artery": {key: getattr(scale.artery, key).tolist() for key in ("ratings", "s", "c")},
            "difficulty": _difficulty_out(scale.difficulty),
            "ratios": {name: _trend_out(trend) for name, trend in zip(STATISTICS, scale.ratios, strict=True)},
            "factors": dict(zip(STATISTICS, scale.factors.tolist(), strict=True)),
            "correlation": scale.correlation.tolist(),
            "weights": dict(zip(STATISTICS, scale.weights.tolist(), strict=True)),
            "screening_weights": dict(zip(STATISTICS, scale.screening_weights.tolist(), strict=True)),
            "prior_games": scale.prior_games,
            "power": scale.power,
            "coverage": list(calibration.coverage),
            "score_offset": _trend_out(scale.score_offset),
            "score_variance": _trend_out(scale.score_variance),
            "reference": {
                "encoding": f"base64 of zlib of little-endian int16 centipawns, best first, each turn ended by {_END}",
                "data": pack_values(reference_values),
            },
        }
    return out


def from_json(data: Mapping[str, Any]) -> Calibration:
    """A calibration from plain values."""
    scale = data.get("scale")
    line = _line_in(data["line"])
    found = Calibration(
        name=str(data["name"]),
        engine=str(data["engine"]),
        net=str(data["net"]),
        options=tuple(sorted((str(k), str(v)) for k, v in data["options"].items())),
        depth=int(data["depth"]),
        lines=int(data["lines"]),
        settings=dict(data["settings"]),
        exclusions=dict(data["exclusions"]),
        marks=list(data["marks"]),
        line=line,
        c_at_2000=float(data["c_at_2000"]),
        c_per_100=float(data["c_per_100"]),
        scale=None if scale is None else _scale_in(data, scale, line),
        coverage=[] if scale is None else [float(share) for share in scale["coverage"]],
        made=dict(data["made"]),
    )
    _check(found)
    return found


def _check(found: Calibration) -> None:
    """ValueError if the parts of a calibration do not fit each other, as in one that was edited."""
    lesser = found.settings.get("lesser", ())
    sound = {
        "depth and lines": 1 <= found.depth <= NO_DEPTH and found.lines >= 1,
        "settings": all(0 <= float(found.settings[name]) <= _MOST for name in _NUMBERS)
        and all(type(depth) is int and 1 <= depth <= found.depth for depth in lesser),
        "marks": all(isinstance(mark, Mapping) for mark in found.marks),
        "line": _finite(*astuple(found.line), found.c_at_2000, found.c_per_100) and found.line.slope != 0,
    }
    if scale := found.scale:
        artery, of = scale.artery, len(STATISTICS)
        trends = (*scale.ratios, scale.score_offset, scale.score_variance)
        sound |= {
            "lines of the scale": all(_finite(*astuple(line)) and line.slope != 0 for line in scale.lines.values()),
            "artery": artery.ratings.shape == artery.s.shape == artery.c.shape
            and artery.ratings.ndim == 1
            and len(artery.ratings) > 1
            and _finite(*astuple(artery))
            and bool((np.diff(artery.ratings) > 0).all() and (artery.s > 0).all() and (artery.c > 0).all()),
            "difficulty": _finite(*astuple(scale.difficulty)) and bool((scale.difficulty.deviation > 0).all()),
            "trends": not any(np.isnan(astuple(trend)).any() for trend in trends),
            "factors": _finite(scale.factors) and bool((scale.factors > 0).all()),
            "correlation": scale.correlation.shape == (of, of) and _finite(scale.correlation),
            "weights": _finite(scale.weights, scale.screening_weights) and bool(scale.weights.sum() > 0),
            "power": _finite(scale.prior_games, scale.power),
            "coverage": _finite(*found.coverage),
            "reference": scale.reference.shape[1] > 1 and bool(np.isfinite(scale.reference[:, 1]).any()),
        }
    if wrong := [name for name, good in sound.items() if not good]:
        raise ValueError(f"its {wrong[0]} cannot be right")


def _finite(*values: Any) -> bool:
    return all(np.isfinite(value).all() for value in values)


def _scale_in(data: Mapping[str, Any], scale: Mapping[str, Any], line: Line) -> Scale:
    settings = data["settings"]
    values = unpack_values(scale["reference"]["data"])
    first, second, third = (_trend_in(scale["ratios"][name]) for name in STATISTICS)
    return Scale(
        reference=scaled_deltas(values, k=settings["k"], cap=settings["cap"], tie=settings["tie"]),
        c_at_2000=float(data["c_at_2000"]),
        c_per_100=float(data["c_per_100"]),
        line=line,
        lines={name: _line_in(one) for name, one in scale["lines"].items()},
        artery=Artery(*(np.asarray(scale["artery"][key], dtype=np.float64) for key in ("ratings", "s", "c"))),
        difficulty=_difficulty_in(scale["difficulty"]),
        ratios=(first, second, third),
        factors=np.array([float(scale["factors"][name]) for name in STATISTICS]),
        correlation=np.asarray(scale["correlation"], dtype=np.float64),
        weights=np.array([float(scale["weights"][name]) for name in STATISTICS]),
        screening_weights=np.array([float(scale["screening_weights"][name]) for name in STATISTICS]),
        prior_games=float(scale["prior_games"]),
        power=float(scale["power"]),
        score_offset=_trend_in(scale["score_offset"]),
        score_variance=_trend_in(scale["score_variance"]),
    )


def _line_out(line: Line) -> dict[str, Any]:
    covariance = line.covariance.tolist()
    return {"intercept": line.intercept, "slope": line.slope, "covariance": covariance, "misfit": line.misfit}


def _line_in(data: Mapping[str, Any]) -> Line:
    covariance = np.asarray(data["covariance"], dtype=np.float64).reshape(2, 2)
    return Line(float(data["intercept"]), float(data["slope"]), covariance, float(data["misfit"]))


def _difficulty_out(difficulty: Difficulty) -> dict[str, Any]:
    """A row for each trait and for its square."""
    scales = zip(TRAITS, difficulty.mean.tolist(), difficulty.deviation.tolist(), strict=True)
    terms = zip(TERMS, difficulty.centre.tolist(), difficulty.coefficients.tolist(), strict=True)
    return {
        "traits": {name: {"mean": mean, "deviation": deviation} for name, mean, deviation in scales},
        "terms": {name: {"centre": c, **dict(zip(STATISTICS, row, strict=True))} for name, c, row in terms},
    }


def _difficulty_in(data: Mapping[str, Any]) -> Difficulty:
    of = [data["traits"][name] for name in TRAITS]
    terms = [data["terms"][name] for name in TERMS]
    return Difficulty(
        mean=np.array([float(one["mean"]) for one in of]),
        deviation=np.array([float(one["deviation"]) for one in of]),
        centre=np.array([float(term["centre"]) for term in terms]),
        coefficients=np.array([[float(term[name]) for name in STATISTICS] for term in terms]),
    )


def _trend_out(trend: Trend) -> dict[str, float]:
    return {"at_2000": trend.at_2000, "per_100": trend.per_100, "low": trend.low, "high": trend.high}


def _trend_in(data: Mapping[str, Any]) -> Trend:
    return Trend(*(float(data[key]) for key in ("at_2000", "per_100", "low", "high")))


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


def save(calibration: Calibration, reference_values: Floats, path: str | Path) -> None:
    """Write a calibration, whole or not at all."""
    text = json.dumps(manifest.sealed(to_json(calibration, reference_values)), indent=1, ensure_ascii=False)
    with atomic(path) as part:
        part.write_text(text + "\n", encoding="utf-8")


def shipped() -> tuple[str, ...]:
    """The names of the calibrations that come with Assay.

    >>> {"rybka-3-d13", "stockfish-15.1-d10"} <= set(shipped())
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


def load(name: str | Path | None = None, *, depth: int | None = None) -> Calibration:
    """A calibration by the name of one that is shipped, or by the path of a file; without either, the default.

    >>> str(load(depth=8)), str(load("rybka-3-d13"))
    ('stockfish-15.1-d8 (Stockfish 15.1, depth 8, all moves)', 'rybka-3-d13 (Rybka 3, depth 13, all moves)')
    """
    wanted = default_name(depth or DEFAULT_DEPTH) if name is None else str(name)
    if wanted in shipped():
        text = (resources.files("assay.data") / "calibrations" / f"{wanted}.json").read_text(encoding="utf-8")
        return from_json(json.loads(text))
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
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, zlib.error, ModelError) as error:
        raise CalibrationError(
            f"{path} is damaged ({type(error).__name__} {error}): make it again with 'assay calibrate'."
        ) from error
    manifest.unsealed(data, path)
    return found


QUICK = 6
_STOCKFISH = "stockfish-15.1-d"


def depths() -> list[int]:
    """The depths that a calibration is shipped for, ascending."""
    return sorted(int(name.removeprefix(_STOCKFISH)) for name in shipped() if name.startswith(_STOCKFISH))


def preset_depth(*, quick: bool = False, deep: bool = False) -> int:
    """The depth of a preset: `--deep` is the deepest that a calibration is shipped for.

    >>> preset_depth(quick=True), preset_depth()
    (6, 10)
    """
    return QUICK if quick else max(depths()) if deep else DEFAULT_DEPTH


@dataclass(frozen=True)
class Preset:
    """The depth of the engine, and what to expect of it."""

    depth: int
    words: str


def presets() -> dict[str, Preset]:
    """The presets that shipped calibrations serve, the usual one first.

    >>> presets()["quick"].depth
    6
    """
    usual, quick, deep = preset_depth(), preset_depth(quick=True), preset_depth(deep=True)
    found = {
        "default": Preset(usual, f"depth {usual}: about half a second for each move and core"),
        "quick": Preset(quick, f"depth {quick}: twenty times quicker, wider intervals"),
    }
    if deep > usual:
        found["deep"] = Preset(deep, f"depth {deep}: slower, narrower intervals")
    return found


def depth_of(preset: str) -> int:
    """The depth of a preset by name; `deep` is the usual one where no deeper calibration is shipped.

    >>> depth_of("quick"), depth_of("default")
    (6, 10)
    """
    return preset_depth(quick=preset == "quick", deep=preset == "deep")
