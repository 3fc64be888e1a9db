"""A few small integers per ply that a board gives without an engine: material, loose pieces, mobility, king safety.

They are what a linear projection of planes finds hard to see from few games (a product of "my piece" and "their
control"), and what the gradient-boosting baseline is made of. Everything is from the mover's point of view.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games.bitboards import BISHOP_STEPS, ROOK_STEPS, Boards, leap

Small = npt.NDArray[np.int8]

_VALUES = (1, 3, 3, 5, 9)  # pawn, knight, bishop, rook, queen
_CENTRE = np.uint64(0x0000_3C3C_3C3C_0000)
_LAST_RANKS = np.uint64(0xFF00_0000_0000_00FF)

SIDE_NAMES = ("material", "at stake", "loose", "control", "legal control", "in check", "king ring", "centre")
MOVE_NAMES = ("captured", "pawn", "knight", "bishop", "rook", "queen", "king", "promotion", "castling", "recapture")
SCALAR_NAMES = (
    *(f"{side} {name}{after}" for after in ("", " after") for side in ("my", "their") for name in SIDE_NAMES),
    *MOVE_NAMES,
)


def side_scalars(planes: Boards) -> Small:
    """Numbers of each side of each position from planes 0-41 (42, positions): (2, 8, positions).

    *At stake* is what the opponent's best capture would win by a two-step exchange: the whole piece if nothing
    guards it, else its value less that of the least attacker. *Loose* counts attacked pieces without a guard.
    """
    positions = planes.shape[1]
    pieces, control = planes[:12].reshape(2, 6, -1), planes[24:36].reshape(2, 6, -1)
    total = planes[36:38]
    found = np.empty((2, len(SIDE_NAMES), positions), dtype=np.int8)
    for side in (0, 1):
        mine, attackers, reached, guarded = pieces[side], control[1 - side], total[1 - side], total[side]
        material = np.zeros(positions, dtype=np.int8)
        at_stake = np.zeros(positions, dtype=np.int8)
        loose = np.zeros(positions, dtype=np.int8)
        for kind, value in enumerate(_VALUES):
            material += (np.bitwise_count(mine[kind]) * value).astype(np.int8)
            hanging = mine[kind] & reached & ~guarded
            loose += np.bitwise_count(hanging).astype(np.int8)
            np.maximum(at_stake, np.where(hanging != 0, value, 0), out=at_stake, casting="unsafe")
            for attacker, cost in enumerate(_VALUES[:kind]):
                if cost < value:
                    gain = np.where((mine[kind] & attackers[attacker]) != 0, value - cost, 0)
                    np.maximum(at_stake, gain, out=at_stake, casting="unsafe")
        king = mine[5]
        ring = leap(king, ROOK_STEPS + BISHOP_STEPS)
        counts = (
            np.bitwise_count(total[side]),
            np.bitwise_count(planes[38 + side]),
            (king & reached) != 0,
            np.bitwise_count(ring & reached),
            np.bitwise_count(_CENTRE & guarded),
        )
        found[side] = np.stack((material, at_stake, loose, *counts)).astype(np.int8)
    return found


def ply_scalars(before: Small, after: Small, planes: Boards) -> Small:
    """The scalars of plies, (plies, 42), in the order of SCALAR_NAMES.

    `before` and `after` are the side scalars (2, 8, plies) of the two positions, `planes` (64, plies) the plies'.
    """
    white = planes[56] != 0
    sides = [np.where(white, state[side], state[1 - side]).T for state in (before, after) for side in (0, 1)]
    own = np.where(white, planes[:6], planes[6:12])
    theirs = np.where(white, planes[6:12], planes[:6])
    origin, target, previous = planes[48], planes[49], planes[51]
    moved = (own & origin) != 0
    taken = (theirs[:5] & target) != 0
    # The squares below one single square are its bits less one, so this counts the squares from origin to target.
    distance = np.bitwise_count((origin - np.uint64(1)) ^ (target - np.uint64(1)))
    en_passant = moved[0] & ((distance == 7) | (distance == 9)) & ~taken.any(axis=0)
    captured = np.asarray(_VALUES) @ taken + en_passant
    promotion = moved[0] & ((target & _LAST_RANKS) != 0)
    castling = moved[5] & (distance == 2)
    recapture = (captured > 0) & (target == previous)
    moves = np.stack((captured, *moved, promotion, castling, recapture), axis=1).astype(np.int8)
    return np.concatenate((*sides, moves), axis=1)
