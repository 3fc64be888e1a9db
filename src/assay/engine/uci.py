"""One engine over raw UCI: start, options, multi-PV search, exact scores, death.

While an engine searches, its output is only gathered, as bytes, until `bestmove`; it is read when the engine has its
next position. Multi-PV to depth 10 prints some 350 lines and 50 kB a position, and a reader that makes objects of each
line as it comes costs more than everything else here.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, cast

import chess
import numpy as np

from assay.engine import score
from assay.engine.identity import LIKELY, LOOK_DEPTH, NO_DEPTH, Identity, Search, find
from assay.errors import EngineError
from assay.games.packed import encode_move, to_fen
from assay.printable import printable
from assay.records import dataclass

_NODES = re.compile(rb" nodes (\d{1,30})")
_COMPLAINT = re.compile(rb"info string ERROR:?\s*([^\r\n]{1,300})", re.IGNORECASE)
_ERROR = re.compile(r"error\b", re.IGNORECASE)
_LAST_WORDS = 4096  # of what a program writes to stderr: why it does not start, as a rule
_MOST_NODES = (1 << 63) - 1  # what a store can hold
_OPTION = re.compile(r"^option name (.+?) type (\w+)(?: default (.*?))?(?: min \S+)?(?: max (-?\d+))?(?: var .*)?$")
START_SECONDS = 20.0  # an engine that does not answer `uci` and does nothing for so long is none
START_WORK = 60.0  # nor is one that has worked for so many seconds of CPU time: where many share it, one begins slowly
# They are counted in steps: where a machine is so busy that an engine is long in starting, each step is longer as well.
_STEP = 0.05
# An engine that is silent for so long while it searches is asked whether it is there, again and again. By the protocol
# it answers at once; where it died behind a pipe that stays open, each question breaks one more part of the pipe.
DOUBT_SECONDS = 2.0
ALONE_SECONDS = 60.0  # an engine that is asked a single question may be silent for so long
_MOST_OUTPUT = 64 << 20
# The process groups of the engines that run now, led by the processes that were started.
_GROUPS: set[int] = set()


class NoAnswerError(EngineError):
    """A program that runs but does not speak UCI; starting it again would not help."""


@dataclass(frozen=True)
class Valued:
    """One position valued: every listed move at every depth.

    `moves` holds 16-bit move codes in the engine's final order, `scores` int16 score codes, depths 1 to `reached` each
    in the order of the moves; both are little-endian bytes, as they are stored.
    """

    key: bytes
    depth: int
    reached: int
    legal: int
    nodes: int
    milliseconds: int
    moves: bytes
    scores: bytes

    def table(self) -> np.ndarray[tuple[int, int], np.dtype[np.int16]]:
        """Score codes, depths x moves."""
        return np.frombuffer(self.scores, "<i2").reshape(self.reached, -1)

    def move_codes(self) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
        return np.frombuffer(self.moves, "<u2")


def read_lines(output: bytes) -> tuple[list[tuple[int, int, bytes]], set[tuple[int, bytes]]]:
    """Depth, score code and first move of every line with an exact score; depth and move of every line with a bound.

    The principal variation ends a line; what comes before may stand in any order. Lines in no known form are passed
    over.

    >>> read_lines(b"info depth 7 score cp 31 nodes 9 pv e2e4 e7e5\\ninfo score mate -2 depth 7 upperbound pv d2d4\\n")
    ([(7, 31, b'e2e4')], {(7, b'd2d4')})
    """
    exact = []
    bounds = set()
    for line in output.split(b"\n"):
        head, variation, moves = line.partition(b" pv ")
        if not variation or head.startswith(b"info string"):
            continue
        words = head.split()
        try:
            at = words.index(b"score")
            depth, kind, value = int(words[words.index(b"depth") + 1]), words[at + 1], int(words[at + 2])
            move = moves.split(None, 1)[0]
        except (ValueError, IndexError):
            continue
        if b"bound" in head:
            bounds.add((depth, move))
        elif kind == b"cp":
            exact.append((depth, score.from_cp(value), move))
        elif kind == b"mate":
            exact.append((depth, score.from_mate(value), move))
    return exact, bounds


def read_search(output: bytes, key: bytes, legal: frozenset[str], search: Search, seconds: float) -> Valued:
    """Read a finished search; EngineError if it is not a whole answer for this position.

    Of each depth and move the last exact line counts: an engine may print a line again when a search was widened. Older
    Stockfishes now and then mark a line of the last depth as a bound and leave it at that; then the depth before is the
    last that was reached.
    """
    exact, bounds = read_lines(output)
    by_depth: dict[int, dict[bytes, int]] = {}
    for depth, code, move in exact:
        values = by_depth.setdefault(depth, {})
        # Re-inserting keeps the order in which the lines of a depth were last printed: best first.
        values.pop(move, None)
        values[move] = code
    if not by_depth:
        raise EngineError("it answered without a single exact score")
    if (least := min(by_depth)) < 1 or max(by_depth) > NO_DEPTH:
        raise EngineError(f"it speaks of depth {least if least < 1 else max(by_depth)}")
    wanted = min(search.lines, len(legal))
    whole = [depth for depth, values in by_depth.items() if len(values) >= wanted]
    if not whole:
        raise EngineError(f"it valued {max(map(len, by_depth.values()))} of {wanted} moves")
    reached, last = max(whole), max(by_depth)
    deepest = max([last, *(depth for depth, _ in bounds)])
    # Where mate is in sight an engine may stop; elsewhere a shallower search must not pass for the one asked for.
    if deepest < search.depth < NO_DEPTH and not search.nodes and abs(max(by_depth[last].values())) <= score.LIMIT:
        raise EngineError(f"it stopped at depth {deepest} of {search.depth}")
    listed = by_depth[last].keys() | {move for depth, move in bounds if depth == last}
    if len(listed) < wanted and not search.nodes:
        raise EngineError(f"its last depth lacks {wanted - len(listed)} of {wanted} moves")
    moves = list(by_depth[reached])[-wanted:]
    if strange := [move for move in moves if move.decode("ascii", "replace") not in legal]:
        raise EngineError(f"it plays {strange[0].decode('ascii', 'replace')!r}, which is not legal")
    table = np.full((reached, len(moves)), score.MISSING, "<i2")
    for depth in range(1, reached + 1):
        values = by_depth.get(depth, {})
        table[depth - 1] = [values.get(move, score.MISSING) for move in moves]
    nodes = _NODES.findall(output[output.rfind(b" nodes ") :])
    return Valued(
        key=key,
        depth=search.depth,
        reached=reached,
        legal=len(legal),
        nodes=min(int(nodes[-1]), _MOST_NODES) if nodes else 0,
        milliseconds=round(seconds * 1000),
        moves=np.array([encode_move(move.decode()) for move in moves], "<u2").tobytes(),
        scores=table.tobytes(),
    )


def merged(wide: Valued, few: Valued) -> Valued:
    """All moves to one depth and some of them deeper, as one: the others keep their last value."""
    deeper = {code: column for column, code in enumerate(few.move_codes().tolist())}
    known, more = wide.table(), few.table()
    reached = max(wide.reached, few.reached)
    table = np.empty((reached, known.shape[1]), "<i2")
    table[: wide.reached] = known
    table[wide.reached :] = known[-1]
    for column, code in enumerate(wide.move_codes().tolist()):
        if code in deeper:
            table[wide.reached : few.reached, column] = more[wide.reached :, deeper[code]]
    order = np.argsort(-table[-1].astype(np.int64), kind="stable")
    return replace(
        wide,
        depth=few.depth,
        reached=reached,
        nodes=min(wide.nodes + few.nodes, _MOST_NODES),
        milliseconds=wide.milliseconds + few.milliseconds,
        moves=wide.move_codes()[order].tobytes(),
        scores=np.ascontiguousarray(table[:, order]).tobytes(),
    )


def read_look(output: bytes) -> int:
    """The value that a one-line look ended with."""
    exact, _ = read_lines(output)
    if not exact:
        raise EngineError("it answered without a single exact score")
    return exact[-1][1]


def read_hello(output: bytes) -> tuple[str, dict[str, tuple[str, int | None]]]:
    """The name an engine gives itself, and its options: default, and the most that is allowed if that is told.

    >>> read_hello(b"id name Fish 1\\noption name MultiPV type spin default 1 min 1 max 500\\nuciok\\n")
    ('Fish 1', {'MultiPV': ('1', 500)})
    """
    engine, options = "", {}
    for line in output.decode("utf-8", "replace").splitlines():
        if line.startswith("id name "):
            engine = line[8:].strip()
        elif match := _OPTION.match(line.strip()):
            name, _, default, most = match.groups()
            # A most that is none, or beyond all measure, is as if it were not told.
            known = most is not None and len(most) < 19 and int(most) > 0
            options[name] = (default or "", int(most) if known else None)
    return engine, options


def _net(options: Mapping[str, str]) -> str:
    """The nets that an engine values with, by its options; none where it was told not to use them."""
    if options.get("Use NNUE", "true").lower() == "false":
        return ""
    nets = (value for name, value in options.items() if name.startswith("EvalFile"))
    return " ".join(net.replace("\\", "/").rsplit("/", 1)[-1] for net in nets if net and net != "<empty>")


def read_complaint(output: bytes) -> str:
    """What an engine says is wrong before it gives up, such as a net that is missing; empty if it says nothing.

    >>> read_complaint(b"info string ERROR: No.\\ninfo string ERROR: The network file nn.nnue was not loaded.\\n")
    'The network file nn.nnue was not loaded'
    """
    said = [line.decode("utf-8", "replace").strip().rstrip(".") for line in _COMPLAINT.findall(output)]
    return next((line for line in said if "not loaded" in line), said[0] if said else "")


def read_last_words(errors: bytes) -> str:
    """What a program wrote to stderr before it ended: the line that tells of an error, else its last.

    >>> read_last_words(b"node:internal:1078\\n  throw err;\\n\\nError: Cannot find module 'fish.js'\\n    at node\\n")
    "Error: Cannot find module 'fish.js'"
    """
    lines = [line.strip().rstrip(".") for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR.search(line)]
    return printable((telling or lines[-1:] or [""])[0])[:300]


def end_engines() -> None:
    """End every engine of this process at once, for one that is about to end without winding up."""
    for group in tuple(_GROUPS):
        _end_group(group)


def _end_group(group: int) -> None:
    """Kill an engine with all that it started: behind a script the engine is not the process that was started."""
    _GROUPS.discard(group)
    # Not by asyncio: it looks first whether the process is dead, and takes the news from whom it set to wait.
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(group, signal.SIGTERM)


def legal_moves(key: bytes) -> frozenset[str]:
    """The legal moves of a position, in UCI."""
    return frozenset(move.uci() for move in chess.Board(to_fen(key)).legal_moves)


async def _settled(work: asyncio.Future[Any], seconds: float) -> asyncio.CancelledError | None:
    """Wait for what must not be left halfway, at most for so long; who cancels meanwhile is returned, for afterwards.

    An engine that nobody waits for any more would tell of its end when there is no loop to hear it.
    """
    cancelled = None
    while not work.done():
        try:
            if not (await asyncio.wait([work], timeout=seconds))[0]:
                break
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


def cpu_seconds(process: int) -> float:
    """The CPU time that a process has used, where the system tells it; else nothing."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def patient(answers: bool) -> float:
    """How many seconds an engine may be silent where it is not known how long it usually takes."""
    return ALONE_SECONDS if answers else ALONE_SECONDS / 2


class UciEngine(asyncio.SubprocessProtocol):
    """A running engine. `begin` sends a search and returns at once; `finish` waits for its output.

    The two are apart so that the next search can begin before the last is read.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.name = ""
        self.net = ""
        self._silent = 0.0
        self._answers = True
        self._defaults: dict[str, tuple[str, int | None]] = {}
        self._buffer = bytearray()
        self._errors = bytearray()
        self._scanned = 0
        self._token = b""
        self._waiting: asyncio.Future[bytes] | None = None
        self._since = 0.0
        self._lines_set = 0
        self._why_dead = ""
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(cls, search: Search) -> Self:
        """Start the engine and set its options; EngineError if it is none or dies."""
        starting = asyncio.ensure_future(
            asyncio.get_running_loop().subprocess_exec(
                lambda: cls(search), *find(search.engine), start_new_session=True
            )
        )
        cancelled = await _settled(starting, START_SECONDS)
        try:
            _, engine = await starting
        except OSError as error:
            raise EngineError(f"{search.engine} cannot be started: {error.strerror or error}.") from error
        try:
            if cancelled:
                raise cancelled
            await engine._set_up()
        except BaseException:
            await engine.end()
            raise
        return engine

    async def _set_up(self) -> None:
        hello = await self._ask("uci", b"uciok")
        self.name, self._defaults = read_hello(hello)
        if not self.name:
            raise EngineError(f"{self.search.engine} does not say its name: is it a UCI engine?")
        # Not every engine has a hash table to be set; other options are only set if somebody asks for them.
        chosen = {name: value for name, value in self.search.settings if name != "Hash" or name in self._defaults}
        for name, value in chosen.items():
            if name not in self._defaults:
                raise EngineError(f"{self.name} has no option {name!r}.")
            self._send(f"setoption name {name} value {value}")
        if "Threads" in self._defaults:
            self._send("setoption name Threads value 1")
        self._settings = tuple(chosen.items())
        self.net = _net({name: chosen.get(name, default) for name, (default, _) in self._defaults.items()})
        self.ask_for(self.search)
        await self._ask("isready", b"readyok")

    def ask_for(self, search: Search) -> None:
        """Take another depth, width or node limit from now on; command and options stay."""
        if search.lines > 1 and "MultiPV" not in self._defaults:
            raise EngineError(f"{self.name} cannot value several moves (it has no option MultiPV): use --lines 1.")
        most = self._defaults.get("MultiPV", ("", None))[1] or search.lines
        self.search = replace(search, lines=min(search.lines, most))

    @property
    def identity(self) -> Identity:
        likely = self.search.likely
        settings = self._settings if likely is None else tuple(sorted((*self._settings, (LIKELY, str(likely)))))
        return Identity(self.name, self.net, settings, self.search.nodes, self.search.lines)

    def begin(self, key: bytes) -> None:
        """Search a position as the search says, from a fresh hash; where it says so, for the first time."""
        search = self.search.first
        limit = f" depth {search.depth}" if search.depth < NO_DEPTH else ""
        limit += f" nodes {search.nodes}" if search.nodes else ""
        self._go(key, search.lines, limit)

    def begin_few(self, key: bytes, moves: Sequence[str]) -> None:
        """Search some moves of a position alone, to the whole depth, from a fresh hash."""
        self._go(key, len(moves), f" depth {self.search.depth} searchmoves {' '.join(moves)}")

    def begin_look(self, key: bytes) -> None:
        """Take a shallow look at a position: one line, from a fresh hash."""
        self._go(key, 1, f" depth {LOOK_DEPTH}")

    def _go(self, key: bytes, lines: int, limit: str) -> None:
        width = (
            f"setoption name MultiPV value {lines}\n"
            if lines != self._lines_set and "MultiPV" in self._defaults
            else ""
        )
        self._lines_set = lines
        self._expect(b"bestmove")
        self._send(f"{width}ucinewgame\nposition fen {to_fen(key)}\ngo{limit}")

    async def finish(self, patience: Callable[[bool], float] = patient) -> tuple[bytes, float]:
        """The output of the search that was begun, and the seconds it took; EngineError if the engine is gone.

        `patience` tells for how many seconds an engine may be silent that answers when it is asked whether it is
        there, and one that does not (there are some that do not listen while they search). Silence is counted in
        seconds that this process lived through: when machine and engines were suspended together, nobody hung.
        """
        assert self._waiting is not None, "no search was begun"
        while not self._waiting.done():
            pause = min(1.0, patience(False) / 4)
            if (await asyncio.wait([self._waiting], timeout=pause))[0]:
                break
            self._silent += pause
            if self._silent > patience(self._answers):
                self.kill(f"it said nothing for {self._silent:.0f} s")
            elif self._silent >= DOUBT_SECONDS:
                self._answers &= self._silent - pause >= DOUBT_SECONDS
                with suppress(EngineError):
                    self._send("isready")
        seconds = self._until - self._since
        return self._waiting.result(), seconds

    async def quit(self) -> None:
        """End the engine: politely, and if it does not go within half a second, by force."""
        cancelled = None
        with suppress(EngineError):
            self._send("stop\nquit")
            cancelled = await _settled(self._gone, 0.5)
        await self.end()
        if cancelled:
            raise cancelled

    async def end(self, why: str = "it was ended") -> None:
        """End the engine by force and wait until it is gone."""
        self.kill(why)
        cancelled = await _settled(self._gone, 5)
        self._transport.close()
        if cancelled:
            raise cancelled

    def kill(self, why: str) -> None:
        """Kill the engine and all that it started; whoever waits for it gets an EngineError with this reason."""
        self._fail(why)
        if (group := self._transport.get_pid()) in _GROUPS:
            _end_group(group)

    async def _ask(self, text: str, token: bytes) -> bytes:
        self._expect(token)
        self._send(text)
        assert self._waiting is not None
        idle, worked, group = 0, 0.0, self._transport.get_pid()
        while idle < START_SECONDS / _STEP and worked < START_WORK:
            if (await asyncio.wait([self._waiting], timeout=_STEP))[0]:
                return self._waiting.result()
            before, worked = worked, cpu_seconds(group)
            idle = 0 if worked > before else idle + 1
        raise NoAnswerError(f"{self.search.engine} does not answer {text!r}: is it a UCI engine?")

    def _expect(self, token: bytes) -> None:
        self._token = b"\n" + token
        self._buffer = bytearray(b"\n")
        self._scanned = 0
        self._silent, self._answers = 0.0, True
        self._since = self._until = time.perf_counter()
        self._waiting = asyncio.get_running_loop().create_future()
        if self._why_dead:
            self._fail(self._why_dead)

    def _send(self, text: str) -> None:
        if self._why_dead:
            raise EngineError(self._why_dead)
        self._stdin.write(text.encode() + b"\n")

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        _GROUPS.add(self._transport.get_pid())
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors += data
            del self._errors[:-_LAST_WORDS]
            return
        buffer, waiting = self._buffer, self._waiting
        if waiting is None or waiting.done():
            return
        buffer += data
        self._answers = True
        if b"info" in data:
            self._silent = 0.0
        found = buffer.find(self._token, self._scanned)
        self._scanned = found if found >= 0 else max(0, len(buffer) - len(self._token))
        if found >= 0 and buffer.find(b"\n", found + 1) >= 0:
            self._until = time.perf_counter()
            waiting.set_result(bytes(buffer[: found + 1]))
        elif len(buffer) > _MOST_OUTPUT:
            self.kill("it talks without end")

    def process_exited(self) -> None:
        # What a script started may outlive it. Later the number of the group could be that of another one.
        if (group := self._transport.get_pid()) in _GROUPS:
            _end_group(group)
        if not self._gone.done():
            self._gone.set_result(None)
        # What it wrote last may lie in its pipes still: they are read at the loop's next turn.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._fail_dead)

    def _fail_dead(self) -> None:
        code = self._transport.get_returncode()
        why = f"it died (exit code {code})" if code is None or code >= 0 else f"it died (signal {-code})"
        said = read_complaint(bytes(self._buffer)) or read_last_words(bytes(self._errors))
        self._fail(f"{why}: {said}" if said else why)

    def pipe_connection_lost(self, fd: int, error: Exception | None) -> None:
        # Most often it has died, and its exit code is about to be known.
        if fd == 2:
            return
        why = "it closed its output" if fd == 1 else "it closed its input"
        asyncio.get_running_loop().call_later(0.5, self._fail, why)

    def _fail(self, why: str) -> None:
        self._why_dead = self._why_dead or why
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(EngineError(self._why_dead))
            # Marks the error as seen: a search that was begun ahead may never be waited for.
            self._waiting.exception()
