"""Ratings guessed from the moves of games: the posterior after every move, and games of one player pooled."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.curve import Estimate
from assay.errors import InputError, LearnedError
from assay.games import Game, GameArrays, Games, read, to_arrays
from assay.games.columns import rating
from assay.games.duplicates import Seen
from assay.games.notation import sans
from assay.games.outcomes import score_of
from assay.games.packed import pack, played_moves
from assay.games.stream import Paths
from assay.learned.encode import EncodedGames, encode_games
from assay.learned.forward import one_thread, posteriors
from assay.learned.inputs import ENGINE_NAMES, Inputs, clock_scalars
from assay.learned.lessons import pool
from assay.learned.run import Run, model_of
from assay.manifest import parse
from assay.pools import time_control
from assay.scoring import posterior_mean, quantile
from assay.table import Answer, Column, Table, counted

Floats = npt.NDArray[np.float64]

NO_MOVES = "no moves"
AGAIN = "the same game again"
BLOCKS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Guess:
    """What the moves of one game say: the posterior before the first ply and after each, for White and Black."""

    number: int  # of the game in its file, from 1
    players: tuple[str, str]
    ratings: tuple[int | None, int | None]
    moves: tuple[str, ...]  # in SAN
    posteriors: Floats  # (plies + 1, 2, bands)
    run: Run

    @property
    def edges(self) -> Floats:
        return self.run.edges


def estimate(posterior: Floats, run: Run, level: float = 0.8) -> Estimate:
    """Mean and central interval of one posterior of a run."""
    row, tail = posterior[None], (1 - level) / 2
    low, high = (quantile(row, run.edges, share, run.within) for share in (tail, 1 - tail))
    return Estimate(float(posterior_mean(row, run.edges, run.within)[0]), float(low[0]), float(high[0]), level)


def guess_games(
    path: Paths | Games,
    *,
    model: str | None = None,
    number: int | None = None,
    player: str | None = None,
    prior: str | PathLike[str] | None = None,
    keep_duplicates: bool = False,
    where: str | None = None,
) -> tuple[list[Guess], Counter[str]]:
    """Guess the games of files (or one of them, or those of one player) and count those that are left out.

    A game that occurs again counts once, unless duplicates are kept or it is asked for by its number.
    """
    games, seen = read(path, where=where), Seen()
    chosen = [
        (at, game)
        for at, game in enumerate(games, start=1)
        if (number is None or at == number)
        and (player is None or player in _names(game))
        and (keep_duplicates or number is not None or seen.add(game))
    ]
    if not chosen:
        raise InputError(_nothing(games.named, number, player))
    problems = games.problems + Counter({AGAIN: len(seen.duplicates)})
    guesses = guess_these(chosen, problems, model=model, prior=None if prior is None else Path(prior))
    if not guesses:
        reasons = "; ".join(f"{reason}: {count}" for reason, count in problems.most_common())
        raise InputError(f"no game of {games.named} can be rated ({reasons}).")
    return guesses, problems


def guess_these(
    chosen: Sequence[tuple[int, Game]],
    problems: Counter[str],
    *,
    model: str | None = None,
    prior: Path | None = None,
) -> list[Guess]:
    """Guess some games, each with its number; those that cannot be read or have no moves are counted in `problems`."""
    arrays = to_arrays([game for _, game in chosen])
    empty = int((arrays.valid & (np.diff(arrays.offsets) == 0)).sum())
    problems += arrays.problems() + Counter({NO_MOVES: empty})
    found = guess_parsed([(at, game) for at, (_, game) in enumerate(chosen)], arrays, model=model, prior=prior)
    return [replace(guess, number=chosen[guess.number][0]) for guess in found]


def guess_parsed(
    chosen: Sequence[tuple[int, Game]], arrays: GameArrays, *, model: str | None = None, prior: Path | None = None
) -> list[Guess]:
    """Guess some of the games that the arrays hold, each with its place there; those without moves are left out."""
    lengths, encoded = np.diff(arrays.offsets), encode_games(arrays)
    plies = np.arange(arrays.plies)
    names = sans(pack(arrays, plies), plies, played_moves(arrays, plies))
    with one_thread():
        return [_guess(arrays, encoded, names, at, game, model, prior) for at, game in chosen if lengths[at]]


def _guess(
    arrays: GameArrays,
    encoded: EncodedGames,
    names: Sequence[str],
    at: int,
    game: Game,
    model: str | None,
    prior: Path | None,
) -> Guess:
    """Guess the game that stands at `at` in the arrays."""
    part = slice(arrays.offsets[at], arrays.offsets[at + 1])
    base, increment, _ = time_control(game.tags.get("TimeControl", ""))
    plies = Inputs(
        encoded.planes[part],
        encoded.scalars[part],
        clock_scalars(arrays.clock[part], base, increment),
        np.full((part.stop - part.start, len(ENGINE_NAMES)), np.nan, dtype=np.float32),
        ended=score_of(game.tags.get("Result")) is not None,
    )
    run = model_of(model, game.tags.get("Site", ""))
    found = posteriors(run, plies, None if prior is None else read_prior(prior, run.edges))
    ratings = (rating(game.tags.get("WhiteElo", "")), rating(game.tags.get("BlackElo", "")))
    return Guess(at, _names(game), ratings, tuple(names[part]), found, run)


def pool_games(guesses: Sequence[Guess], player: str) -> Floats:
    """The posterior of one player from all these games, pooled with the run's power."""
    edges = {tuple(guess.edges.tolist()) for guess in guesses}
    if len(edges) > 1:
        raise LearnedError("these games need different models, which cannot be pooled; choose one with --model.")
    logs = np.log([guess.posteriors[-1, guess.players.index(player)] for guess in guesses])
    prior = np.mean([guess.posteriors[0, 0] for guess in guesses], axis=0)
    return pool(logs, prior, guesses[0].run.power)


def sparkline(posterior: Floats) -> str:
    """A posterior as a row of blocks, one per band; the highest is full.

    >>> sparkline(np.array([0.0, 0.1, 0.4, 0.5]))
    ' ▂▆█'
    """
    scaled = np.ceil(posterior / posterior.max() * 8 - 0.5).astype(int)
    return "".join(BLOCKS[height] for height in np.clip(scaled, 0, 8))


def read_prior(path: Path, edges: Floats) -> Floats:
    """A prior over bands from a file: JSON {"1500": 0.2, ...} or CSV with the columns `band` and `share`.

    Each entry is a rating inside a band and a weight; bands without an entry get none.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            pairs = [(float(band), float(share)) for band, share in parse(text).items()]
        else:
            pairs = [(float(row["band"]), float(row["share"])) for row in csv.DictReader(text.splitlines())]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise InputError(
            f'{path} is no prior; write JSON like {{"1500": 0.2}}, or CSV with the columns band and share ({error}).'
        ) from error
    prior = np.zeros(len(edges) - 1)
    for band, share in pairs:
        at = int(np.searchsorted(edges, band, side="right")) - 1
        if not 0 <= at < len(prior) or share < 0 or not np.isfinite(share):
            raise InputError(f"{path}: {band:g} with share {share:g} does not fit the bands of this model.")
        prior[at] += share
    if prior.sum() <= 0:
        raise InputError(f"{path}: the shares are all zero.")
    return np.asarray(prior / prior.sum())


def _names(game: Game) -> tuple[str, str]:
    return game.tags.get("White", "?"), game.tags.get("Black", "?")


def _nothing(path: str, number: int | None, player: str | None) -> str:
    if number is not None:
        return f"{path} has no game {number}."
    return f"{path} has no game of {player!r}; write the name as in the file." if player else f"{path} has no games."


@dataclass(frozen=True, eq=False, kw_only=True)
class Guesses(Answer):
    """What the moves of some games say of their players; `guesses` has the posterior of each game after each move."""

    guesses: Sequence[Guess]


def answer(guesses: Sequence[Guess], problems: Counter[str], player: str | None = None, level: float = 0.8) -> Guesses:
    """The guesses as a table: one game move by move, several by their ends, those of a player pooled."""
    one = len(guesses) == 1 and player is None
    remarks = [
        f"assay: on unseen players the model {run.name} is off by {run.error[0]:.0f} Elo on average; "
        f"guessing the mean for everybody, by {run.error[1]:.0f}."
        for run in {guess.run.name: guess.run for guess in guesses}.values()
        if run.error is not None
    ]
    remarks += [f"assay: {counted(count, 'game')} left out: {reason}." for reason, count in problems.most_common()]
    return Guesses(
        guesses=guesses,
        shown=_moves(guesses[0], level) if one else _ends(guesses, player, level),
        head=_about(guesses[0], level) if one else "",
        estimates=_pooled(guesses, player, level),
        problems=problems,
        remarks=remarks,
    )


def _pooled(guesses: Sequence[Guess], player: str | None, level: float) -> dict[str, Estimate]:
    """The estimate of each player, or of one, from all games; a note where games need different models."""
    found: dict[str, Estimate] = {}
    for name in dict.fromkeys(name for guess in guesses for name in guess.players):
        if player in (None, name):
            mine = [guess for guess in guesses if name in guess.players]
            try:
                found[name] = estimate(pool_games(mine, name), mine[0].run, level)
            except LearnedError as error:
                found[name] = Estimate(level=level, note=str(error))
    return found


def _about(guess: Guess, level: float) -> str:
    who = [
        f"{side}: {name}{'' if rating is None else f' ({rating})'}, guess {estimate(last, guess.run, level)}"
        for side, name, rating, last in zip(
            ("White", "Black"), guess.players, guess.ratings, guess.posteriors[-1], strict=True
        )
    ]
    bands = f"{guess.edges[0]:.0f} to {guess.edges[-1]:.0f} by {guess.edges[1] - guess.edges[0]:.0f}"
    return "\n".join([*who, f"Model: {guess.run.name}; bands {bands}; {100 * level:g} % intervals"])


def _moves(guess: Guess, level: float) -> Table:
    """One game move by move; the chances of all bands are columns of their own, one picture of them is shown."""
    low = guess.edges[:-1].astype(int).tolist()
    rows = []
    for ply, pair in enumerate(guess.posteriors):
        row: dict[str, Any] = {"ply": ply, "move": _numbered(guess, ply)}
        for side, posterior in zip(("white", "black"), pair, strict=True):
            found = estimate(posterior, guess.run, level)
            row |= {side: found.value, f"{side}_low": found.low, f"{side}_high": found.high}
            row[f"{side}_bands"] = f"|{sparkline(posterior)}|"
            row |= {f"{side}_{band}": p for band, p in zip(low, posterior.tolist(), strict=True)}
        rows.append(row)
    columns = [Column("ply"), Column("move")]
    for side in ("white", "black"):
        columns.append(Column(side, side.title(), 0))
        columns += [Column(f"{side}_{end}", end, 0, wide=True) for end in ("low", "high")]
        columns += [Column(f"{side}_bands", "bands"), *(Column(f"{side}_{band}", wide=True) for band in low)]
    return Table(rows, columns)


def _numbered(guess: Guess, ply: int) -> str:
    """The move of a ply with its number, as in a score sheet."""
    if ply == 0:
        return "before"
    number, black = divmod(ply - 1, 2)
    return f"{number + 1}{'...' if black else '.'} {guess.moves[ply - 1]}"


def _ends(guesses: Sequence[Guess], player: str | None, level: float) -> Table:
    """What each game says at its end, and what those of a player say together."""
    rows: list[dict[str, Any]] = []

    def add(posterior: Floats, run: Run, **row: Any) -> None:
        found = estimate(posterior, run, level)
        row |= {"guess": found.value, "low": found.low, "high": found.high, "bands": f"|{sparkline(posterior)}|"}
        rows.append(row)

    for guess in guesses:
        for side, colour in enumerate(("White", "Black")):
            name = guess.players[side]
            if player in (None, name):
                about = {"game": guess.number, "colour": colour, "player": name, "rating": guess.ratings[side]}
                add(guess.posteriors[-1, side], guess.run, **about)
    if player is not None:
        add(pool_games(guesses, player), guesses[0].run, game=None, colour="pooled", player=player, rating=None)
    whole = tuple(Column(name, decimals=0) for name in ("guess", "low", "high"))
    return Table(rows, (*map(Column, ("game", "colour", "player", "rating")), *whole, Column("bands")))
