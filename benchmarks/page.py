"""The page docs/performance.md, written wholly from the figures of one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from assay.learned import open_dataset
from assay.paths import atomic
from growth import Series
from machine import Machine
from made import BASE
from measure import Measurement, as_data, figure
from paper import CLUSTER, MONTH, OPENING, TWIC, YEAR, Disk, capacity, rating_memory, steps, storage

TEMPLATE = "performance.md.j2"
INDEXES = {"index": "index", "index, Lichess .zst": "lichess"}  # series, and the stem of the files that it makes
EXPONENTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Findings:
    """All that one run found."""

    machine: Machine
    scale: str
    data: str  # the name of the file that was given, if one was
    megabytes: float  # of the games that the tables rest on
    rooms: Mapping[str, list[Measurement]]
    grown: Mapping[str, Series]
    disk: Disk
    minutes: float

    def as_data(self) -> dict[str, Any]:
        return {
            "machine": asdict(self.machine),
            "scale": self.scale,
            "data": self.data,
            "rooms": {room: [as_data(row) for row in rows] for room, rows in self.rooms.items()},
            "growth": [asdict(series) | {"slope": series.slope} for series in self.grown.values()],
            "disk": asdict(self.disk),
        }


def disk(grown: Mapping[str, Series], folder: Path) -> Disk:
    """Bytes on disk of what the run made itself."""
    stored = grown["store, insert"].sizes[-1]
    dataset = open_dataset(folder / "dataset")
    shards = sum(file.stat().st_size for file in dataset.path.rglob("*") if file.is_file())
    made, rows = {}, {}
    for name, stem in INDEXES.items():
        games = max(size for size in grown[name].sizes if size <= BASE)  # beyond, games repeat and pack too well
        file = folder / f"{stem}-{games}.parquet"
        made[name] = pl.scan_parquet(file).select("end_offset").max().collect().item() / games
        rows[name] = file.stat().st_size / games
    return Disk(
        made_game=made,
        index_row=rows,
        stored_position=(folder / f"store-{stored}.db").stat().st_size / stored,
        dataset_ply=shards / sum(dataset.table["plies"].to_pylist()),
    )


def write(found: Findings, file: Path) -> None:
    """Write the page."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"figure": figure, "table": table}
    text = environment.get_template(TEMPLATE).render(
        found=found,
        measured=[{"part": room} | row.row() for room, rows in found.rooms.items() for row in rows],
        missed=[row for rows in found.rooms.values() for row in rows if row.met is False],
        growth=[_grown(series) for series in found.grown.values()],
        workloads=[
            {
                "work": work,
                "steps": [step.row(found.machine.cores, work.games) for step in steps(work, found.grown, found.disk)],
                "storage": storage(work, found.disk),
                "capacity": capacity(work, found.grown),
                "memory": rating_memory(work, found.grown),
            }
            for work in (MONTH, YEAR, TWIC)
        ],
        cluster=CLUSTER,
        opening=OPENING,
    )
    with atomic(file) as part:
        part.write_text(text, encoding="utf-8")


def table(rows: Iterable[Mapping[str, str]], titles: str = "") -> str:
    """Rows as a Markdown table, with other titles than their names if these are given, parted by |."""
    rows = list(rows)
    heads = titles.split("|") if titles else list(rows[0])
    lines = [heads, ["---"] * len(heads), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _grown(series: Series) -> dict[str, str]:
    """A line of the table of growth."""
    return {
        "job": series.name,
        "grows": series.axis,
        "sizes": " · ".join(map(_power, series.sizes)),
        "seconds": " · ".join(figure(cost.cpu) for cost in series.costs),
        "memory": " · ".join(figure(cost.memory) for cost in series.costs),
        "exponent": "" if series.axis == "depth" else f"{series.slope:.2f}",
    }


def _power(size: int) -> str:
    """A size as a power of ten where it is one.

    >>> _power(100_000), _power(300), _power(50_000)
    ('10⁵', '300', '5·10⁴')
    """
    text = str(size)
    zeros = len(text) - len(text.rstrip("0"))
    if zeros < 3:
        return text
    rest = text.rstrip("0")
    return ("" if rest == "1" else f"{rest}·") + f"10{str(zeros).translate(EXPONENTS)}"
