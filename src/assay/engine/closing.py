"""What is closed when its `with` ends: a store, an engine, an analysis."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A resource whose `close` is called at the end of a `with`, whatever happened in it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what is open."""
        raise NotImplementedError
