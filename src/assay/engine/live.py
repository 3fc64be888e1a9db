"""Value one position now: for agents that play, and for trying things out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assay.engine import score
from assay.engine.find import DEFAULT
from assay.engine.identity import Identity, Search
from assay.engine.position import decode_move, from_fen
from assay.engine.uci import UciEngine, Valued, legal_moves, read_search
from assay.errors import EngineError


class Engine:
    """An engine that answers one question at a time; a context manager.

    Answers are those of the store: Threads 1 and a fresh hash, so a value depends on nothing that was asked before.
    """

    def __init__(self, engine: str = DEFAULT, *, hash_mb: int = 16) -> None:
        self._search = Search(engine, hash_mb=hash_mb)
        self._runner = asyncio.Runner()
        self._engine: UciEngine | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._runner.run(self._engine.quit())
            self._engine = None
        self._runner.close()

    def identity(self, lines: int = 50) -> Identity:
        """Who answers, and with how many lines."""
        return self._runner.run(self._started(replace(self._search, lines=lines))).identity

    def values(self, fen: str, depth: int = 10, lines: int = 50) -> tuple[list[str], NDArray[np.float64]]:
        """The moves of a position in UCI, best first, and their values in pawns from the mover's side."""
        valued = self.analyse(fen, depth, lines)
        moves = [decode_move(code) for code in valued.move_codes().tolist()]
        return moves, score.pawns(valued.table()[-1])

    def analyse(self, fen: str, depth: int = 10, lines: int = 50) -> Valued:
        """The analysis of a position as the store keeps it: every move at every depth."""
        return self._runner.run(self._analyse(fen, replace(self._search, depth=depth, lines=lines)))

    async def _analyse(self, fen: str, search: Search) -> Valued:
        key = from_fen(fen)
        legal = legal_moves(key)
        if not legal:
            raise EngineError(f"there is no legal move in {fen}.")
        engine = await self._started(search)
        try:
            engine.begin(key)
            output, seconds = await engine.finish()
            return read_search(output, key, legal, engine.search, seconds)
        except EngineError as error:
            await engine.end()
            self._engine = None
            raise EngineError(f"{engine.name} failed at {fen}: {error}.") from error

    async def _started(self, search: Search) -> UciEngine:
        if self._engine is None:
            self._engine = await UciEngine.start(search)
        else:
            self._engine.ask_for(search)
        return self._engine
