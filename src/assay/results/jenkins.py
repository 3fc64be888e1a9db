"""Bob Jenkins's small fast generator of random bits, as Ordo seeds it, many numbers at a time.

The generator (B. Jenkins, "A small noncryptographic PRNG", 2007-2009) has 128 bits of state and no known way to jump
ahead. Ordo always starts it from the same seed, so its sequence is one fixed sequence; `jenkins.npy` holds the state
at regular places of it (`tools/jenkins_table.py` makes it), and the stretches between them are walked side by side.
Beyond the last place the walk goes on number by number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

SEED = 1324561
# Two rows of 4,096 places: close together for the first 2^24 numbers, farther apart for the first 2^28.
SPACING = (1 << 12, 1 << 16)
PLACES = 1 << 12
_WARM_UP = 20
_LANES = 2048
_MASK = 0xFFFFFFFF

State = tuple[int, int, int, int]
Words = NDArray[np.uint32]
Bits = NDArray[np.uint16]


def seeded(seed: int = SEED) -> State:
    """The state from which the first number is drawn."""
    return walk((0xF1EA5EED, seed, seed, seed), _WARM_UP)


def walk(state: State, count: int, out: Bits | None = None) -> State:
    """Go on by `count` numbers, one by one, and leave the lowest 16 bits of each in `out`.

    >>> drawn = np.zeros(3, np.uint16)
    >>> _ = walk(seeded(), 3, drawn)
    >>> bool((drawn == draw(0, 3)).all())
    True
    """
    a, b, c, d = state
    for i in range(count):
        e = (a - ((b << 27) | (b >> 5))) & _MASK
        a = b ^ (((c << 17) | (c >> 15)) & _MASK)
        b = (c + d) & _MASK
        c = (d + e) & _MASK
        d = (e + a) & _MASK
        if out is not None:
            out[i] = d & 0xFFFF
    return a, b, c, d


@cache
def _places() -> Words:
    with resources.as_file(resources.files("assay.results") / "jenkins.npy") as path:
        places: Words = np.load(path)
    return places


def blocks(size: int, ahead: int = 1) -> Iterator[Bits]:
    """The whole sequence, `size` numbers at a time, made `ahead` blocks at once; the lowest 16 bits of each."""
    position = 0
    while position + size * ahead <= SPACING[1] * PLACES:
        yield from draw(position, size * ahead).reshape(ahead, size)
        position += size * ahead
    # Past the places there is only one foot before the other.
    last = min(position // SPACING[1], PLACES - 1)
    a, b, c, d = (int(word) for word in _places()[1, last])
    state = walk((a, b, c, d), position - last * SPACING[1])
    while True:
        out = np.empty(size, np.uint16)
        state = walk(state, size, out)
        yield out


def draw(start: int, count: int) -> Bits:
    """The lowest 16 bits of `count` numbers from number `start` on, within reach of the places."""
    out = np.empty(count, np.uint16)
    done = 0
    while done < count:
        row = 0 if start + done < SPACING[0] * PLACES else 1
        first, skip = divmod(start + done, SPACING[row])
        lanes = min(_LANES, PLACES - first, -(-(skip + count - done) // SPACING[row]))
        found = _side_by_side(_places()[row, first : first + lanes], SPACING[row])[skip : skip + count - done]
        out[done : done + len(found)] = found
        done += len(found)
    return out


def _side_by_side(places: Words, steps: int) -> Bits:
    """Walk `steps` numbers from each place at once, and give the stretches one after the other."""
    # Copies: the places themselves must stay as they are.
    a, b, c, d = (places[:, i].copy() for i in range(4))
    e, t, u = (np.empty_like(a) for _ in range(3))
    out = np.empty((steps, len(a)), np.uint16)
    for row in out:
        np.left_shift(b, 27, out=t)
        np.right_shift(b, 5, out=u)
        np.bitwise_or(t, u, out=t)
        np.subtract(a, t, out=e)
        np.left_shift(c, 17, out=t)
        np.right_shift(c, 15, out=u)
        np.bitwise_or(t, u, out=t)
        np.bitwise_xor(b, t, out=a)
        np.add(c, d, out=b)
        np.add(d, e, out=c)
        np.add(e, a, out=d)
        np.copyto(row, d, casting="unsafe")
    return out.T.ravel()
