"""How often the marks of a review (inaccuracy, mistake, blunder) do not stand at a greater depth.

    python studies/marks.py reference [--depth 6 --judge 10] [--store STORE] [--turns N]

Of the turns of the reference set: how many are marked by the values at a depth, how many of these marks the judging
depth leaves as they are or makes graver, makes lighter, or takes away; and how many of the judge's marks were not seen.
With a store the second look of the review is taken: marks are then those on which both agree, and what a look costs is
told.
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

import chess
import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import filled
from assay.engine.score import pawns
from assay.engine.store import Store
from assay.games.packed import decode_move, to_fen
from assay.moves.asked import Asked
from assay.moves.reference import Reference, read
from assay.reports.judged import NAMES, mark_of, win_of
from assay.reports.second_look import look_again, looking_depth

_ORDER = ["", *NAMES]


def marks(reference: Reference, depth: int) -> NDArray[np.int64]:
    """Of each turn how grave the played move was by the values at a depth: 0 for no mark, 3 for a blunder."""
    choices = reference.choices
    values = pawns(filled(choices.codes[:, depth - 1 : depth], choices.start)[:, 0])
    lost = win_of(np.maximum.reduceat(values, choices.start[:-1])) - win_of(values[choices.chosen])
    return np.array([_ORDER.index(mark_of(loss)) for loss in lost.tolist()])


def confirmed(reference: Reference, own: NDArray[np.int64], depth: int, store: Path) -> NDArray[np.int64]:
    """The marks on which a second look agrees."""
    choices = reference.choices
    at = np.flatnonzero(own)
    played = [
        (
            chess.Board(to_fen(choices.keys[turn].tobytes())),
            chess.Move.from_uci(decode_move(int(choices.moves[choices.chosen[turn]]))),
        )
        for turn in at.tolist()
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Store(store, create=True) as opened:
        looks = look_again(played, opened, reference.identity, depth, Asked())
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime
    print(f"{len(at):,} second looks at depth {looking_depth(depth)}, {1000 * seconds / len(at):.0f} ms of CPU each")
    agreed = np.zeros(len(own), np.int64)
    agreed[at] = [_ORDER.index(mark_of(look.loss)) if look else 0 for look in looks]
    return np.minimum(own, agreed)


def main() -> None:
    """Compare the marks of a depth with those of the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference")
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--judge", type=int, default=10)
    parser.add_argument("--store", type=Path, help="where second looks are kept; without it there are none")
    parser.add_argument("--turns", type=int)
    asked = parser.parse_args()
    reference = read(asked.reference, max(asked.judge, asked.depth))
    reference = reference.first(asked.turns) if asked.turns else reference
    own, judged = marks(reference, asked.depth), marks(reference, asked.judge)
    print(f"{len(own):,} moves, marked at depth {asked.depth}, judged at depth {asked.judge}")
    if asked.store:
        own = confirmed(reference, own, asked.depth, asked.store)
    print("mark        marked  stands  lighter  none  not seen")
    for number, name in enumerate(NAMES.values(), 1):
        mine, theirs = judged[own == number], own[judged == number]
        shares = [(mine >= number).mean(), ((mine < number) & (mine > 0)).mean(), (mine == 0).mean()]
        told = "  ".join(f"{share:{width}.0%}" for share, width in zip(shares, (6, 7, 4), strict=True))
        print(f"{name:<10}  {len(mine):6,}  {told}  {(theirs == 0).mean():8.0%}")


if __name__ == "__main__":
    main()
