"""Named arrays and a JSON text in one file, without pickle: the format of weights and checkpoints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.manifest import parse
from assay.paths import atomic

Arrays = dict[str, npt.NDArray[Any]]

_META = "meta.json"


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Write arrays and their description as `.npz`, whole or not at all."""
    text = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with atomic(path) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, **{_META: text, **arrays})


def load_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what `save_arrays` wrote; a damaged or foreign file is refused."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = parse(arrays.pop(_META).tobytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except Exception as error:  # a damaged archive may fail at any of its parts
        raise InputError(f"{path} holds no model of Assay, or is damaged ({error}).") from error
    return arrays, meta
