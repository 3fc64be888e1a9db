"""A thread that stores results while engines go on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from assay.engine.store import LeftOut, Store
from assay.engine.uci import Valued


class Writer:
    """Stores results from a thread of its own, so that no engine waits for the disk."""

    def __init__(
        self, store: Store, analysis: int, stored: Callable[[Sequence[Valued | LeftOut]], None] | None = None
    ) -> None:
        """`stored` is told of results once they are on the disk."""
        self._store, self._analysis, self._stored = store, analysis, stored
        self._queue: queue.SimpleQueue[Valued | LeftOut | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._write, name="store-writer")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def put(self, result: Valued | LeftOut) -> None:
        """Hand over a result; the error that ended the writing, if one did."""
        if self._error is not None:
            raise self._error
        self._queue.put(result)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._queue.put(None)
        self._thread.join()
        if self._error is not None and kind is None:
            raise self._error

    def _write(self) -> None:
        try:
            while True:
                batch = [self._queue.get()]
                while not self._queue.empty():
                    batch.append(self._queue.get())
                results = [result for result in batch if result is not None]
                self._store.add(self._analysis, results)
                if self._stored:
                    self._stored(results)
                if len(results) < len(batch):
                    return
        except BaseException as error:
            self._error = error
