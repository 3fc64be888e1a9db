"""Rating bands and speeds: one definition for everybody."""

from __future__ import annotations

from dataclasses import dataclass

# Lichess: the estimated length of a game, base + 40 increments, in seconds; each speed lies below its limit.
SPEED_LIMITS = {"ultrabullet": 30, "bullet": 180, "blitz": 480, "rapid": 1500, "classical": 21600}


def speed(base_seconds: float | None, increment_seconds: float | None) -> str | None:
    """Name the speed of a time control by Lichess's limits on base + 40 x increment.

    >>> speed(300, 0), speed(15, 0), speed(600, 5), speed(1800, 20), speed(None, None)
    ('blitz', 'ultrabullet', 'rapid', 'classical', None)
    """
    if base_seconds is None:
        return None
    estimate = base_seconds + 40 * (increment_seconds or 0)
    return next((name for name, limit in SPEED_LIMITS.items() if estimate < limit), "correspondence")


@dataclass(frozen=True)
class Bands:
    """Half-open rating bands of equal width: [least, least + width), ..., up to `end`.

    >>> STANDARD.of(1650), STANDARD.of(599), STANDARD.label(1600), len(STANDARD.starts)
    (1600, None, '1600-1699', 25)
    """

    least: int = 600
    end: int = 3100
    width: int = 100

    @property
    def starts(self) -> range:
        """Where the bands begin."""
        return range(self.least, self.end, self.width)

    def of(self, rating: float) -> int | None:
        """The start of the band that holds this rating, or None outside all bands."""
        if not self.least <= rating < self.end:
            return None
        return self.least + int(rating - self.least) // self.width * self.width

    def label(self, start: int) -> str:
        """The band that begins there, in words."""
        return f"{start}-{start + self.width - 1}"


STANDARD = Bands()
