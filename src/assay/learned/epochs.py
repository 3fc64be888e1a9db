"""Training of the sequence models: one loop, checkpoints that go on after anything, early stopping, one temperature."""

from __future__ import annotations

import copy
import csv
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader

from assay.arrays import Arrays, follow, load_weights, weights_of
from assay.errors import LearnedError
from assay.learned import checkpoint
from assay.learned.book import scalar_names
from assay.learned.dataset import Dataset
from assay.learned.lessons import (
    Trained,
    band_shares,
    drawn,
    fit_temperature,
    log_softmax,
    opening_books,
    pool_shares,
    spread_within,
    stated_prior,
    training_rows,
    validation_rows,
)
from assay.learned.net import OUTCOMES, SQUARES, UNKNOWN, Batch, Examples, Net, collate, grown, make_batches
from assay.learned.run import METRICS, Config, Run
from assay.paths import atomic
from assay.progress import Progress
from assay.records import dataclass
from assay.scoring import score

CHECKPOINT_SECONDS = 120.0
FROM_AND_TO = [48, 49]  # planes of the move

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Logits:
    """Outputs on a set of games: logits of (White, Black) at every ply, their labels, and where each game ends."""

    values: Floats  # (plies, 2, bands)
    bands: npt.NDArray[np.int64]  # (plies, 2)
    ratings: Floats  # (plies, 2)
    ends: npt.NDArray[np.int64]  # rows of the games' last plies
    held: npt.NDArray[np.bool_]  # (plies, 2), whether the player is one to judge


def train(
    dataset: Dataset,
    folder: Path,
    config: Config,
    inputs: tuple[str, ...],
    *,
    start: Run | None = None,
    resume: bool = False,
    quiet: bool = True,
) -> Trained:
    """Train a transformer or GRU and keep the weights of the epoch with the best validation NLL.

    A checkpoint is written every two minutes and after every epoch; with `resume` the training goes on from it, along
    the same curve. The loss is the cross-entropy of both players' bands at every ply (so that the output at ply t is
    p(band | plies 0..t)), with AdamW, linear warm-up, cosine decay and clipped gradients. With `foresight` the network
    also foretells the next move and the result, at first: games tell more of chess than of ratings, and who knows chess
    sees who plays it well. The weight of that falls evenly to nothing. With `average` the weights that are judged and
    kept are a moving average over so many steps, which is steadier than those of any step. With `start` the weights
    begin as those of another run, as far as they fit; the head is new unless both know the same bands.
    """
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    rows = training_rows(dataset, config)
    books = opening_books(dataset, rows, config)
    examples = Examples(dataset, rows, config.max_plies, inputs, books, config.hide)
    held = validation_rows(dataset, balanced=config.balanced)
    validation = Examples(dataset, held, config.max_plies, inputs, books, config.hide)
    first = drawn(dataset, rows, config)
    shares = band_shares(dataset, rows[first])
    prior, within = stated_prior(shares, config), spread_within(dataset, rows)
    # Learning under an even prior: the training prior is added to the logits, so that they need not contain it.
    pools = pool_shares(dataset, rows[first])
    if config.smoothing:
        # Spread labels have a spread prior: with the bare one the thin ends of a population would seem likelier.
        pools = pools @ bells(pools.shape[1], config.smoothing).numpy()
    offset = torch.tensor(np.log(pools) if config.balanced else np.zeros_like(pools), dtype=torch.float32)
    net = Net(config, len(prior), *scalar_scale(examples), prior)
    if start is not None:
        begin_with(net, start, scalar_names(inputs, book=books is not None), dataset.edges)
        if not config.balanced:
            with torch.no_grad():
                net.head.bias.add_(torch.tensor(np.tile(np.log(prior), 2), dtype=torch.float32))
    optimiser = make_optimiser(net, config)
    identity = config.as_dict() | {"inputs": list(inputs), "dataset": dataset.identity}
    mean = copy.deepcopy(net) if config.average else net
    state, best = checkpoint.State(), weights_of(net)
    if resume and (folder / checkpoint.NAME).is_file():
        state, best = checkpoint.load(folder, net, mean, optimiser, identity)
    if start is not None:
        state.start = start.name

    def keep() -> None:
        checkpoint.save(folder, net, mean, optimiser, state, best, identity)

    steps = math.ceil(len(first) / config.batch_size) * config.epochs
    course = _Course(net, mean, optimiser, offset, config, steps, state)
    with Progress("training", steps, unit="steps", quiet=quiet) as progress:
        while state.epoch < config.epochs and state.epoch - state.best_epoch <= config.patience:
            began = time.monotonic()
            places = drawn(dataset, rows, config, state.epoch)
            examples.turn = state.epoch + 1
            batches = make_batches(examples.lengths[places], config.batch_size, (config.seed, state.epoch))
            waited = course.epoch(examples, [places[some].tolist() for some in batches], keep, progress)
            row = {"epoch": state.epoch + 1.0, "train_loss": state.loss_sum / state.ply_sum}
            row |= judge(logits_of(mean, validation), dataset.edges, within)
            row |= {"seconds": time.monotonic() - began, "waiting": waited}
            if row["validation_nll"] < state.best_nll:
                state.best_nll, state.best_epoch, best = row["validation_nll"], state.epoch, weights_of(mean)
            state.history.append(row)
            state.epoch, state.batch, state.loss_sum, state.ply_sum = state.epoch + 1, 0, 0.0, 0
            progress.note = f"epoch {state.epoch}, validation NLL {row['validation_nll']:.3f}"
            keep()
            write_metrics(folder / METRICS, state.history)

    load_weights(net, best)
    found = logits_of(net, validation)
    temperature = fit_temperature(found.values[found.held], found.bands[found.held])
    return Trained(
        weights=_rating_alone(best) | (books.whole.arrays() if books else {}),
        prior=prior,
        temperature=temperature,
        results={
            "training_games": len(rows),
            "validation_games": len(validation),
            "parameters": sum(parameter.numel() for parameter in net.parameters()),
            "best_epoch": state.best_epoch + 1,
            "validation_nll": state.best_nll,
        }
        | ({"start": state.start} if state.start else {}),
    )


@dataclass(frozen=True)
class _Course:
    """What the steps of a training share."""

    net: Net
    mean: Net  # its averaged weights, or the net itself
    optimiser: torch.optim.Optimizer
    offset: Tensor
    config: Config
    steps: int
    state: checkpoint.State

    def epoch(
        self, examples: Examples, batches: list[list[int]], keep: Callable[[], None], progress: Progress
    ) -> float:
        """Take the steps of an epoch that are still to take; the seconds that data were waited for."""
        state, waited, kept = self.state, 0.0, time.monotonic()
        for batch, waiting in _timed(examples, batches[state.batch :]):
            waited += waiting
            step = state.epoch * len(batches) + state.batch
            set_rate(self.optimiser, self.config, step, self.steps)
            loss, plies = loss_of(self.net, batch, self.offset, self.config, left=1 - step / self.steps)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.config.clip)
            self.optimiser.step()
            if self.mean is not self.net:
                follow(self.mean, self.net, max(1 / self.config.average, 1 / (step + 1)))
            state.loss_sum += loss.item() * plies
            state.ply_sum += plies
            state.batch += 1
            progress.update(step + 1)
            if time.monotonic() - kept > CHECKPOINT_SECONDS:
                keep()
                kept = time.monotonic()
        return waited


def _rating_alone(weights: Arrays) -> Arrays:
    """The weights without those that only training asks for."""
    return {name: array for name, array in weights.items() if not name.startswith("foresee")}


def scalar_scale(examples: Examples, games: int = 500) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Mean and spread of each scalar over some games, to bring them to one scale."""
    some = np.linspace(0, len(examples) - 1, min(games, len(examples))).astype(int)
    values = np.concatenate([examples[int(i)].scalars for i in np.unique(some)])
    return values.mean(axis=0), values.std(axis=0) + np.float32(0.01)


def begin_with(net: Net, start: Run, names: Sequence[str], edges: Floats) -> None:
    """Take over the weights of another run, which may be smaller, know other bands and read fewer scalars.

    `names` are those of the scalars that the net reads, `edges` those of its bands. A head of other bands begins
    between those of its neighbours; what the run's prior told it is taken out, so that the logits begin as of an even
    prior.
    """
    own = net.state_dict()
    known = dict(start.weights)
    if all(name.startswith(("head", "encode.mean", "encode.spread")) for name in grown(_arrays(own), known)):
        raise LearnedError(f"no weights of {start.path} fit this model; choose its d-model, layers and inputs.")
    places = {name: at for at, name in enumerate(scalar_names(start.inputs, book="book.keys" in known))}
    for name in ("encode.mean", "encode.spread", "encode.scalars.weight"):
        mine = own[name].numpy().copy()
        if mine.shape[:-1] != known[name].shape[:-1]:
            continue
        if name.endswith("weight"):
            mine[:] = 0
        for at, scalar in enumerate(names):
            if scalar in places and places[scalar] < known[name].shape[-1]:
                mine[..., at] = known[name][..., places[scalar]]
        known[name] = mine
    known["head.bias"] = known["head.bias"] - np.tile(np.log(start.prior), 2)
    for name in [name for name in known if name.startswith(("head.", "pooling.head."))]:
        known[name] = between(known[name], start.edges, edges)
    fits = grown(_arrays(own), known)
    net.load_state_dict(own | {name: torch.from_numpy(array.astype(np.float32)) for name, array in fits.items()})


def _arrays(state: dict[str, Tensor]) -> Arrays:
    return {name: tensor.numpy() for name, tensor in state.items()}


def between(head: npt.NDArray[np.generic], edges: Floats, wanted: Floats) -> npt.NDArray[np.float64]:
    """The rows of a head, (2 x bands, ...), for other bands; beyond its own they go on as they ended."""
    at, now = (edges[1:] + edges[:-1]) / 2, (wanted[1:] + wanted[:-1]) / 2
    low = np.clip(np.searchsorted(at, now, side="right") - 1, 0, len(at) - 2)
    share = (now - at[low]) / (at[low + 1] - at[low])
    rows = np.asarray(head, dtype=np.float64).reshape(2, len(at), -1)
    found = rows[:, low] * (1 - share)[:, None] + rows[:, low + 1] * share[:, None]
    return np.asarray(found.reshape(2 * len(now), *head.shape[1:]))


def make_optimiser(net: Net, config: Config) -> torch.optim.AdamW:
    """AdamW; biases, norms and embeddings are not decayed."""
    decayed = [p for name, p in net.named_parameters() if p.ndim == 2 and "place" not in name and "side" not in name]
    kept = {id(p) for p in decayed}
    rest = [p for p in net.parameters() if id(p) not in kept]
    groups = [{"params": decayed, "weight_decay": config.weight_decay}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=config.lr)


def set_rate(optimiser: torch.optim.Optimizer, config: Config, step: int, steps: int) -> None:
    """Linear warm-up, then half a cosine down to nothing."""
    warm = max(1.0, config.warmup * steps)
    rate = config.lr * min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1.0, step / steps)))
    for group in optimiser.param_groups:
        group["lr"] = rate


def loss_of(net: Net, batch: Batch, offset: Tensor, config: Config, left: float = 1.0) -> tuple[Tensor, int]:
    """The loss of a batch and its number of plies; `left` is the share of the training that is still to come."""
    known = net.read(batch.planes, batch.scalars, batch.white)
    logits = net.rate(known, batch.white) + offset[batch.pools][:, None, None]
    logits, bands = logits[batch.mask], batch.bands[batch.mask]
    weight = ply_weights(batch.mask, config.ply_weight)[batch.mask].repeat_interleave(2)
    wanted = bells(logits.shape[-1], config.smoothing)[bands].flatten(0, 1) if config.smoothing else bands.flatten()
    loss = weight @ functional.cross_entropy(logits.flatten(0, 1), wanted, reduction="none")
    if config.elo_weight:
        centre = torch.arange(logits.shape[-1], dtype=torch.float32)
        away = (logits.softmax(-1) @ centre - bands).flatten()
        loss = loss + config.elo_weight * (weight @ (away.abs() if config.elo_loss == "mae" else away**2))
    if net.foresee is not None:
        loss = loss + config.foresight * left * _foretold(net.foresee(known), batch)
    return loss, len(bands)


def ply_weights(mask: Tensor, power: float) -> Tensor:
    """What each of two sides counts at each ply, (games, plies), one in all: every ply alike, or every game alike and
    its plies by their place to this power."""
    if not power:
        return mask / (2 * mask.sum())
    places = torch.arange(1, mask.shape[1] + 1) * mask
    weight = (places / mask.sum(1, keepdim=True)) ** power
    return weight / (2 * len(mask) * weight.sum(1, keepdim=True))


def _foretold(foreseen: Tensor, batch: Batch) -> Tensor:
    """The cross-entropy of the next move's squares (in the view of its mover) and of the result."""
    start, goal, outcome = torch.split(foreseen, [SQUARES, SQUARES, OUTCOMES], dim=-1)
    follows = batch.mask[:, 1:]
    squares = batch.planes[:, 1:, FROM_AND_TO][follows].argmax(dim=-1)
    moves = functional.cross_entropy(start[:, :-1][follows], squares[:, 0])
    moves = moves + functional.cross_entropy(goal[:, :-1][follows], squares[:, 1])
    ended = batch.outcome[batch.mask]
    if (ended == UNKNOWN).all():
        return moves
    return moves + functional.cross_entropy(outcome[batch.mask], ended, ignore_index=UNKNOWN)


def bells(bands: int, spread: float) -> Tensor:
    """For each band a bell over the bands around it (Diaz and Marathe 2019): being one band off is half right."""
    place = torch.arange(bands, dtype=torch.float32)
    return torch.softmax(-((place[:, None] - place) ** 2) / (2 * spread**2), dim=1)


def logits_of(net: Net, examples: Examples, size: int = 64) -> Logits:
    """Outputs of a net on games, without dropout."""
    order = np.argsort(examples.lengths, kind="stable")
    values, bands, ratings, ends, held = [], [], [], [], []
    net.eval()
    with torch.no_grad():
        for start in range(0, len(order), size):
            some = order[start : start + size]
            batch = collate([examples[int(i)] for i in some])
            logits = net(batch.planes, batch.scalars, batch.white)
            # Mover and opponent back to White and Black.
            turned = torch.where(batch.white[:, :, None, None], logits, logits.flip(2))
            values.append(turned[batch.mask].numpy())
            white = batch.white[:, :, None]
            bands.append(torch.where(white, batch.bands, batch.bands.flip(2))[batch.mask].numpy())
            ratings.append(torch.where(white, batch.ratings, batch.ratings.flip(2))[batch.mask].numpy())
            ends.append(batch.mask.sum(1).numpy())
            held.append(np.repeat(examples.dataset.held[examples.rows[some]], ends[-1], axis=0))
    net.train()
    return Logits(
        np.concatenate(values).astype(np.float64),
        np.concatenate(bands),
        np.concatenate(ratings).astype(np.float64),
        np.cumsum(np.concatenate(ends)) - 1,
        np.concatenate(held),
    )


def judge(found: Logits, edges: Floats, within: Floats | None = None) -> dict[str, float]:
    """The validation numbers of an epoch."""
    logs = log_softmax(found.values)
    picked = np.take_along_axis(logs, found.bands[:, :, None], axis=-1)
    judged = found.held[found.ends]
    last = score(np.exp(logs[found.ends][judged]), edges, found.ratings[found.ends][judged], within=within)
    return {
        "validation_nll": float(-picked[found.held].mean()),
        "end_nll": last.nll,
        "end_top1": last.top1,
        "end_mae": last.mae,
        "end_ece": last.ece,
    }


def write_metrics(path: Path, history: list[dict[str, float]]) -> None:
    """The curve of a training as CSV, one row per epoch."""
    with atomic(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(history[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: round(value, 6) for name, value in row.items()} for row in history)


def _timed(examples: Examples, batches: list[list[int]]) -> Iterator[tuple[Batch, float]]:
    """Batches, each with the seconds that it was waited for."""
    # A generator of its own: a loader draws a seed when it starts, which would move the dropout of a resumed epoch.
    loader = iter(DataLoader(examples, batch_sampler=batches, collate_fn=collate, generator=torch.Generator()))
    for _ in batches:
        began = time.monotonic()
        batch = next(loader)
        yield batch, time.monotonic() - began
