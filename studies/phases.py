"""A master in the opening and a grandmaster in the endgame: python studies/phases.py REFERENCE [FIGURES]

Are players of unlike strength in the phases of the game? On the reference set (depth 8, 2006-14; players are numbers),
by the choice model: the ratings that a player's moves show in the middlegame and in the endgame (at most six pieces),
each less what all players of the set show there, since phases differ for everybody. The difference of the two is
divided by its standard error, clustered by game. If phases told players apart, far more differences than chance makes
would lie beyond 2; the spread of the true differences is what is left when their errors are taken off.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from two_models import two_models

from assay.curve import GRID
from assay.moves import reference
from assay.moves.calibration import load
from assay.moves.choice.calibrate import JUDGED, Rated
from assay.moves.groups import ENDGAME_PIECES
from assay.reports.plots import new_figure, save

TURNS, GAMES = 60, 4  # of each phase, and games in all, at least
STEP = 100.0


def is_endgame(keys: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """At most six pieces without pawns and kings."""
    board = np.concatenate([keys[:, :32] & 15, keys[:, :32] >> 4], axis=1)
    kind = np.where(board > 6, board - 6, board)
    found: NDArray[np.bool_] = ((kind >= 2) & (kind <= 5)).sum(axis=1) <= ENDGAME_PIECES
    return found


def main(folder: str, figures: str | None = None) -> None:
    found = reference.read(folder, 8)
    own = (found.turns["set"] == "2006-14").to_numpy()
    columns = {name: found.turns[name].to_numpy()[own].astype(np.int64) for name in ("mark", "player", "game")}
    elo = found.turns["elo"].to_numpy()[own].astype(np.float64)
    rated = Rated(found.choices.only(own), elo, **columns)
    rated = rated.only(np.abs(rated.best) <= JUDGED)
    table = two_models(load(depth=8), rated.choices, rated.choices.unit).curve(rated.choices).table
    # Score and information of each turn at the rating in the tags: a step of Newton from there is enough for a sum.
    at = np.clip(np.round((rated.elo - GRID[0]) / (GRID[1] - GRID[0])).astype(int), 2, len(GRID) - 3)
    rows, wide = np.arange(len(rated)), int(STEP / (GRID[1] - GRID[0]))
    up, here, down = table[rows, at + wide], table[rows, at], table[rows, at - wide]
    score, information = (up - down) / (2 * STEP), -(up - 2 * here + down) / STEP**2
    end = is_endgame(rated.choices.keys)
    usual = {phase: score[end == phase].sum() / information[end == phase].sum() for phase in (False, True)}
    print(f"all players, moves less tags: middlegame {usual[False]:+.0f}, endgame {usual[True]:+.0f} Elo")
    differences, errors = [], []
    for player in np.unique(rated.player):
        mine = rated.player == player
        if len(np.unique(rated.game[mine])) < GAMES or min((mine & end).sum(), (mine & ~end).sum()) < TURNS:
            continue
        offsets, variances = [], []
        for phase in (False, True):
            part = mine & (end == phase)
            total = information[part].sum()
            offset = score[part].sum() / total
            rest = score[part] - offset * information[part]
            sums = np.array([rest[rated.game[part] == game].sum() for game in np.unique(rated.game[part])])
            count = len(sums)
            offsets.append(offset - usual[phase])
            variances.append((sums**2).sum() / total**2 * count / max(count - 1, 1))
        differences.append(offsets[1] - offsets[0])
        errors.append(np.sqrt(sum(variances)))
    difference, error = np.array(differences), np.array(errors)
    z = difference / error
    beyond, expected = int((np.abs(z) > 2).sum()), 0.0455 * len(z)
    spread = np.var(difference, ddof=1) - np.mean(error**2)
    print(f"{len(z)} players: endgame less middlegame, median error {np.median(error):.0f} Elo")
    print(f"beyond two standard errors {beyond} (chance {expected:.1f}); z has a spread of {z.std(ddof=1):.2f}")
    print(
        f"spread of the differences {difference.std(ddof=1):.0f} Elo, of errors {np.sqrt(np.mean(error**2)):.0f}; ",
        end="",
    )
    print(f"true differences {f'+-{np.sqrt(spread):.0f}' if spread > 0 else 'not seen'}")
    if figures:
        figure, axes = new_figure(figsize=(7, 4))
        axes.hist(z, bins=np.arange(-4, 4.01, 0.5), color="#0072B2", label="players")
        x = np.linspace(-4, 4, 200)
        axes.plot(x, len(z) * 0.5 * np.exp(-x * x / 2) / np.sqrt(2 * np.pi), color="#D55E00", label="chance alone")
        axes.set(xlabel="endgame less middlegame, in standard errors", ylabel="players")
        axes.legend(frameon=False)
        print(save(figure, Path(figures), "phases.png"))


if __name__ == "__main__":
    main(*sys.argv[1:])
