"""Analyses in and out: JSON lines and Parquet, an open format (`docs/analysis.md` has the schema).

One object per position. What a file leaves unsaid is inferred where the rows allow it and asked for where they do not:
the depth is the greatest that is listed, and the lines follow from positions with more legal moves than listed ones.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import IO, Any

import chess
import numpy as np
import zstandard

from assay.engine import score
from assay.engine.identity import NO_DEPTH, Identity, Search, find
from assay.engine.local import Result, identify, value_all
from assay.engine.parquet import as_object, parquet_rows, write_parquet
from assay.engine.store import LeftOut, Store
from assay.engine.uci import Valued
from assay.errors import EngineError, InputError
from assay.games.packed import decode_move, encode_move, from_board, to_fen
from assay.games.stream import Stream
from assay.paths import atomic
from assay.presets import ALL_LINES
from assay.printable import printable
from assay.progress import Progress
from assay.records import dataclass

Row = Mapping[str, Any]

# The longest row that means something, all 218 moves of a position at 244 depths, has a tenth of this.
_LONGEST_LINE = 4 << 20
# Reasons for refusing rows quote them, so that a hostile file could have as many as rows.
_LONGEST_REASON, _MOST_REASONS = 200, 1000


# Out.


def rows_of(store: Store) -> Iterator[dict[str, Any]]:
    """Every position of the store as an object of the exchange format."""
    for kept in store.kept():
        head, games = _head(kept.identity), store.games(kept.id)
        for valued in store.all_valued(kept.id):
            yield _valued_row(valued, head, kept.identity) | ({"ends_game": True} if valued.key in games else {})
        for out in store.all_left_out(kept.id):
            row = {"fen": to_fen(out.key), **head, "limit": _limit(kept.identity, kept.depth)}
            yield {**row, "skipped": out.reason, "pre": score.to_text(out.value)}


def _head(identity: Identity) -> dict[str, Any]:
    return {"engine": identity.engine, "net": identity.net, "options": dict(identity.options)}


def _limit(identity: Identity, depth: int) -> dict[str, int]:
    limit = {"lines": identity.lines}
    if depth < NO_DEPTH:
        limit["depth"] = depth
    if identity.nodes:
        limit["nodes"] = identity.nodes
    return limit


def _valued_row(valued: Valued, head: Row, identity: Identity) -> dict[str, Any]:
    table = valued.table()
    lists: list[list[Any]] = table.tolist()
    if (np.abs(table.astype(np.int32)) > score.LIMIT).any():
        lists = [[score.to_text(code) for code in codes] for codes in lists]
    return {
        "fen": to_fen(valued.key),
        **head,
        "limit": _limit(identity, valued.depth),
        "legal": valued.legal,
        "nodes": valued.nodes,
        "milliseconds": valued.milliseconds,
        "moves": [decode_move(code) for code in valued.move_codes().tolist()],
        "scores": {str(depth): values for depth, values in enumerate(lists, 1)},
    }


def export(store: Store, path: str | Path, *, quiet: bool = False) -> int:
    """Write the whole store to `.parquet`, `.jsonl`, `.jsonl.gz` or `.jsonl.zst`; the number of positions."""
    path = Path(path)
    if not path.name.endswith((".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")):
        raise InputError(f"{path}: name the file .parquet, .jsonl, .jsonl.gz or .jsonl.zst.")
    total = sum(kept.positions + kept.left_out for kept in store.kept())
    with Progress("Exporting", total, unit="positions", quiet=quiet) as progress, atomic(path) as part:
        if path.suffix == ".parquet":
            write_parquet(store, part, progress)
        else:
            with _open_text(part, path.suffix) as file:
                for row in rows_of(store):
                    file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
                    progress.advance()
    return int(progress.done)


@contextmanager
def _open_text(part: Path, suffix: str) -> Iterator[IO[str]]:
    with part.open("wb") as raw:
        if suffix == ".zst":
            packer = zstandard.ZstdCompressor(level=9, write_checksum=True)
            with packer.stream_writer(raw) as out, io.TextIOWrapper(out, "utf-8") as text:
                yield text
        elif suffix == ".gz":
            with gzip.open(raw, "wt", encoding="utf-8") as text:
                yield text
        else:
            with io.TextIOWrapper(raw, "utf-8") as text:
                yield text


# In.


@dataclass
class Imported:
    """What an import read: positions new and known, and rows refused by reason."""

    valued: int = 0
    left_out: int = 0
    games: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    first_refused: str = ""

    def refuse(self, reason: str, where: str = "") -> None:
        """Count a row that was refused."""
        reason = printable(reason, _LONGEST_REASON)
        if len(self.refused) >= _MOST_REASONS and reason not in self.refused:
            reason = "other reasons"
        self.refused[reason] += 1
        self.first_refused = self.first_refused or where + reason


@dataclass(frozen=True)
class Entry:
    """One row of an exchange file, checked: its result, the identity it names (None: it does not), its game.

    The last valued position of a game either says so (`ends_game`) or has the greatest ply of those with the game's
    name. `nodes` is the limit of the search, 0 for none.
    """

    result: Valued | LeftOut
    identity: Identity | None
    nodes: int
    game: str | None
    ply: int
    repetition: bool
    ends_game: bool


def read(path: str | Path, into: Imported) -> Iterator[Entry]:
    """The good rows of an exchange file; the others are counted by reason in `into`."""
    packed = str(path).endswith(".parquet")
    if str(path).endswith((".gz", ".zst", ".bz2")):
        _refuse_damaged(path)
    for number, row in enumerate(parquet_rows(Path(path)) if packed else _json_rows(path, into), 1):
        try:
            yield _entry(as_object(row) if packed else row)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
            into.refuse(reason, f"row {number}: ")


def _refuse_damaged(path: str | Path) -> None:
    """Unpack a file once for its checksum, which comes last: a value that changed on the disk must not get in.

    A file that merely ends early is another matter: what it holds is good.
    """
    with Stream(path) as stream:
        for _ in stream.blocks():
            pass
    if stream.problem and stream.problem.startswith("damaged"):
        raise InputError(f"nothing was read of {path}: {stream.problem}. Export it again, or copy it again.")


def _json_rows(path: str | Path, into: Imported) -> Iterator[dict[str, Any]]:
    with Stream(path) as stream:
        for line in _lines(stream, into):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict):
                yield row
            else:
                into.refuse("not a JSON object")
        if stream.problem:
            into.refuse(f"the file breaks off: {stream.problem}")


def _lines(stream: Stream, into: Imported) -> Iterator[bytes]:
    """The lines of a file; one that does not end in time is counted and passed over, never held."""
    held, passing = b"", False
    for block in stream.blocks():
        for piece in io.BytesIO(block):
            whole = piece.endswith(b"\n")
            if passing:
                passing = not whole
                continue
            held += piece
            if len(held) > _LONGEST_LINE:
                into.refuse(f"a line of more than {_LONGEST_LINE >> 20} MB")
                held, passing = b"", not whole
            elif whole:
                yield held
                held = b""
    yield held


def _entry(row: Row) -> Entry:
    board = chess.Board(row["fen"])
    if not board.is_valid():
        raise ValueError("not a legal position")
    game, ply = row.get("game"), int(row.get("ply") or 0)
    limit = row.get("limit") or {}
    nodes = _count(limit.get("nodes"))
    if row.get("skipped"):
        result: Valued | LeftOut = LeftOut(from_board(board), _text(row["skipped"]), score.parse(row.get("pre")))
    else:
        depth = _count(limit.get("depth")) or (NO_DEPTH if nodes else 0)
        result = _read_valued(row, board, depth, nodes)
    identity = None
    if row.get("engine"):
        identity = Identity(
            engine=_text(row["engine"]),
            net=_text(row.get("net") or ""),
            options=tuple(sorted((_text(k), _text(v)) for k, v in (row.get("options") or {}).items())),
            nodes=nodes,
            lines=_count(limit.get("lines")) or ALL_LINES,
        )
    return Entry(
        result=result,
        identity=identity,
        nodes=nodes,
        game=None if game is None else str(game),
        ply=ply,
        repetition=bool(row.get("repetition")),
        ends_game=bool(row.get("ends_game")),
    )


def _count(value: Any) -> int:
    """A number that a store can hold; 0 where there is none."""
    count = int(value or 0)
    if not 0 <= count < 1 << 63:
        raise ValueError(f"{count} is no count")
    return count


def _text(value: Any) -> str:
    """A text that a store can hold: JSON can spell half characters, which are none."""
    text = str(value)
    text.encode()
    return text


def _read_valued(row: Row, board: chess.Board, depth: int, nodes: int) -> Valued:
    moves = list(row["moves"])
    legal = {move.uci() for move in board.legal_moves}
    if not moves or len(set(moves)) < len(moves) or not legal.issuperset(moves):
        raise ValueError("moves that are not legal, or listed twice, or none")
    depths = {int(name): values for name, values in row["scores"].items()}
    if not depths or min(depths) < 1 or max(depths) > NO_DEPTH:
        raise ValueError(f"scores without a depth between 1 and {NO_DEPTH}")
    if any(len(values) != len(moves) for values in depths.values()):
        raise ValueError("not as many scores as moves")
    reached = max(depths)
    if depth > NO_DEPTH:
        raise ValueError(f"a search to depth {depth}: no engine goes beyond {NO_DEPTH - 1}")
    table = np.full((reached, len(moves)), score.MISSING, "<i2")
    for at, values in depths.items():
        table[at - 1] = [score.parse(value) for value in values]
    if (table[-1] == score.MISSING).any():
        raise ValueError("a move without a score at the last depth")
    # As of an engine here: where mate is in sight or nodes run out a search may stop, and its last depth may be one of
    # bounds; a row that holds less than it claims is no analysis to that depth.
    if reached < depth - 1 and depth < NO_DEPTH and not nodes and abs(int(table[-1].max())) <= score.LIMIT:
        raise ValueError(f"scores to depth {reached} of a search to depth {depth}")
    return Valued(
        key=from_board(board),
        depth=max(depth, reached),
        reached=reached,
        legal=len(legal),
        nodes=_count(row.get("nodes")),
        milliseconds=_count(row.get("milliseconds")),
        moves=np.array([encode_move(move) for move in moves], "<u2").tobytes(),
        scores=table.tobytes(),
    )


SAMPLE = 8
# How long the comparison with an engine may take: some times as long as the rows say that their searches took, within
# these bounds. A file can claim searches that never end.
_COMPARING_FACTOR, _LEAST_COMPARING, _MOST_COMPARING = 10, 60.0, 600.0
_MOST_NODES = 1_000_000_000  # more cannot be searched in that time
_BATCH = 2_000


def import_file(
    path: str | Path, store: Store, *, search: Search, named: str | None = None, quiet: bool = False
) -> Imported:
    """Add the analyses of an exchange file to a store.

    Rows that name no engine belong to the engine called `named`, if given; else to the engine of `search`,
    provided that it gives the very values of a sample of the rows. A stored value is a pure function of position and
    identity, so agreement to the last centipawn is proof, and disagreement is refused.
    """
    found = Imported()
    batches: dict[Identity, list[Entry]] = {}
    unnamed: list[Entry] = []
    last: dict[tuple[Identity, str | bytes], Entry] = {}

    def keep(identity: Identity, entries: list[Entry]) -> None:
        number = store.number_of(identity)
        store.add(number, [entry.result for entry in entries])
        for entry in entries:
            if not isinstance(entry.result, Valued) or entry.repetition:
                continue
            if entry.ends_game:
                last[identity, entry.result.key] = entry
            elif entry.game is not None and entry.ply >= last.get((identity, entry.game), entry).ply:
                last[identity, entry.game] = entry
        found.valued += sum(isinstance(entry.result, Valued) for entry in entries)
        found.left_out += sum(isinstance(entry.result, LeftOut) for entry in entries)

    with Progress(f"Importing {Path(path).name}", unit="positions", quiet=quiet) as progress:
        for entry in read(path, found):
            progress.advance()
            if entry.identity is None:
                unnamed.append(entry)
                continue
            batch = batches.setdefault(entry.identity, [])
            batch.append(entry)
            if len(batch) >= _BATCH:
                keep(entry.identity, batch)
                batch.clear()
        for identity, batch in batches.items():
            keep(identity, batch)
    if unnamed:
        identity = _identity_of(unnamed, search, named, path)
        for start in range(0, len(unnamed), _BATCH):
            keep(identity, unnamed[start : start + _BATCH])
    for identity in {identity for identity, _ in last}:
        keys = [entry.result.key for (whose, _), entry in last.items() if whose == identity]
        store.add_games(store.number_of(identity), keys)
        found.games += len(keys)
    if not found.valued and not found.left_out:
        why = f" ({found.first_refused})" if found.first_refused else ""
        raise InputError(f"{path} holds no analysis that can be read{why}.")
    return found


def _identity_of(entries: Sequence[Entry], search: Search, named: str | None, path: str | Path) -> Identity:
    lines, nodes = _width(entries), _nodes(entries)
    valued = [entry.result for entry in entries if isinstance(entry.result, Valued)]
    if named is not None:
        return Identity(named, "", (("Hash", "16"),), nodes, lines)
    advice = "Say who made it with --engine-name NAME."
    try:
        find(search.engine)
    except EngineError as error:
        raise InputError(
            f"{path} does not name its engine, and there is none here to compare with. {advice}"
        ) from error
    search = replace(
        search, lines=lines, nodes=nodes, depth=max((result.depth for result in valued), default=search.depth)
    )
    try:
        if nodes > _MOST_NODES:
            raise TimeoutError
        differ, sample = _disagreements(entries, search)
    except TimeoutError as error:
        raise InputError(
            f"{path} does not name its engine, and its searches take {search.engine} here too long to compare. {advice}"
        ) from error
    identity = asyncio.run(identify(search))
    if differ:
        raise InputError(
            f"{path} does not name its engine, and {identity.engine} here gives other values "
            f"({differ} of {sample} positions differ). {advice}"
        )
    return identity


def _width(entries: Sequence[Entry]) -> int:
    """How many lines were asked for: as many as are listed wherever some legal moves are not."""
    cut = {
        len(entry.result.moves) // 2
        for entry in entries
        if isinstance(entry.result, Valued) and len(entry.result.moves) // 2 < entry.result.legal
    }
    if len(cut) > 1:
        raise InputError(f"analyses of {min(cut)} and of {max(cut)} lines are mixed, and their rows do not say which.")
    return cut.pop() if cut else ALL_LINES


def _nodes(entries: Sequence[Entry]) -> int:
    """The limit of nodes that all of them were searched with."""
    found = {entry.nodes for entry in entries}
    if len(found) > 1:
        raise InputError("analyses with different limits of nodes are mixed, and their rows do not name an engine.")
    return found.pop()


def _disagreements(entries: Sequence[Entry], search: Search) -> tuple[int, int]:
    """Analyse a sample again; how many differ, of how many."""
    valued = [entry.result for entry in entries if isinstance(entry.result, Valued)]
    cut = [result for result in valued if len(result.moves) // 2 < result.legal]
    sample = {result.key: result for few in (cut, valued) for result in few[:: max(1, 2 * len(few) // SAMPLE)]}
    differ = 0

    def compare(result: Result) -> None:
        nonlocal differ
        mine, other = result, sample[result.key]
        same = isinstance(mine, Valued) and (mine.moves, mine.scores) == (other.moves, other.scores)
        differ += not same

    took = sum(result.milliseconds for result in sample.values()) / 1000
    limit = min(max(_COMPARING_FACTOR * took, _LEAST_COMPARING), _MOST_COMPARING)

    async def again() -> None:
        async with asyncio.timeout(limit):
            await value_all(iter(sample), replace(search, look=False), workers=1, take=compare)

    asyncio.run(again())
    return differ, len(sample)
