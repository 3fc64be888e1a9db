"""Study 3: s and c at each century mark, at depths 6 and 8.

python studies/model_3_mileposts.py REFERENCE
"""

from __future__ import annotations

import sys

import numpy as np
from spreads import load, show

from assay.moves.fits import Fitting, fit_table


def main(folder: str) -> None:
    for depth in (6, 8):
        rows = [r for r in fit_table(load(folder, depth), "milepost", Fitting(), within=20) if r.free and r.on_line]
        show(
            [
                {"mark": r.label}
                | {k: v for k, v in r.values().items() if k not in ("note", "elo", "elsewhere", "s_fit_error")}
                | {"s_fit_error": r.on_line.s_error}
                for r in rows
                if r.on_line
            ],
            **dict.fromkeys(("s", "c", "c_fit", "s_fit", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual"), 3),
            **dict.fromkeys(("s_error", "c_error", "s_fit_error"), 3),
        )
        log_s = np.log([r.on_line.s for r in rows if r.on_line])
        error = np.array([r.on_line.s_error / r.on_line.s for r in rows if r.on_line])
        elo = np.array([r.elo for r in rows])
        slope, start = np.polyfit(elo, log_s, 1, w=1 / error)
        z = (log_s - start - slope * elo) / error
        steps = np.diff(log_s) / np.hypot(error[1:], error[:-1])
        print(f"ln s falls by {-100 * slope:.3f} per 100 Elo; chi2 about that line {np.sum(z**2):.1f} on {len(z) - 2};")
        print(f"largest rise of s from a mark to the next: {steps.max():.1f} standard errors\n")


if __name__ == "__main__":
    main(sys.argv[1])
