"""The same number of games from every rating band, drawn over the whole of the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.bands import Bands
from assay.games.catalog import SPAN, Index, collect, rows_of
from assay.games.duplicates import Duplicates
from assay.games.once import once
from assay.games.stats import BAND, band_of, reason_of


@dataclass(frozen=True)
class Draw:
    """The rows that were drawn, in file order, and how many there were and are of each band."""

    spans: pl.DataFrame  # see assay.games.catalog.SPAN, and the band
    bands: Bands
    available: dict[int, int]
    drawn: dict[int, int]
    dropped: dict[str, int]
    duplicates: Duplicates


def draw(
    indexes: Sequence[Index],
    per_band: int,
    *,
    bands: Bands,
    where: str | None = None,
    seed: int = 0,
    keep_duplicates: bool = False,
) -> Draw:
    """Draw `per_band` games from each band (all, where there are fewer), the same ones for the same seed."""
    all_rows, duplicates = rows_of(indexes, where), Duplicates()
    if not keep_duplicates:
        all_rows, duplicates = once(indexes, all_rows)
    rows = all_rows.select(*SPAN, band_of(bands).alias(BAND), reason_of(bands).alias("reason"))
    labels = collect(rows.select(BAND, "reason"), indexes)
    band = labels[BAND].fill_null(-1).to_numpy()
    chosen = []
    for start in bands.starts:
        mine = np.flatnonzero(band == start)
        # A generator of its own for each band: more games of one band change nothing in the others.
        random = np.random.default_rng([seed, start])
        chosen.append(np.sort(random.choice(mine, min(per_band, len(mine)), replace=False)))
    take = np.sort(np.concatenate(chosen))
    wanted = pl.LazyFrame({"row": take}, schema={"row": pl.UInt32})
    spans = rows.select(*SPAN, BAND).with_row_index("row").join(wanted, on="row", how="semi", maintain_order="left")
    reasons = labels.drop_nulls("reason").group_by("reason").len().sort("reason")
    return Draw(
        spans=collect(spans.drop("row"), indexes),
        bands=bands,
        available={start: int(np.count_nonzero(band == start)) for start in bands.starts},
        drawn={start: len(rows_) for start, rows_ in zip(bands.starts, chosen, strict=True)},
        dropped=dict(reasons.iter_rows()),
        duplicates=duplicates,
    )
