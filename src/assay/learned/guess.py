"""Ratings guessed from the moves of games: a curve over ratings after every move, and games of one player together."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.curve import GRID, LEVEL, Curve, Estimate, Honesty, spline_matrix
from assay.errors import InputError, LearnedError
from assay.games import Game, GameArrays, Games, read, to_arrays
from assay.games.columns import rating
from assay.games.duplicates import Seen
from assay.games.notation import sans
from assay.games.outcomes import score_of
from assay.games.packed import pack, played_moves
from assay.games.stream import Paths
from assay.learned.curves import Tuning, believed, on_grid, opened
from assay.learned.encode import EncodedGames, encode_games
from assay.learned.forward import evidence, one_thread
from assay.learned.inputs import ENGINE_NAMES, Inputs, clock_scalars, eval_scalars, eval_unit
from assay.learned.lessons import log_softmax
from assay.learned.run import Run, model_of
from assay.manifest import parse
from assay.paths import File
from assay.pools import clock_of, pool_of
from assay.records import dataclass
from assay.table import Answer, Column, Table, counted

Floats = npt.NDArray[np.float64]

NO_MOVES = "no moves"
AGAIN = "the same game again"
OPEN = "Without low or high: the interval goes beyond the ratings that the model knows."
BLOCKS = " ▁▂▃▄▅▆▇█"
MOST_BLOCKS = 16  # of White and Black beside each other on a line
NO_PRIOR, POOL_PRIOR = "none", "pool"
_PRIOR_FILE = 'write JSON like {"1500": 0.2}, or CSV with the columns band and share'

Prior = File | Mapping[float, float] | None


@dataclass(frozen=True)
class Guess:
    """What the moves of one game say before the first ply and after each, for White and Black.

    `evidence` is the log-likelihood of the bands, without any population; posteriors stand on `prior`, which is even
    unless another was asked for.
    """

    number: int  # of the game in its file, from 1
    players: tuple[str, str]
    ratings: tuple[int | None, int | None]
    moves: tuple[str, ...]  # in SAN
    evidence: Floats  # (plies + 1, 2, bands)
    run: Run
    speed: str | None = None
    year: int | None = None
    valued: bool = False  # whether evals were read
    prior: Floats | None = None  # over the bands

    def __repr__(self) -> str:
        return f"Guess of game {self.number}: {' - '.join(self.players)}, {len(self.moves)} plies, by {self.run.name}"

    @property
    def edges(self) -> Floats:
        return self.run.edges

    @property
    def posteriors(self) -> Floats:
        """Chances of the bands, (plies + 1, 2, bands)."""
        return np.stack([chances(self.curve(side), self) for side in (0, 1)], axis=1)

    @property
    def tuning(self) -> Tuning:
        """What brings this game to the scale, and makes intervals of its curves hold."""
        return self.run.tuning_of(self.speed, evals=self.valued, year=self.year)

    def curve(self, side: int) -> Curve:
        """The log-likelihood of ratings of White (0) or Black (1), a row before the first ply and after each."""
        return on_grid(self.evidence[:, side], self.edges, self.tuning)

    def last(self, side: int) -> Curve:
        """The curve at the end of the game alone."""
        return on_grid(self.evidence[-1:, side], self.edges, self.tuning)


def chances(curve: Curve, like: Guess) -> Floats:
    """How likely each row makes the bands of the model of `like`, (rows, bands), under the prior of that game."""
    prior = np.ones(len(like.edges) - 1) if like.prior is None else np.maximum(like.prior, 1e-12)
    middles = (like.edges[1:] + like.edges[:-1]) / 2
    logs = curve.table @ spline_matrix(curve.grid, middles) * like.tuning.power
    return np.exp(log_softmax(logs + np.log(prior)))


def estimates(curve: Curve, like: Guess, level: float = LEVEL) -> list[Estimate]:
    """The top of each row with the ratings that it does not rule out; with a prior, the mean of the posterior.

    An interval that reaches the end of what the model knows has no end there.

    `like` is one of the games that the rows are of: it has the model, the speed and the prior.
    """
    if like.prior is None:
        return [opened(found, like.edges) for found in curve.estimates(like.tuning.honesty, level)]
    return believed(curve, like.prior, like.edges, like.tuning.honesty, level)


@dataclass(frozen=True)
class GameCurves:
    """The curve of each side of games that have been guessed, for whoever joins them with other witnesses.

    Row i of `curve` is what the moves of game `number[i]` say of `player[i]` (White if `white[i]`), on the scale of the
    ratings of its model ("lichess" ratings of the game's `speed[i]`, "otb" for FIDE's), without a prior. Rows of one
    player are added up; `honesty[i]` comes in once, at the estimate of the sum.
    """

    curve: Curve
    number: tuple[int, ...]
    white: tuple[bool, ...]
    player: tuple[str, ...]
    model: tuple[str, ...]
    speed: tuple[str | None, ...]
    honesty: tuple[Honesty, ...]

    def __repr__(self) -> str:
        return f"GameCurves of {counted(len(self.player), 'side')} of {counted(len(set(self.number)), 'game')}"


def game_curves(guesses: Sequence[Guess]) -> GameCurves:
    """The curves of both sides of games at their ends, White before Black."""
    sides = [(guess, side) for guess in guesses for side in (0, 1)]
    tables = [guess.last(side).table for guess, side in sides]
    return GameCurves(
        curve=Curve(np.concatenate(tables) if tables else np.empty((0, len(GRID))), GRID),
        number=tuple(guess.number for guess, _ in sides),
        white=tuple(side == 0 for _, side in sides),
        player=tuple(guess.players[side] for guess, side in sides),
        model=tuple(guess.run.name for guess, _ in sides),
        speed=tuple(guess.speed for guess, _ in sides),
        honesty=tuple(guess.tuning.honesty for guess, _ in sides),
    )


def guess_games(
    path: Paths | Games,
    *,
    model: str | None = None,
    number: int | None = None,
    player: str | None = None,
    prior: Prior = None,
    evals: bool = True,
    keep_duplicates: bool = False,
    where: str | None = None,
) -> tuple[list[Guess], Counter[str]]:
    """Guess the games of files (or one of them, or those of one player) and count those that are left out.

    `prior` is "none", "pool" (the players that the model was trained on, of the game's speed) or a file. Evals that
    the games have are read by a model that can, unless `evals` is False. A game that occurs again counts once,
    unless duplicates are kept or it is asked for by its number.
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
    guesses = guess_these(chosen, problems, model=model, prior=prior, evals=evals)
    if not guesses:
        reasons = "; ".join(f"{reason}: {count}" for reason, count in problems.most_common())
        raise InputError(f"no game of {games.named} can be rated ({reasons}).")
    return guesses, problems


def guess_these(
    chosen: Sequence[tuple[int, Game]],
    problems: Counter[str],
    *,
    model: str | None = None,
    prior: Prior = None,
    evals: bool = True,
) -> list[Guess]:
    """Guess some games, each with its number; those that cannot be read or have no moves are counted in `problems`."""
    arrays = to_arrays([game for _, game in chosen])
    empty = int((arrays.valid & (np.diff(arrays.offsets) == 0)).sum())
    problems += arrays.problems() + Counter({NO_MOVES: empty})
    places = [(at, game) for at, (_, game) in enumerate(chosen)]
    found = guess_parsed(places, arrays, model=model, prior=prior, evals=evals)
    return [replace(guess, number=chosen[guess.number][0]) for guess in found]


def guess_parsed(
    chosen: Sequence[tuple[int, Game]],
    arrays: GameArrays,
    *,
    model: str | None = None,
    prior: Prior = None,
    evals: bool = True,
    pools: Mapping[int, str] | None = None,
) -> list[Guess]:
    """Guess some of the games that the arrays hold, each with its place there; those without moves are left out.

    `pools` says by place to which pool games belong, where it is another than their tags tell.
    """
    known = pools or {}
    lengths, encoded = np.diff(arrays.offsets), encode_games(arrays)
    plies = np.arange(arrays.plies)
    names = sans(pack(arrays, plies), plies, played_moves(arrays, plies))
    with one_thread():
        return [
            _guess(arrays, encoded, names, at, game, model, prior, evals, known.get(at))
            for at, game in chosen
            if lengths[at]
        ]


def _guess(
    arrays: GameArrays,
    encoded: EncodedGames,
    names: Sequence[str],
    at: int,
    game: Game,
    model: str | None,
    prior: Prior,
    evals: bool,
    pool: str | None,
) -> Guess:
    """Guess the game that stands at `at` in the arrays, of this pool or of that which its tags tell."""
    part, tags = slice(arrays.offsets[at], arrays.offsets[at + 1]), game.tags
    site, date = tags.get("Site", ""), tags.get("UTCDate") or tags.get("Date", "")
    base, increment, speed = clock_of(site, tags.get("Event", ""), tags.get("TimeControl", ""))
    white = arrays.turn[part]
    plies = Inputs(
        encoded.planes[part],
        encoded.scalars[part],
        clock_scalars(arrays.clock[part], base, increment),
        np.full((len(white), len(ENGINE_NAMES)), np.nan, dtype=np.float32),
        eval_scalars(arrays.eval[part], arrays.mate[part], white, eval_unit(site, date)),
        ended=score_of(tags.get("Result")) is not None,
        speed=speed,
        year=int(date[:4]) if date[:4].isdigit() else None,
    )
    run = model_of(model, pool or pool_of(site, tags.get("Event", ""), tags.get("TimeControl", "")))
    found = evidence(run, plies if evals else plies.without(("evals",)))
    ratings = (rating(tags.get("WhiteElo", "")), rating(tags.get("BlackElo", "")))
    valued = evals and bool(np.isfinite(plies.evals).any())
    told = tuple(names[part])
    return Guess(at, _names(game), ratings, told, found, run, speed, plies.year, valued, _prior(prior, run, speed))


def _prior(prior: Prior, run: Run, speed: str | None) -> Floats | None:
    """The prior over the bands of a run that is asked for, None for none."""
    if prior is None or prior == NO_PRIOR:
        return None
    if isinstance(prior, Mapping):
        return spread_prior(list(prior.items()), run.edges, "the prior")
    return run.population_of(speed) if prior == POOL_PRIOR else read_prior(Path(prior), run.edges)


def together(guesses: Sequence[Guess], player: str) -> Curve:
    """What all these games say of one player: their curves added, one row."""
    if len({guess.run.path for guess in guesses}) > 1:
        raise LearnedError("these games need different models, which cannot be pooled; choose one with --model.")
    tables = [guess.last(guess.players.index(player)).table for guess in guesses]
    return Curve(np.sum(tables, axis=0), GRID)


def player_estimate(guesses: Sequence[Guess], player: str, level: float = LEVEL) -> Estimate:
    """The rating of one player from all these games; where they are of different speeds, by that of most."""
    speeds = Counter(guess.speed for guess in guesses)
    like = next(guess for guess in guesses if guess.speed == speeds.most_common(1)[0][0])
    return estimates(together(guesses, player), like, level)[0]


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
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; a prior is 'none', 'pool' or a file of shares.") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise InputError(f"{path} is no prior; {_PRIOR_FILE} ({error}).") from error
    return spread_prior(pairs, edges, str(path))


def spread_prior(pairs: Sequence[tuple[float, float]], edges: Floats, source: str) -> Floats:
    """A prior over bands from pairs of a rating and its weight; `source` is what an error calls it."""
    prior = np.zeros(len(edges) - 1)
    for band, share in pairs:
        at = int(np.searchsorted(edges, band, side="right")) - 1
        if not 0 <= at < len(prior):
            raise InputError(f"{source}: {band:g} is outside the model's bands, {edges[0]:.0f} to {edges[-1]:.0f}.")
        if share < 0 or not np.isfinite(share):
            raise InputError(f"{source}: the share of {band:g} is {share:g}, which is none; shares are 0 or more.")
        prior[at] += share
    if prior.sum() <= 0:
        raise InputError(f"{source} has no share above 0; {_PRIOR_FILE}.")
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

    @property
    def curves(self) -> GameCurves:
        """The curve of each side of the games."""
        return game_curves(self.guesses)

    def curve(self, player: str) -> Curve:
        """What all games say of a player: the log-likelihood of ratings, one row."""
        self[player]  # or it is said who is there
        return together([guess for guess in self.guesses if player in guess.players], player)


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
    shown = _moves(guesses[0], level) if one else _ends(guesses, player, level)
    return Guesses(
        guesses=guesses,
        shown=shown,
        foot=OPEN if not one and any(None in (row["low"], row["high"]) for row in shown.rows) else "",
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
                found[name] = player_estimate(mine, name, level)
            except LearnedError as error:
                found[name] = Estimate(level=level, note=str(error))
    return found


def _about(guess: Guess, level: float) -> str:
    who = []
    for side, colour in enumerate(("White", "Black")):
        known = "" if guess.ratings[side] is None else f" ({guess.ratings[side]})"
        (found,) = estimates(guess.last(side), guess, level)
        some = math.isfinite(found.low) or math.isfinite(found.high)
        said = f"guess {found}" if some else "no guess, for nothing is ruled out"
        who.append(f"{colour}: {guess.players[side]}{known}, {said}")
    bands = f"{guess.edges[0]:.0f} to {guess.edges[-1]:.0f} by {guess.edges[1] - guess.edges[0]:.0f}"
    pairs = ", two to a block" if len(guess.edges) - 1 > MOST_BLOCKS else ""
    return "\n".join([*who, f"Model: {guess.run.name}; bands {bands}{pairs}; {100 * level:g} % intervals"])


def _moves(guess: Guess, level: float) -> Table:
    """One game move by move; the chances of all bands are columns of their own, one picture of them is shown."""
    low = guess.edges[:-1].astype(int).tolist()
    found = [estimates(guess.curve(side), guess, level) for side in (0, 1)]
    rows = []
    for ply, pair in enumerate(guess.posteriors):
        row: dict[str, Any] = {"ply": ply, "move": _numbered(guess, ply)}
        for side, likely, said in zip(("white", "black"), pair, found, strict=True):
            row |= _shown(said[ply], side, f"{side}_")
            row[f"{side}_bands"] = f"|{sparkline(likely)}|"
            row |= {f"{side}_{band}": p for band, p in zip(low, likely.tolist(), strict=True)}
        rows.append(row)
    columns = [Column("ply"), Column("move")]
    for side in ("white", "black"):
        columns.append(Column(side, side.title(), 0))
        columns += [Column(f"{side}_{end}", end, 0, wide=True) for end in ("low", "high")]
        columns += [
            Column(f"{side}_bands", "bands", said=_fitting),
            *(Column(f"{side}_{band}", wide=True) for band in low),
        ]
    return Table(rows, columns)


def _fitting(blocks: str) -> str:
    """A row of many blocks in half the room: of two neighbours the higher one.

    >>> _fitting("| ▁▁▂▃▄▅▆▇███▇▆▅▄▃▂▁▁    |")
    '|▁▂▄▆██▇▅▃▁  |'
    """
    inside = blocks[1:-1]
    pairs = zip_longest(inside[::2], inside[1::2], fillvalue="")
    return f"|{''.join(map(max, pairs))}|" if len(inside) > MOST_BLOCKS else blocks


def _shown(found: Estimate, name: str, begin: str = "") -> dict[str, float | None]:
    """An estimate as cells of a row; what is open or unknown is empty."""
    cells = {name: found.value, f"{begin}low": found.low, f"{begin}high": found.high}
    return {key: value if math.isfinite(value) else None for key, value in cells.items()}


def _numbered(guess: Guess, ply: int) -> str:
    """The move of a ply with its number, as in a score sheet."""
    if ply == 0:
        return "before"
    number, black = divmod(ply - 1, 2)
    return f"{number + 1}{'...' if black else '.'} {guess.moves[ply - 1]}"


def _ends(guesses: Sequence[Guess], player: str | None, level: float) -> Table:
    """What each game says at its end, and what those of a player say together."""
    rows: list[dict[str, Any]] = []

    def add(found: Estimate, likely: Floats, **row: Any) -> None:
        rows.append(row | _shown(found, "guess") | {"bands": f"|{sparkline(likely)}|"})

    for guess in guesses:
        for side, colour in enumerate(("White", "Black")):
            name = guess.players[side]
            if player in (None, name):
                about = {"game": guess.number, "colour": colour, "player": name, "rating": guess.ratings[side]}
                (found,) = estimates(guess.last(side), guess, level)
                add(found, guess.posteriors[-1, side], **about)
    if player is not None:
        found, likely = player_estimate(guesses, player, level), chances(together(guesses, player), guesses[0])[0]
        add(found, likely, game=None, colour="pooled", player=player, rating=None)
    whole = tuple(Column(name, decimals=0) for name in ("guess", "low", "high"))
    return Table(rows, (*map(Column, ("game", "colour", "player", "rating")), *whole, Column("bands")))
