"""The analysis store: valued positions by identity, in one SQLite file.

::

    analysis   id, engine, net, options (JSON), nodes, lines,         who valued, under which rules
               checksum
    valued     analysis, key, depth, reached, legal, nodes,           one row per position and analysis
               milliseconds, moves, scores, checksum
    left_out   analysis, key, reason, value, checksum                 positions not worth a search: forced, decided
    covered    analysis, key                                          games analysed whole, by their last position
    seal       name, value                                            checksums of the schema and of where tables begin

`key` is the 35 bytes of :mod:`assay.games.packed`, `moves` and `scores` the bytes of
:class:`assay.engine.uci.Valued`. A deeper search of a position takes the place of a shallower one.

The journal is a write-ahead log and every commit is synced, so a finished position survives a kill and a power cut.
Any number of processes may read while one writes. SQLite notices a damaged page only where it no longer makes sense, so
rows carry a checksum, too: a value that changed on the disk is refused, never used. So does the schema: a table whose
first page is taken for another's would read as an empty one.
"""

from __future__ import annotations

import json
import os
import queue
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.engine.identity import Identity, likely_of
from assay.engine.uci import Valued
from assay.errors import StoreError
from assay.games.packed import KEY_BYTES
from assay.paths import note_input, only_writer
from assay.presets import ALL_LINES
from assay.records import dataclass


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


_APPLICATION = 0x41535359
# 1 had no checksums, 2 no seal; such stores are read as they are, and get what they lack when they are written to.
_FORMAT, _WITH_CHECKSUMS = 3, 2
_SEAL = "CREATE TABLE seal (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
_INDEX = "CREATE UNIQUE INDEX valued_key ON valued (analysis, key, depth, legal)"
_SCHEMA = f"""
CREATE TABLE analysis (
    id INTEGER PRIMARY KEY, engine TEXT NOT NULL, net TEXT NOT NULL, options TEXT NOT NULL,
    nodes INTEGER NOT NULL, lines INTEGER NOT NULL, checksum INTEGER, UNIQUE (engine, net, options, nodes, lines)
);
CREATE TABLE valued (
    id INTEGER PRIMARY KEY, analysis INTEGER NOT NULL REFERENCES analysis, key BLOB NOT NULL, depth INTEGER NOT NULL,
    reached INTEGER NOT NULL, legal INTEGER NOT NULL, nodes INTEGER NOT NULL, milliseconds INTEGER NOT NULL,
    moves BLOB NOT NULL, scores BLOB NOT NULL, checksum INTEGER
);
{_INDEX};
CREATE TABLE left_out (
    analysis INTEGER NOT NULL REFERENCES analysis, key BLOB NOT NULL, reason TEXT NOT NULL, value INTEGER NOT NULL,
    checksum INTEGER, PRIMARY KEY (analysis, key)
) WITHOUT ROWID;
CREATE TABLE covered (
    analysis INTEGER NOT NULL REFERENCES analysis, key BLOB NOT NULL, PRIMARY KEY (analysis, key)
) WITHOUT ROWID;
{_SEAL}
"""
_SUMMED = ("analysis", "valued", "left_out")
# The fields of Valued, in their order.
_COLUMNS = "key, depth, reached, legal, nodes, milliseconds, moves, scores"
_BATCH = 500
# What comes of a damaged file; messages of SQLite quote it, and may not be UTF-8 then.
_BROKEN = (sqlite3.Error, UnicodeDecodeError)


@dataclass(frozen=True)
class LeftOut:
    """A position that was not searched: `forced` (a single legal move) or `decided` (with the look's score code)."""

    key: bytes
    reason: str
    value: int


@dataclass(frozen=True)
class Kept:
    """What the store holds of one identity."""

    id: int
    identity: Identity
    positions: int
    left_out: int
    games: int
    least_depth: int
    depth: int


class Store(Closing):
    """An open store. Use it as a context manager."""

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"there is no analysis store {self.path}. 'assay analyse' makes one.")
        try:
            if create:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            where = self.path.absolute().as_uri() + ("" if create or not self._is_fixed() else "?immutable=1")
            self._db = sqlite3.connect(where, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{self.path} cannot be opened: {error}.") from error
        try:
            self._prepare(create)
        except _BROKEN as error:
            self.close()
            raise StoreError(f"{self.path} cannot be opened as an analysis store: {error}.") from error
        except BaseException:
            self.close()
            raise
        self._file = self._which_file()
        note_input(self.path)

    def _which_file(self) -> tuple[int, int] | None:
        """What the system knows the file at this path by; None if there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _is_fixed(self) -> bool:
        """Whether nobody can write here and nothing is left in a log: SQLite reads such a store only if it is told."""
        log = self.path.with_name(self.path.name + "-wal")
        return not os.access(self.path.parent, os.W_OK) and not log.exists()

    def _prepare(self, create: bool) -> None:
        db = self._db
        (application,) = db.execute("PRAGMA application_id").fetchone()
        # A damaged store may seem to have no tables, and must not get new ones.
        if create and not application and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            db.execute("PRAGMA page_size = 8192")
            db.execute("PRAGMA journal_mode = WAL")
            self._change(f"{_SCHEMA} PRAGMA application_id = {_APPLICATION}")
            application = _APPLICATION
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise StoreError(f"{self.path} is not an analysis store.")
        if version > _FORMAT:
            raise StoreError(f"{self.path} was written by a newer version of Assay: update Assay.")
        if version == _FORMAT or db.execute("SELECT 1 FROM sqlite_master WHERE name = 'seal'").fetchone():
            self._check_seal(create)
        elif create:
            summed = _SUMMED if version < _WITH_CHECKSUMS else ()
            self._change("".join(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER;" for table in summed) + _SEAL)
            version = _FORMAT
        self._checksum = "checksum" if version >= _WITH_CHECKSUMS else "NULL"
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA cache_size = -65536")

    def _change(self, statements: str) -> None:
        """Change the schema, all of it or nothing, and seal it."""
        self._db.execute("BEGIN IMMEDIATE")
        for statement in (*statements.split(";"), f"PRAGMA user_version = {_FORMAT}"):
            self._db.execute(statement)
        self._seal()
        self._db.execute("COMMIT")

    def _sums(self) -> dict[str, int]:
        """The checksums of the schema as it is: what the tables are, and where they begin."""
        rows = self._db.execute(
            "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master ORDER BY name"
        ).fetchall()
        return {"schema": _sum(value for row in rows for value in row[:4]), "roots": _sum(row[4] for row in rows)}

    def _seal(self) -> None:
        self._db.executemany("INSERT OR REPLACE INTO seal VALUES (?, ?)", self._sums().items())

    def _check_seal(self, write: bool) -> None:
        """Refuse a store whose schema is not the one that was written.

        Tables may begin elsewhere since, as after VACUUM; then SQLite looks through the whole of the file, and a writer
        seals it anew.
        """
        try:
            sealed, found = dict(self._db.execute("SELECT name, value FROM seal")), self._sums()
            whole = sealed == found or (
                sealed["schema"] == found["schema"]
                and self._db.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
            )
        except (*_BROKEN, KeyError) as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise
            whole = False
        if not whole:
            raise StoreError(
                f"{self.path} is damaged where it says what it holds. "
                f"'sqlite3 {self.path} .recover' saves what can be saved."
            )
        if write and sealed != found:
            self._seal()

    def for_writing(self) -> Self:
        """The same store, brought to the present format for its only writer (see :func:`writing`)."""
        try:
            self._prepare(True)
        except _BROKEN as error:
            raise StoreError(f"{self.path} cannot be written: {error}.") from error
        return self

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # What is there.

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        try:
            # `yield from` would close the cursor, perhaps after the store was.
            for row in self._db.execute(sql, values):  # noqa: UP028
                yield row
        except _BROKEN as error:
            rescue = f" 'sqlite3 {self.path} .recover' saves what can be saved." if "malformed" in str(error) else ""
            raise StoreError(f"{self.path} cannot be read: {error}.{rescue}") from error

    def _checked(self, row: Sequence[Any]) -> Sequence[Any]:
        """A row without its checksum, the last column; StoreError if it is not what was stored."""
        *values, checksum = row
        if checksum is not None and checksum != _sum(values):
            raise self._damaged()
        return values

    def _damaged(self) -> StoreError:
        return StoreError(
            f"{self.path} is damaged: it holds values that are not those that were stored. "
            f"'assay analyses --store {self.path} --mend' takes them out; analyse again to make them anew."
        )

    def kept(self) -> list[Kept]:
        """What the store holds, an entry for each identity."""
        counts = {
            number: rest
            for number, *rest in self._rows(
                "SELECT analysis, count(*), min(depth), max(depth) FROM valued INDEXED BY valued_key GROUP BY analysis"
            )
        }
        left_out = dict(self._rows("SELECT analysis, count(*) FROM left_out GROUP BY analysis"))
        games = dict(self._rows("SELECT analysis, count(*) FROM covered GROUP BY analysis"))
        found = []
        for number, identity in self._identities().items():
            positions, least, most = counts.get(number, (0, 0, 0))
            found.append(Kept(number, identity, positions, left_out.get(number, 0), games.get(number, 0), least, most))
        return found

    def _identities(self) -> dict[int, Identity]:
        rows = self._rows(f"SELECT id, engine, net, options, nodes, lines, {self._checksum} FROM analysis ORDER BY id")
        found = {}
        for number, *row in rows:
            identity = _identity(self._checked(row))
            if identity is None:
                raise self._damaged()
            found[number] = identity
        return found

    def siblings(self, identity: Identity) -> list[tuple[int, int]]:
        """The analyses that may serve this identity, itself first, each with the moves up to which it does.

        Multi-PV with more lines than there are legal moves is the same search however many lines were asked for. So an
        analysis that differs only in its lines serves wherever both list every move.
        """
        found: list[tuple[int, int]] = []
        for number, other in self._identities().items():
            if other == identity:
                found.insert(0, (number, ALL_LINES))
            elif (other.engine, other.net, other.options, other.nodes) == (
                identity.engine,
                identity.net,
                identity.options,
                identity.nodes,
            ):
                found.append((number, min(other.lines, identity.lines)))
        return found

    def holds(self, identity: Identity, depth: int, keys: Iterable[bytes]) -> dict[bytes, int]:
        """Which of these positions are valued at least to `depth`: key to row number."""
        rows: dict[bytes, int] = {}
        wanted = list(keys)
        for number, most in reversed(self.siblings(identity)):
            for some in _batches(wanted):
                rows.update(
                    self._rows(
                        "SELECT key, id FROM valued INDEXED BY valued_key "
                        f"WHERE analysis = ? AND key IN ({_marks(some)}) AND depth >= ? AND legal <= ?",
                        (number, *some, depth, most),
                    )
                )
        return rows

    def out(self, identity: Identity, keys: Iterable[bytes]) -> dict[bytes, tuple[str, int]]:
        """Which of these positions are left out: key to reason and value."""
        rows: dict[bytes, tuple[str, int]] = {}
        wanted = list(keys)
        for number, _ in self.siblings(identity):
            for some in _batches(wanted):
                for out in self._left_out(f"analysis = ? AND key IN ({_marks(some)})", (number, *some)):
                    rows.setdefault(out.key, (out.reason, out.value))
        return rows

    def read_bytes(self, rows: Iterable[int], depth: int | None = None) -> list[tuple[bytes, bytes, bytes]]:
        """Key, moves and scores of these row numbers, sorted; scores at this depth (or the last before), or at all."""
        wanted = sorted(rows)
        found: list[tuple[bytes, bytes, bytes]] = []
        for some in _batches(wanted):
            for row in self._valued(f"id IN ({_marks(some)})", some):
                key, _, reached, _, _, _, moves, scores = row
                if depth is not None:
                    # A search that ended early (by nodes, by a mate) stands for the depths beyond it.
                    end = len(moves) * min(depth, reached)
                    scores = scores[end - len(moves) : end]
                found.append((key, moves, scores))
        return found

    def choose(self, engine: str | None = None, *, depth: int, lines: int | None = None, nodes: int = 0) -> Identity:
        """The analysis that these words mean; StoreError if there is none, or if they mean several engines.

        `engine` is a name or a part of one. Without `lines`, the analysis with the most positions serves; one line a
        position serves only where nothing wider is there, however many games it surveys.
        """
        kept = [entry for entry in self.kept() if entry.positions]
        if not kept:
            raise StoreError(f"{self.path} holds no analyses yet. 'assay analyse' makes them.")
        exact = [entry for entry in kept if engine is not None and entry.identity.engine.lower() == engine.lower()]
        named = exact or [entry for entry in kept if engine is None or engine.lower() in entry.identity.engine.lower()]
        has = "; ".join(f"{entry.identity}, depth {entry.depth}" for entry in kept)
        if not named:
            raise StoreError(f"{self.path} holds no analyses by {engine!r}; it holds: {has}.")
        deep = [entry for entry in named if entry.depth >= depth and entry.identity.nodes == nodes]
        # Searches of likely moves are another kind, which only their own calibration asks for.
        deep = [entry for entry in deep if likely_of(entry.identity.options) is None]
        fit = [entry for entry in deep if lines in (None, entry.identity.lines)]
        # Other numbers of lines serve where they list every move; one line is another kind of analysis.
        fit = fit or [entry for entry in deep if lines != 1 and entry.identity.lines > 1]
        if not fit:
            width = "" if lines is None else f" and {lines} line{'s' * (lines > 1)}"
            raise StoreError(f"{self.path} holds no analyses at depth {depth}{width}; it holds: {has}.")
        if len({(entry.identity.engine, entry.identity.net) for entry in fit}) > 1:
            raise StoreError(f"{self.path} holds analyses by several engines: say which with --engine ({has}).")
        identity = max(fit, key=lambda entry: (entry.identity.lines > 1, entry.positions)).identity
        return identity if lines is None else replace(identity, lines=lines)

    def all_valued(self, analysis: int) -> Iterator[Valued]:
        """Every valued position of one analysis, as they were stored."""
        return (Valued(*row) for row in self._valued("analysis = ?", (analysis,)))

    def _valued(self, where: str, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """The fields of valued positions, checked."""
        for row in self._rows(f"SELECT {_COLUMNS}, {self._checksum} FROM valued WHERE {where} ORDER BY id", values):
            fields = self._checked(row)
            if not _is_valued(fields):
                raise self._damaged()
            yield fields

    def all_left_out(self, analysis: int) -> Iterator[LeftOut]:
        """Every position left out of one analysis."""
        return self._left_out("analysis = ?", (analysis,))

    def _left_out(self, where: str, values: Sequence[Any]) -> Iterator[LeftOut]:
        for row in self._rows(f"SELECT key, reason, value, {self._checksum} FROM left_out WHERE {where}", values):
            fields = self._checked(row)
            if not _is_left_out(fields):
                raise self._damaged()
            yield LeftOut(*fields)

    def games(self, analysis: int) -> set[bytes]:
        """The last valued positions of the games that one analysis covers."""
        return {key for (key,) in self._rows("SELECT key FROM covered WHERE analysis = ?", (analysis,))}

    # Writing.

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; StoreError if the file that is written to is no longer the one at this path."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
                if self._which_file() != self._file:
                    raise StoreError(
                        f"{self.path} was removed or replaced while it was written to: what this run stored is not in "
                        "it. Run the same command again."
                    )
            except BaseException:
                # After some errors, such as a full disk, SQLite has rolled back by itself.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except _BROKEN as error:
            raise StoreError(f"{self.path} cannot be written: {error}.") from error

    def number_of(self, identity: Identity) -> int:
        """The row of an identity, made if it is new."""
        options = json.dumps(identity.options, ensure_ascii=False)
        values = (identity.engine, identity.net, options, identity.nodes, identity.lines)
        with self._transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO analysis (engine, net, options, nodes, lines, checksum) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*values, _sum(values)),
            )
            (number,) = db.execute(
                "SELECT id FROM analysis WHERE engine = ? AND net = ? AND options = ? AND nodes = ? AND lines = ?",
                values,
            ).fetchone()
        return int(number)

    def add(self, analysis: int, results: Sequence[Valued | LeftOut]) -> None:
        """Store results in one transaction; a deeper search takes the place of a shallower one."""
        with self._transaction() as db:
            for result in results:
                if isinstance(result, LeftOut):
                    row = astuple(result)
                    db.execute("INSERT OR IGNORE INTO left_out VALUES (?, ?, ?, ?, ?)", (analysis, *row, _sum(row)))
                else:
                    self._add_valued(db, analysis, result)

    def _add_valued(self, db: sqlite3.Connection, analysis: int, result: Valued) -> None:
        at = (analysis, result.key)
        (depth,) = db.execute("SELECT max(depth) FROM valued WHERE analysis = ? AND key = ?", at).fetchone()
        if depth is not None and depth >= result.depth:
            return
        db.execute("DELETE FROM valued WHERE analysis = ? AND key = ?", at)
        row = astuple(result)
        db.execute(
            f"INSERT INTO valued (analysis, {_COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (analysis, *row, _sum(row)),
        )

    def add_games(self, analysis: int, last_keys: Iterable[bytes]) -> None:
        """Note games whose positions are all stored, each by the key of its last valued position."""
        with self._transaction() as db:
            db.executemany("INSERT OR IGNORE INTO covered VALUES (?, ?)", ((analysis, key) for key in last_keys))

    def mend(self) -> int:
        """Take out every row that is not what was stored; how many there were.

        An analysis that no longer says who made it goes with all its positions.
        """
        damaged = 0
        with self._transaction() as db:
            # What is damaged may be an index, or the row that it leads to: rows first, then the index from them.
            db.execute("REINDEX analysis")
            db.execute("DROP INDEX valued_key")
            for table, name, columns, is_one in (
                ("analysis", "id, id", "engine, net, options, nodes, lines", _identity),
                ("valued", "analysis, id", _COLUMNS, _is_valued),
                ("left_out", "analysis, key", "key, reason, value", _is_left_out),
            ):
                rows = db.execute(f"SELECT {name}, {columns}, checksum FROM {table}")
                wrong = [
                    (one, two)
                    for one, two, *row, checksum in rows
                    if not is_one(row) or (checksum is not None and checksum != _sum(row))
                ]
                db.executemany(f"DELETE FROM {table} WHERE ({name}) = (?, ?)", wrong)
                damaged += len(wrong)
            for table in ("valued", "left_out", "covered"):
                damaged += db.execute(f"DELETE FROM {table} WHERE analysis NOT IN (SELECT id FROM analysis)").rowcount
            # A position whose key was damaged in the index may have been analysed again.
            db.execute("DELETE FROM valued WHERE id NOT IN (SELECT max(id) FROM valued GROUP BY analysis, key)")
            db.execute(_INDEX)
            self._seal()
        return damaged


def _batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))


# A store may come from another hand, and SQLite holds anything in any column: what rows must be, checksum or not.


def _identity(row: Sequence[Any]) -> Identity | None:
    """The identity of a row of `analysis`; None if it is none."""
    try:
        engine, net, options, nodes, lines = row
        pairs = tuple((name, value) for name, value in json.loads(options))
    except (TypeError, ValueError, RecursionError):
        return None
    texts = (engine, net, *(text for pair in pairs for text in pair))
    if not all(type(text) is str for text in texts) or type(nodes) is not int or type(lines) is not int:
        return None
    return Identity(engine, net, pairs, nodes, lines)


def _is_valued(row: Sequence[Any]) -> bool:
    key, depth, reached, legal, nodes, milliseconds, moves, scores = row
    return (
        type(key) is type(moves) is type(scores) is bytes
        and type(depth) is type(reached) is type(legal) is type(nodes) is type(milliseconds) is int
        and len(key) == KEY_BYTES
        and reached > 0 < len(moves)
        and len(moves) % 2 == 0
        and len(scores) == len(moves) * reached
    )


def _is_left_out(row: Sequence[Any]) -> bool:
    key, reason, value = row
    return (
        type(key) is bytes
        and len(key) == KEY_BYTES
        and type(reason) is str
        and type(value) is int
        and -(1 << 15) <= value < 1 << 15
    )


def _sum(values: Iterable[Any]) -> int:
    """The checksum of a row, over its values in their order."""
    return zlib.crc32(b"".join([value if type(value) is bytes else f"{value};".encode() for value in values]))


@contextmanager
def writing(path: str | Path) -> Iterator[Store]:
    """Open a store as its only writer, made if it is not there."""
    path = Path(path)
    with only_writer(path), Store(path, create=True) as store:
        yield store


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
