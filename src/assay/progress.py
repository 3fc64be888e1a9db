"""Progress with rate and time left, on stderr; silent when not a terminal or when asked to be quiet."""

from __future__ import annotations

import sys
import time
from contextvars import ContextVar
from types import TracebackType
from typing import Self

from assay.printable import printable


def duration(seconds: float) -> str:
    """A length of time for people.

    >>> duration(7.4), duration(75), duration(4000), duration(200_000)
    ('7 s', '1:15', '1:06:40', '2 d 7 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


_hushed: ContextVar[bool] = ContextVar("hushed", default=False)


def hush(quiet: bool) -> None:
    """Show no progress from now on, wherever it comes from."""
    _hushed.set(quiet)


class Progress:
    """One line on stderr that tells how far a long job is.

    Use it as a context manager; `advance` is cheap enough to call for every batch. `note` is a short text at
    the end of the line, such as the busy share of the workers.
    """

    def __init__(self, label: str, total: float | None = None, *, unit: str = "", quiet: bool = False) -> None:
        self.label, self.total, self.unit = label, total, unit
        self.done = 0.0
        self.note = ""
        self.shown = not quiet and not _hushed.get() and sys.stderr.isatty()
        self._start = self._last = time.monotonic()
        self._width = 0

    def __enter__(self) -> Self:
        self._start = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.shown and self._width:
            self._draw()
            sys.stderr.write("\n")
            sys.stderr.flush()

    def advance(self, amount: float = 1) -> None:
        """So much more is done."""
        self.update(self.done + amount)

    def update(self, done: float, total: float | None = None) -> None:
        """Set how much is done (and the total, once it is known)."""
        self.done = done
        if total is not None:
            self.total = total
        now = time.monotonic()
        if self.shown and now - self._last >= 0.2:
            self._last = now
            self._draw()

    def line(self) -> str:
        """The line as it stands now."""
        elapsed = max(time.monotonic() - self._start, 1e-9)
        rate = self.done / elapsed
        unit = f" {self.unit}" if self.unit else ""
        parts = [f"{self.label}: {self.done:,.0f}"]
        if self.total:
            parts[0] += f" of {self.total:,.0f}{unit} ({self.done / self.total:.0%})"
        else:
            parts[0] += unit
        parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
        if self.total and rate > 0:
            parts.append(f"{duration(max(self.total - self.done, 0) / rate)} left")
        if self.note:
            parts.append(self.note)
        return printable(", ".join(parts))

    def _draw(self) -> None:
        line = self.line()
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)
