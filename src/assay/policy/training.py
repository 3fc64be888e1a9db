"""Training the move model on gathered positions and a teacher's labels: one thread, hours, resumed where it stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from assay.arrays import follow, freeze, load_arrays, load_weights, save_arrays, thaw, weights_of
from assay.errors import InputError, LearnedError
from assay.paths import atomic
from assay.policy.movemodel import Policy, Size, load_policy, log_chances_of, make_policy, save_policy
from assay.policy.network import MoveModel, batch_of, grown, loss_of
from assay.policy.positions import LICHESS, NO_SQUARE, RowArray, identity, open_positions, seen
from assay.policy.teacher import Labels, open_labels
from assay.policy.traits import features
from assay.progress import Progress
from assay.records import dataclass

CHECKPOINT, WEIGHTS, CURVE = "checkpoint.npz", "policy.npz", "curve.csv"
# Multiplied in 16 bits where the processor can (a quarter less time a step); weights and sums stay in 32.
_HALF = torch.cpu._is_avx512_bf16_supported()
_WARM = 200
_JUDGED = 4_096  # positions of each folder on which a training is watched
_COLUMNS = ("step", "positions", "cpu_hours", "lr", "loss", "folder", "nats", "top1")


@dataclass(frozen=True)
class Plan:
    """How to train. What `resume` may change: steps, cool, lr, soft."""

    width: int = 96
    bag: int = 128
    hidden: int = 32
    steps: int = 200_000
    batch: int = 512
    lr: float = 3e-3
    weight_decay: float = 1e-2
    cool: float = 0.2  # the last part of the steps, over which the rate falls to nothing
    soft: float = 0.6  # of the positions have a teacher's labels, if there are any
    known: float = 0.5  # of the other positions come with the move before
    average: int = 2_000  # steps over which weights are averaged
    seed: int = 1

    @property
    def size(self) -> Size:
        return Size(self.width, self.bag, self.hidden)

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        left = (self.steps - step) / max(1.0, self.steps * self.cool)
        return self.lr * min(1.0, (step + 1) / _WARM) * max(0.01, min(1.0, left))


@dataclass
class _Source:
    """A folder of positions with its labels."""

    folder: Path
    blocks: list[RowArray]
    labels: list[Labels] = field(default_factory=list)

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        return np.cumsum([0, *map(len, self.blocks)])

    def look(self) -> None:
        """Take in labels that were written since."""
        self.labels += open_labels(self.folder, len(self.labels))

    def rows(self, numbers: npt.NDArray[np.int64]) -> RowArray:
        starts = self.starts
        which = np.searchsorted(starts, numbers, side="right") - 1
        taken = np.empty(len(numbers), self.blocks[0].dtype)
        for block in np.unique(which):
            mine = which == block
            taken[mine] = self.blocks[block][numbers[mine] - starts[block]]
        return taken

    def hard(self, count: int, random: np.random.Generator) -> RowArray:
        """Positions of players who are not held out, with the moves that were played."""
        found: list[RowArray] = []
        while sum(map(len, found)) < count:
            rows = self.rows(random.integers(0, self.starts[-1], count + count // 4 + 8))
            found.append(rows[rows["held_out"] == 0])
        return np.concatenate(found)[:count]

    def held_out(self, count: int) -> RowArray:
        """Positions of players who are held out, at most so many; some must be, and some must not."""
        numbers = np.flatnonzero(np.concatenate([block["held_out"] for block in self.blocks]))
        if not 0 < len(numbers) < self.starts[-1]:
            who = "every" if len(numbers) else "no"
            raise LearnedError(f"{self.folder} has {who} player held out: too few games to train on; gather more.")
        return self.rows(np.sort(np.random.default_rng(7).permutation(numbers)[:count]))


@dataclass(frozen=True)
class _Drawn:
    """One batch before it is put into numbers."""

    rows: RowArray
    elo: npt.NDArray[np.float32]
    pool: npt.NDArray[np.uint8]
    soft: list[npt.NDArray[np.float16]]  # the teacher's chances of the last positions


def _draw(sources: Sequence[_Source], plan: Plan, step: int) -> _Drawn:
    random = np.random.default_rng((plan.seed, step))
    hard, soft_rows, soft, levels = [], [], [], []
    for number, source in enumerate(sources):
        share = plan.batch // len(sources) + (number < plan.batch % len(sources))
        taught = round(share * plan.soft) if source.labels else 0
        rows = source.hard(share - taught, random)
        unknown = random.random(len(rows)) >= plan.known
        rows["last_start"][unknown] = rows["last_end"][unknown] = NO_SQUARE
        hard.append(rows)
        # From a few blocks at a time: their rows lie close together on the disk.
        for block in random.integers(0, len(source.labels), taught and 4) if taught else ():
            labels = source.labels[block]
            picked = random.integers(0, len(labels.rows), taught // 4)
            soft_rows.append(source.rows(labels.rows[picked]))
            soft += [labels.chances[labels.offsets[p] : labels.offsets[p + 1]] for p in picked]
            levels.append(np.full(len(picked), labels.level, np.float32))
    plain = np.concatenate(hard)
    if not soft:
        return _Drawn(plain, plain["elo"].astype(np.float32), plain["pool"], [])
    taught_rows = np.concatenate(soft_rows)
    taught_rows["last_start"] = taught_rows["last_end"] = NO_SQUARE
    rows = np.concatenate([plain, taught_rows])
    elo = np.concatenate([plain["elo"].astype(np.float32), *levels])
    pool = np.concatenate([plain["pool"], np.full(len(taught_rows), LICHESS, np.uint8)])
    return _Drawn(rows, elo, pool, soft)


def squares_of_last(
    rows: RowArray, turned: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The squares of the move before, seen by the side to move, -1 where unknown."""
    flip = np.where(turned, 56, 0)
    start, end = (
        np.where(rows[name] == NO_SQUARE, -1, rows[name].astype(np.int64) ^ flip) for name in ("last_start", "last_end")
    )
    return start, end


def _prepared(drawn: _Drawn) -> tuple[Any, torch.Tensor]:
    """The batch for the network, and the probabilities it should give."""
    positions = seen(np.ascontiguousarray(drawn.rows["key"]))
    found = features(positions, *squares_of_last(drawn.rows, positions.turned))
    moves = found.moves
    target = np.zeros(len(moves), np.float32)
    plain = len(drawn.rows) - len(drawn.soft)
    end = moves.offsets[plain]
    target[:end] = moves.codes(positions.turned)[:end] == drawn.rows["played"][moves.row[:end]]
    if drawn.soft:
        target[end:] = np.concatenate(drawn.soft)
    return batch_of(found, drawn.elo, drawn.pool), torch.from_numpy(target)


def judge(
    policy: Policy, rows: RowArray, *, last: bool = False
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """The logarithm of the chance of each move played, at the mover's rating, and whether it was the likeliest."""
    logs, tops = [], []
    for begin in range(0, len(rows), 512):
        some = rows[begin : begin + 512]
        positions = seen(np.ascontiguousarray(some["key"]))
        found = features(positions, *(squares_of_last(some, positions.turned) if last else (None, None)))
        chances = log_chances_of(policy, found, some["elo"], some["pool"])
        moves = found.moves
        hit = moves.codes(positions.turned) == some["played"][moves.row]
        logs.append(chances[hit])
        tops.append(chances[hit] >= np.maximum.reduceat(chances, moves.offsets[:-1]))
    return np.concatenate(logs), np.concatenate(tops)


def train(
    folders: Sequence[Path],
    out: Path,
    plan: Plan,
    *,
    resume: bool = False,
    start: Path | None = None,
    every: int = 1_000,
    quiet: bool = True,
) -> Policy:
    """Train a move model in the folder `out`; a training that was stopped goes on from its checkpoint with `resume`."""
    torch.set_num_threads(1)
    torch.manual_seed(plan.seed)
    sources = [_Source(folder, open_positions(folder)) for folder in folders]
    watched = {source.folder.name: source.held_out(_JUDGED) for source in sources}
    about = {"positions": {source.folder.name: identity(source.folder) for source in sources}}
    if resume and not (out / CHECKPOINT).is_file():
        raise LearnedError(f"{out} holds no training to resume; leave --resume out to start one.")
    if not resume and (out / CHECKPOINT).exists():
        raise LearnedError(f"{out} holds a training already; go on with --resume, or train into another folder.")
    out.mkdir(parents=True, exist_ok=True)
    net = MoveModel(plan.size)
    mean = MoveModel(plan.size)
    optimiser = torch.optim.AdamW(net.parameters(), lr=plan.lr, weight_decay=plan.weight_decay, fused=True)
    step, spent, curve = 0, 0.0, list[dict[str, Any]]()
    if resume:
        step, spent, curve = _load(out / CHECKPOINT, net, mean, optimiser)
    elif start is not None:
        load_weights(net, grown(start, weights_of(net), plan.size))
    if not resume:
        mean.load_state_dict(net.state_dict())
    began, losses = time.process_time() - spent, list[float]()
    with Progress("training", plan.steps, unit="steps", quiet=quiet) as progress:
        while step < plan.steps:
            if step % every == 0 or not losses:
                for source in sources:
                    source.look()
            batch, target = _prepared(_draw(sources, plan, step))
            for group in optimiser.param_groups:
                group["lr"] = plan.rate(step)
            with torch.autocast("cpu", torch.bfloat16, enabled=_HALF):
                logs = net(batch)
            loss = loss_of(logs, target, batch.positions)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            step += 1
            keep = min(1 - 1 / plan.average, step / (step + 10))
            follow(mean, net, 1 - keep)
            losses.append(loss.item())
            progress.note = f"loss {np.mean(losses[-200:]):.3f}"
            progress.update(step)
            if step % every == 0 or step == plan.steps:
                spent = time.process_time() - began
                told = {**about, "plan": asdict(plan), "steps": step}
                policy = make_policy(weights_of(mean), plan.size, told, str(out))
                curve += _watch(policy, watched, step, spent, plan, float(np.mean(losses)))
                losses = losses[-1:]
                _save(out / CHECKPOINT, net, mean, optimiser, plan, step, spent, curve)
                save_policy(out / WEIGHTS, policy)
                _write_curve(out / CURVE, curve)
    return load_policy(out / WEIGHTS)


def _watch(
    policy: Policy, watched: dict[str, RowArray], step: int, spent: float, plan: Plan, loss: float
) -> list[dict[str, Any]]:
    rows = []
    for name, positions in watched.items():
        logs, tops = judge(policy, positions)
        rows.append(
            {
                "step": step,
                "positions": step * plan.batch,
                "cpu_hours": round(spent / 3600, 4),
                "lr": plan.rate(step),
                "loss": round(loss, 4),
                "folder": name,
                "nats": round(float(logs.mean()), 4),
                "top1": round(float(tops.mean()), 4),
            }
        )
    return rows


def _write_curve(path: Path, curve: list[dict[str, Any]]) -> None:
    lines = [",".join(_COLUMNS), *(",".join(str(row[name]) for name in _COLUMNS) for row in curve)]
    with atomic(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _save(
    path: Path,
    net: MoveModel,
    mean: MoveModel,
    optimiser: torch.optim.Optimizer,
    plan: Plan,
    step: int,
    spent: float,
    curve: list[dict[str, Any]],
) -> None:
    arrays = freeze(net, mean, optimiser, "")
    save_arrays(path, arrays, {"plan": asdict(plan), "step": step, "spent": spent, "curve": curve})


def _load(
    path: Path, net: MoveModel, mean: MoveModel, optimiser: torch.optim.Optimizer
) -> tuple[int, float, list[dict[str, Any]]]:
    arrays, meta = load_arrays(path)
    try:
        thaw(arrays, net, mean, optimiser, "")
        if len(optimiser.state) < len(list(net.parameters())):
            raise KeyError("exp_avg")
        return int(meta["step"]), float(meta["spent"]), list(meta["curve"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise LearnedError(f"{path} does not fit: {error}. Resume with the settings it was started with.") from error


def read_plan(out: Path) -> Plan:
    """How the training in a folder was last asked to run."""
    if not (out / CHECKPOINT).is_file():
        raise LearnedError(f"{out} holds no training to resume; leave --resume out to start one.")
    _, meta = load_arrays(out / CHECKPOINT)
    try:
        return replace(Plan(), **meta["plan"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{out / CHECKPOINT} is no checkpoint of a policy ({error}).") from error
