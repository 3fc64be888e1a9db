"""What a row must say of its games: ratings from elsewhere, another pool's scale, a game that no rating explains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.moves.judged import Judged
from assay.moves.regan.spread import Floats
from assay.moves.regan.zscores import FAR_BELOW, single_z
from assay.pools import POOLS, SLOW, is_online


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


def taken_tags(judged: Judged, cells: NDArray[np.intp]) -> list[str]:
    """A note on the games without a rating tag, for which that of another game serves, if there are any."""
    taken = cells[judged.taken[cells]]
    if not len(taken):
        return []
    games = ", ".join(str(game + 1) for game in np.unique(judged.game[taken]))
    ratings = " and ".join(f"{rating:.0f}" for rating in np.unique(judged.rating[taken]))
    return [f"no rating tag in game {games}: {ratings} taken from other games"]


def pool_note(judged: Judged, group: int) -> str:
    """Why the scale of slow games over the board does not fit a group's games; nothing where it does."""
    others = [pool for pool in judged.pools(group) if pool != SLOW]
    if not others:
        return ""
    where = " and ".join(POOLS[pool] for pool in others)
    scale = "the scale is that of slow games over the board"
    return f"{where}: {scale}, so no Elo" if any(map(is_online, others)) else f"{where}: {scale}"


def is_elsewhere(judged: Judged, group: int) -> bool:
    """Whether any game of a group was played on a server, whose ratings are a scale that no calibration has."""
    return any(map(is_online, judged.pools(group)))
