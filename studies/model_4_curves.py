"""Study 4: all curves and ratio models side by side, fitted by percentiles.

python studies/model_4_curves.py REFERENCE
"""

from __future__ import annotations

import sys
import warnings

from spreads import load, show

from assay.errors import AssayWarning, ModelError
from assay.moves.fits import Fitting, spread_of
from assay.moves.regan import CURVES, MODELS, fit


def main(folder: str) -> None:
    warnings.simplefilter("ignore", AssayWarning)
    turns = load(folder, 8)
    spread = spread_of(turns, Fitting())
    rows = []
    for model in MODELS:
        for curve in CURVES:
            row: dict[str, object] = {"model": model, "curve": curve}
            try:
                f = fit(
                    spread.deltas,
                    spread.played,
                    model=model,
                    curve=curve,
                    games=spread.games,
                    elsewhere=spread.elsewhere,
                )
            except ModelError as error:
                rows.append(row | {"note": str(error)})
                continue
            row |= {"s": f.s, "c": f.c, "qfit": f.qfit, "percentiles": 1e4 * f.percentile_distance}
            row |= {"ln p per turn": f.log_likelihood / f.turns, "mm": f.mm_predicted, "ad": f.ad_predicted}
            rows.append(row | {"top3": f.top_predicted[2], "note": "at the edge of the range" if f.at_edge else ""})
    show(rows, s=3, c=3, qfit=3, percentiles=2, **{"ln p per turn": 4}, mm=3, ad=4, top3=3)
    print(f"actual: mm {f.mm_actual:.3f}, ad {f.ad_actual:.4f}, top3 {f.top_actual[2]:.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
