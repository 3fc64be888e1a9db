"""A finished training on disk: what it is, its weights, and the numbers that turn logits into posteriors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay import manifest
from assay.arrays import Arrays, load_arrays, save_arrays
from assay.errors import InputError, LearnedError
from assay.learned.config import Config, from_mapping
from assay.paths import atomic

KIND = "learned-run"
VERSION = 1
MANIFEST, WEIGHTS, METRICS, SETTINGS = "run.json", "weights.npz", "metrics.csv", "settings.json"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """A model ready to rate.

    `prior` is the distribution over bands under which its posteriors stand: even for a balanced training, else that
    of the training players. `within` is how those are spread inside each band (None in runs that did not note it:
    evenly). n games of one player pooled count as n to the `power` independent ones.
    """

    path: Path
    manifest: dict[str, Any]
    config: Config
    weights: Arrays
    edges: Floats
    prior: Floats
    within: Floats | None
    inputs: tuple[str, ...]
    temperature: float
    power: float

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def error(self) -> tuple[float, float] | None:
        """Mean absolute error on unseen players at the end of a game, and that of the mean; None if never judged."""
        judged = self.manifest["settings"].get("judged")
        return (judged["by_ply"]["end"]["mae"], judged["by_ply"]["end"]["mean_mae"]) if judged else None


def save_run(run: Run, *, dataset: dict[str, Any], results: dict[str, Any]) -> Run:
    """Write weights, then the manifest that names them: without it a folder is no run yet. Return what was written."""
    save_arrays(run.path / WEIGHTS, run.weights, {"kind": KIND, "version": VERSION})
    settings = {
        "version": VERSION,
        "config": run.config.as_dict(),
        "edges": run.edges.tolist(),
        "prior": run.prior.tolist(),
        "within": None if run.within is None else run.within.round(4).tolist(),
        "inputs": list(run.inputs),
        "temperature": run.temperature,
        "power": run.power,
        "dataset": dataset,
        "results": results,
    }
    manifest.write(run.path / MANIFEST, manifest.make(KIND, inputs=dataset["inputs"], settings=settings))
    return open_run(run.path)


def write_settings(path: Path, config: Config, inputs: tuple[str, ...]) -> None:
    """Note what a training starts with, so that it can be resumed without saying it again."""
    with atomic(path / SETTINGS) as part:
        part.write_text(json.dumps({"config": config.as_dict(), "inputs": list(inputs)}, indent=1) + "\n")


def read_settings(path: Path) -> tuple[Config, tuple[str, ...]]:
    """What the training in this folder was started with."""
    try:
        settings = manifest.parse((path / SETTINGS).read_bytes())
        return from_mapping(settings["config"], str(path / SETTINGS)), tuple(settings["inputs"])
    except OSError:
        raise LearnedError(f"{path} holds no training to resume; leave --resume out to start one.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path / SETTINGS} is damaged ({error}); start the training again elsewhere.") from error


def open_run(path: Path) -> Run:
    """Open a finished run."""
    if not (path / MANIFEST).is_file():
        raise InputError(f"{path} is no finished training: it has no {MANIFEST}.")
    made = manifest.read(path / MANIFEST, KIND)
    settings = made["settings"]
    if settings.get("version") != VERSION:
        raise LearnedError(
            f"{path} is a run of version {settings.get('version')}, this Assay reads version {VERSION}; train it again."
        )
    weights, _ = load_arrays(path / WEIGHTS)
    within = settings.get("within")
    try:
        run = Run(
            path=path,
            manifest=made,
            config=from_mapping(settings["config"], str(path / MANIFEST)),
            weights={
                name: np.asarray(a, dtype=np.float32) if a.dtype == np.float16 else a for name, a in weights.items()
            },
            edges=np.array(settings["edges"], dtype=np.float64),
            prior=np.array(settings["prior"], dtype=np.float64),
            within=None if within is None else np.array(within, dtype=np.float64),
            inputs=tuple(settings["inputs"]),
            temperature=float(settings["temperature"]),
            power=float(settings["power"]),
        )
        error_of_mean = run.error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path / MANIFEST} is damaged ({type(error).__name__} {error}); train it again.") from error
    if error_of_mean is not None and not all(isinstance(value, int | float) for value in error_of_mean):
        raise InputError(f"{path / MANIFEST} is damaged (its errors are no numbers); train it again.")
    _check(run)
    return run


def _check(run: Run) -> None:
    """Refuse a run whose numbers cannot be those of a training."""
    bands = len(run.edges) - 1
    even = (
        run.edges.ndim == run.prior.ndim == 1
        and len(run.prior) == bands > 0
        and bool(np.isfinite(run.edges).all() and (np.diff(run.edges) > 0).all())
        and bool(np.isfinite(run.prior).all() and (run.prior > 0).all())
        and 0 < run.temperature < np.inf
        and 0 <= run.power < np.inf
        and all(isinstance(name, str) for name in run.inputs)
    )
    if even and run.within is not None:
        even = run.within.ndim == 2 and len(run.within) == bands and bool((run.within >= 0).all())
    if not even:
        raise InputError(f"{run.path / MANIFEST} is damaged (its bands do not fit each other); train it again.")
    for name, array in run.weights.items():
        if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
            raise LearnedError(
                f"{run.path / WEIGHTS} is damaged: {name} holds values that are no numbers. Train it again."
            )
