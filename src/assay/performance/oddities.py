"""Games that no rating explains: wrongly recorded, or not played in earnest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.intrinsic.screen import FAR_BELOW, single_z
from assay.intrinsic.spread import Floats
from assay.performance.judged import Judged


def far_below(judged: Judged, cells: NDArray[np.intp], ratings: Floats) -> list[str]:
    """A note on the games in which a player falls far below the rating (nan: not known), if there are any."""
    known = np.isfinite(ratings)
    rated = cells[known]
    z = single_z(judged.tally.of(rated), ratings[known], judged.scale)
    low = z < FAR_BELOW
    if not low.any():
        return []
    lowest = int(np.nanargmin(z))
    worst = f"game {judged.game[rated[lowest]] + 1}"
    games = len(np.unique(judged.game[rated[low]]))
    which = (
        f"{worst} is far below the rating" if games == 1 else f"{games} games are far below the rating, {worst} most"
    )
    return [f"{which} (z {z[lowest]:.1f}): perhaps wrongly recorded, or not in earnest"]
