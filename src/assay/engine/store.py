"""The analysis store: valued positions by identity, in one SQLite file.

::

    analysis   id, engine, net, options (JSON), nodes, lines,         who valued, under which rules
               checksum
    valued     analysis, key, depth, reached, legal, nodes,           one row per position and analysis
               milliseconds, moves, scores, checksum
    left_out   analysis, key, reason, value, checksum                 positions not worth a search: forced, decided
    covered    analysis, key                                          games analysed whole, by their last position

`key` is the 35 bytes of :mod:`assay.engine.position`, `moves` and `scores` the bytes of
:class:`assay.engine.uci.Valued`. A deeper search of a position takes the place of a shallower one.

The journal is a write-ahead log and every commit is synced, so a finished position survives a kill and a power cut.
Any number of processes may read while one writes. SQLite notices a damaged page only where it no longer makes sense, so
rows carry a checksum, too: a value that changed on the disk is refused, never used.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.engine.identity import ALL_LINES, Identity
from assay.engine.lock import only_writer
from assay.engine.uci import Valued
from assay.errors import StoreError

_APPLICATION = 0x41535359
_FORMAT = 2  # 1 had no checksums; its stores are read as they are, and get the columns when they are written to
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
"""
_SUMMED = ("analysis", "valued", "left_out")
# The fields of Valued, in their order.
_COLUMNS = "key, depth, reached, legal, nodes, milliseconds, moves, scores"
_BATCH = 500


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


class Store:
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
        except sqlite3.Error as error:
            self.close()
            raise StoreError(f"{self.path} cannot be opened as an analysis store: {error}.") from error
        except BaseException:
            self.close()
            raise

    def _is_fixed(self) -> bool:
        """Whether nobody can write here and nothing is left in a log: SQLite reads such a store only if it is told."""
        log = self.path.with_name(self.path.name + "-wal")
        return not os.access(self.path.parent, os.W_OK) and not log.exists()

    def _prepare(self, create: bool) -> None:
        db = self._db
        if create and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            db.execute("PRAGMA page_size = 8192")
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {_APPLICATION};"
                f"PRAGMA user_version = {_FORMAT}; COMMIT;"
            )
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise StoreError(f"{self.path} is not an analysis store.")
        if version > _FORMAT:
            raise StoreError(f"{self.path} was written by a newer version of Assay: update Assay.")
        if create and version < _FORMAT:
            added = "".join(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER;" for table in _SUMMED)
            db.executescript(f"BEGIN IMMEDIATE; {added} PRAGMA user_version = {_FORMAT}; COMMIT;")
            version = _FORMAT
        self._checksum = "checksum" if version >= _FORMAT else "NULL"
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA cache_size = -65536")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # What is there.

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        try:
            yield from self._db.execute(sql, values)
        except sqlite3.Error as error:
            rescue = f" 'sqlite3 {self.path} .recover' saves what can be saved." if "malformed" in str(error) else ""
            raise StoreError(f"{self.path} cannot be read: {error}.{rescue}") from error

    def _checked(self, row: Sequence[Any]) -> Sequence[Any]:
        """A row without its checksum, the last column; StoreError if it is not what was stored."""
        *values, checksum = row
        if checksum is not None and checksum != _sum(values):
            raise StoreError(
                f"{self.path} is damaged: it holds values that are not those that were stored. "
                f"'assay analyses --store {self.path} --mend' takes them out; analyse again to make them anew."
            )
        return values

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
            engine, net, options, nodes, lines = self._checked(row)
            found[number] = Identity(
                engine, net, tuple((name, value) for name, value in json.loads(options)), nodes, lines
            )
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

    def known(self, identity: Identity, depth: int) -> dict[bytes, int]:
        """Rows that value a position at least to `depth`: key to row number."""
        rows: dict[bytes, int] = {}
        for number, most in reversed(self.siblings(identity)):
            rows.update(
                self._rows(
                    "SELECT key, id FROM valued INDEXED BY valued_key WHERE analysis = ? AND depth >= ? AND legal <= ?",
                    (number, depth, most),
                )
            )
        return rows

    def out(self, identity: Identity) -> dict[bytes, tuple[str, int]]:
        """Positions left out: key to reason and value."""
        rows: dict[bytes, tuple[str, int]] = {}
        for number, _ in self.siblings(identity):
            for out in self.all_left_out(number):
                rows.setdefault(out.key, (out.reason, out.value))
        return rows

    def read_bytes(self, rows: Iterable[int], depth: int | None = None) -> list[tuple[bytes, bytes, bytes]]:
        """Key, moves and scores of these row numbers, sorted; scores at this depth (or the last before), or at all."""
        wanted = sorted(rows)
        found: list[tuple[bytes, bytes, bytes]] = []
        for start in range(0, len(wanted), _BATCH):
            some = wanted[start : start + _BATCH]
            marks = ",".join("?" * len(some))
            for row in self._valued(f"id IN ({marks})", some):
                key, _, reached, _, _, _, moves, scores = row
                if depth is not None:
                    # A search that ended early (by nodes, by a mate) stands for the depths beyond it.
                    end = len(moves) * min(depth, reached)
                    scores = scores[end - len(moves) : end]
                found.append((key, moves, scores))
        return found

    def choose(self, engine: str | None = None, *, depth: int, lines: int | None = None, nodes: int = 0) -> Identity:
        """The analysis that these words mean; StoreError if there is none, or if they mean several engines.

        `engine` is a name or a part of one. Without `lines`, the analysis with the most positions serves.
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
        fit = [entry for entry in deep if lines in (None, entry.identity.lines)]
        # Other numbers of lines serve where they list every move; one line is another kind of analysis.
        fit = fit or [entry for entry in deep if lines != 1 and entry.identity.lines > 1]
        if not fit:
            width = "" if lines is None else f" and {lines} line{'s' * (lines > 1)}"
            raise StoreError(f"{self.path} holds no analyses at depth {depth}{width}; it holds: {has}.")
        if len({(entry.identity.engine, entry.identity.net) for entry in fit}) > 1:
            raise StoreError(f"{self.path} holds analyses by several engines: say which with --engine ({has}).")
        identity = max(fit, key=lambda entry: entry.positions).identity
        return identity if lines is None else replace(identity, lines=lines)

    def all_valued(self, analysis: int) -> Iterator[Valued]:
        """Every valued position of one analysis, as they were stored."""
        return (Valued(*row) for row in self._valued("analysis = ?", (analysis,)))

    def _valued(self, where: str, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """The fields of valued positions, checked."""
        for row in self._rows(f"SELECT {_COLUMNS}, {self._checksum} FROM valued WHERE {where} ORDER BY id", values):
            yield self._checked(row)

    def all_left_out(self, analysis: int) -> Iterator[LeftOut]:
        """Every position left out of one analysis."""
        columns = f"key, reason, value, {self._checksum}"
        for row in self._rows(f"SELECT {columns} FROM left_out WHERE analysis = ?", (analysis,)):
            yield LeftOut(*self._checked(row))

    def games(self, analysis: int) -> set[bytes]:
        """The last valued positions of the games that one analysis covers."""
        return {key for (key,) in self._rows("SELECT key FROM covered WHERE analysis = ?", (analysis,))}

    # Writing.

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                # After some errors, such as a full disk, SQLite has rolled back by itself.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
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
            for table, name, columns in (
                ("analysis", "id, id", "engine, net, options, nodes, lines"),
                ("valued", "analysis, id", _COLUMNS),
                ("left_out", "analysis, key", "key, reason, value"),
            ):
                rows = db.execute(f"SELECT {name}, {columns}, checksum FROM {table} WHERE checksum NOT NULL")
                wrong = [(one, two) for one, two, *row, checksum in rows if checksum != _sum(row)]
                db.executemany(f"DELETE FROM {table} WHERE ({name}) = (?, ?)", wrong)
                damaged += len(wrong)
            for table in ("valued", "left_out", "covered"):
                damaged += db.execute(f"DELETE FROM {table} WHERE analysis NOT IN (SELECT id FROM analysis)").rowcount
            # A position whose key was damaged in the index may have been analysed again.
            db.execute("DELETE FROM valued WHERE id NOT IN (SELECT max(id) FROM valued GROUP BY analysis, key)")
            db.execute(_INDEX)
        return damaged


def _sum(values: Iterable[Any]) -> int:
    """The checksum of a row, over its values in their order."""
    return zlib.crc32(b"".join([value if type(value) is bytes else f"{value};".encode() for value in values]))


@contextmanager
def writing(path: str | Path) -> Iterator[Store]:
    """Open a store as its only writer, made if it is not there."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path.parent}: {error.strerror or error}.") from error
    with only_writer(path), Store(path, create=True) as store:
        yield store
