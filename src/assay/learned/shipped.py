"""The small models that ship with the package, and which of them fits a game."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from assay.errors import InputError
from assay.learned.run import MANIFEST, Run, open_run

SHIPPED = ("lichess", "otb")


@cache
def shipped(name: str) -> Run:
    """One of the shipped models: "lichess" (Lichess ratings) or "otb" (over the board, FIDE ratings)."""
    with as_file(files("assay") / "data" / "models" / name) as folder:
        return open_run(folder)


def model_of(choice: str | None, site: str) -> Run:
    """The model to use: a folder or a shipped name if given, else by where the game was played.

    Ratings of Lichess and over the board are different scales, so each has its model.
    """
    if choice is None:
        return shipped("lichess" if "lichess" in site.lower() else "otb")
    if (Path(choice) / MANIFEST).is_file():
        return open_run(Path(choice))
    if choice in SHIPPED:
        return shipped(choice)
    raise InputError(
        f"there is no model {choice!r}: give the folder of a finished 'assay train', or one of {', '.join(SHIPPED)}."
    )
