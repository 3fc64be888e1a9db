"""How far published conversions from Lichess to FIDE are off: python studies/fide_lichess.py DATA.

DATA has `fide-lichess-formulas.csv` (regressions on about 28,000 profiles) and `fide-and-lichess.csv` (79 people with
both ratings, self-reported). Printed for each speed: the formula, how many of the people have that rating, the mean
error of the formula on them, and the spread about it (1.4826 times the median of the absolute errors, and the root mean
square). The figures stand in `assay.scales.FIDE`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl


def main(data: str) -> None:
    formulas = pl.read_csv(Path(data) / "fide-lichess-formulas.csv")
    people = pl.read_csv(Path(data) / "fide-and-lichess.csv", infer_schema_length=None)
    for speed in ("bullet", "blitz", "rapid", "classical"):
        row = formulas.filter(pl.col("inputs") == speed).row(0, named=True)
        both = people.select("fide", f"lichess_{speed}").cast(pl.Float64, strict=False).drop_nulls().to_numpy()
        error = row["intercept"] + row[speed] * both[:, 1] - both[:, 0]
        middle = 1.4826 * np.median(np.abs(error - np.median(error)))
        print(
            f"{speed:10} FIDE = {row['intercept']:.1f} + {row[speed]:.3f} x rating; {len(both)} people, "
            f"mean error {error.mean():+.0f} ± {error.std() / np.sqrt(len(both)):.0f}, "
            f"spread {middle:.0f} by the median, {np.sqrt((error**2).mean()):.0f} root mean square"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
