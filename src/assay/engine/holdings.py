"""What a store holds, written for others and taken in from others, as commands tell of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from assay.engine.exchange import export, import_file
from assay.engine.identity import NO_DEPTH, Search
from assay.engine.store import Store, writing
from assay.paths import File, store_place
from assay.presets import ALL_LINES
from assay.table import Answer, Table, columns_of, counted, reasons

ANALYSES_COLUMNS = (
    *("engine", "net", "options", "lines", "nodes", "depth", "least_depth", "positions", "left_out", "games"),
)


def analyses(store: File | None = None, *, mend: bool = False) -> Answer:
    """What a store of analyses holds, as `assay analyses` lists it; `mend` first takes out what is damaged.

    >>> import assay
    >>> assay.analyses("nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    path, remarks = store_place(store), list[str]()
    if mend:
        Store(path).close()  # refuses a file that is no store, instead of making one
        with writing(path) as opened:
            remarks.append(f"{counted(opened.mend(), 'damaged entry')} taken out of {path}.")
    with Store(path) as opened:
        rows = [
            {
                "engine": kept.identity.engine,
                "net": kept.identity.net,
                "options": " ".join(f"{name}={value}" for name, value in kept.identity.options),
                "lines": "all" if kept.identity.lines >= ALL_LINES else kept.identity.lines,
                "nodes": kept.identity.nodes or None,
                "depth": None if kept.depth in (0, NO_DEPTH) else kept.depth,
                "least_depth": None if kept.least_depth in (0, NO_DEPTH) else kept.least_depth,
                "positions": kept.positions,
                "left_out": kept.left_out,
                "games": kept.games,
            }
            for kept in opened.kept()
        ]
    columns = columns_of(ANALYSES_COLUMNS, wide=("net", "options", "least_depth"))
    return Answer(shown=Table(rows, columns), remarks=remarks)


def export_analyses(path: File, *, store: File | None = None, quiet: bool = True) -> Answer:
    """Write a store of analyses as Parquet or JSON lines, as `assay export-analyses` does.

    >>> import assay
    >>> assay.export_analyses("all.jsonl", store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    with Store(store_place(store)) as opened:
        count = export(opened, Path(path), quiet=quiet)
    shown = Table([{"file": str(path), "positions": count}], columns_of(("file", "positions")))
    return Answer(shown=shown, remarks=[f"{counted(count, 'position')} written to {path}."])


def import_analyses(
    files: File | Sequence[File],
    *,
    store: File | None = None,
    engine: str = "stockfish",
    engine_name: str | None = None,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> Answer:
    """Read analyses from Parquet or JSON lines into a store, as `assay import-analyses` does: a row for each file.

    >>> import assay
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     assay.import_analyses("no-such-file.jsonl", store=f"{folder}/new.db", engine_name="Rybka 3")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    say, rows, refused = told or (lambda text: None), [], Counter[str]()
    with writing(store_place(store)) as opened:
        for file in [files] if isinstance(files, str | PathLike) else files:
            found = import_file(Path(file), opened, search=Search(engine), named=engine_name, quiet=quiet)
            games = f", {counted(found.games, 'game')}" if found.games else ""
            say(f"{file}: {counted(found.valued, 'position')}, {found.left_out:,} left out{games}.")
            if found.refused:
                most = reasons(dict(found.refused.most_common(5)))
                say(f"Rows refused: {most} (first: {found.first_refused}).")
            refused += found.refused
            rows.append(
                {"file": str(file), "positions": found.valued, "left_out": found.left_out, "games": found.games}
            )
    return Answer(shown=Table(rows, columns_of(("file", "positions", "left_out", "games"))), problems=refused)
