"""What a report says, before anybody decides how it looks.

Everything that is drawn, printed or exported comes from these frozen values; whatever is not known is None, and the
`note` beside it says why in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from assay.curve import NOTHING, Estimate
from assay.games.source import Source
from assay.records import dataclass
from assay.table import few

LEVEL = 95


@dataclass(frozen=True)
class Part:
    """The rating of a part of somebody's play: one game, one phase."""

    label: str
    turns: int
    rating: Estimate
    game: int | None = None


@dataclass(frozen=True)
class Measure:
    """Something counted in the moves, and what the model expects of a player of this rating."""

    name: str
    actual: float
    expected: float | None = None
    z: float | None = None
    percent: bool = False


@dataclass(frozen=True)
class Screening:
    """The screening line of one player; positive z is play closer to the engine than expected."""

    z: float
    z_match: float
    z_top3: float
    z_error: float
    roi: float
    p_value: float
    q_value: float
    expected_beyond: float
    meaning: str


@dataclass(frozen=True)
class PlayerSection:
    """One player: one rating, the witnesses behind it, and what stands behind the one from the moves.

    `p_agree` is the chance that witnesses of one strength lie so far apart; `disagree` that it is too small.
    """

    name: str
    games: int
    points: float
    turns: int
    tag: Estimate
    result: Estimate
    intrinsic: Estimate
    learned: Estimate
    joint: Estimate = NOTHING
    p_agree: float | None = None
    disagree: bool = False
    method: str = ""
    measures: tuple[Measure, ...] = ()
    by_game: tuple[Part, ...] = ()
    by_phase: tuple[Part, ...] = ()
    screening: Screening | None = None
    screening_note: str = ""
    played: tuple[int, ...] = ()

    @property
    def ratings(self) -> dict[str, Estimate]:
        """The rating in the tags and those of the three witnesses, with their names."""
        return {"tag": self.tag, **self.witnesses}

    @property
    def witnesses(self) -> dict[str, Estimate]:
        """What each witness says alone."""
        return {"results": self.result, "moves": self.intrinsic, "learned": self.learned}


@dataclass(frozen=True)
class Candidate:
    """A move that could have been played; `value` is centipawns or "#n", White's view."""

    san: str
    value: int | str | None
    probability: float | None


@dataclass(frozen=True)
class Move:
    """One move as it was played, what the engine thought of it and what the model expected.

    `value` is the evaluation before the move (what the best move is worth), `worth` that of the move itself; `left_out`
    is the reason why the move does not count for the rating.
    `loss` is what it lost of the win chances in per cent; players of the mover's rating lose `expected` here on
    average, at an accuracy of `usual`. Where the loss is great, `lost_again` is that by a second, deeper look; the
    `mark` is for the smaller of both, and `better` what should have been played.
    `others` and `others_probability` sum up the candidates that are not listed.
    """

    san: str
    uci: str
    value: int | str | None = None
    left_out: str = ""
    probability: float | None = None
    candidates: tuple[Candidate, ...] = ()
    others: int = 0
    others_probability: float = 0.0
    posterior: Estimate = NOTHING
    worth: int | str | None = None
    loss: float | None = None
    lost_again: float | None = None
    mark: str = ""
    better: str = ""
    expected: float | None = None
    usual: float | None = None

    @property
    def lost(self) -> float:
        """What the move lost of the win chances, in per cent, as far as both looks agree."""
        return min(one for one in (self.loss or 0.0, self.lost_again) if one is not None)


@dataclass(frozen=True)
class GameSection:
    """One game with its moves; `white_rating` is the rating that the move probabilities are for.

    `text` is the game as it stands in the file, for the annotated PGN.
    """

    number: int
    white: str
    black: str
    result: str
    event: str = ""
    site: str = ""
    date: str = ""
    round: str = ""
    white_elo: int | None = None
    black_elo: int | None = None
    white_rating: float | None = None
    black_rating: float | None = None
    start: str | None = None
    moves: tuple[Move, ...] = ()
    note: str = ""
    text: str = ""
    white_accuracy: float | None = None
    black_accuracy: float | None = None
    opening: str = ""
    summary: str = ""

    @property
    def title(self) -> str:
        """Who met whom."""
        return f"{self.white} – {self.black}"

    @property
    def first_ply(self) -> int:
        """Half-moves before the first move of the game: 0, or what the position that was set up says.

        >>> GameSection(1, "A", "B", "*", start="8/8/8/8/4k3/8/4P3/4K3 b - - 0 40").first_ply
        79
        """
        fields = (self.start or "").split()
        number = int(fields[5]) if len(fields) > 5 and fields[5].isdecimal() else 1
        return 2 * (max(number, 1) - 1) + (len(fields) > 1 and fields[1] == "b")


@dataclass(frozen=True)
class Provenance:
    """How the report was made: enough to make it again."""

    version: str
    made: str
    sources: tuple[Source, ...]
    engine: str = ""
    depth: int | None = None
    calibration: str = ""
    calibration_line: str = ""
    learned_model: str = ""
    turns: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    problems: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    duplicates: str = ""


@dataclass(frozen=True)
class Slice:
    """A part of a player's moves: how accurate, beside what is usual for the rating in these positions.

    `cost` is what it loses beyond what is usual, in Elo a game, measured against all the player's moves: the costs of
    all parts make nothing; `margin` is half its 95 % range, from how much games differ. `points` of `results` games
    where the part is one of whole games, `rating` what their moves say.
    """

    label: str
    games: int
    moves: int
    accuracy: float
    usual: float | None = None
    cost: float | None = None
    margin: float | None = None
    points: float | None = None
    results: int = 0
    rating: Estimate = NOTHING


@dataclass(frozen=True)
class Mistake:
    """An instructive mistake: the game, the ply from 1, the move, and what is to be said of it."""

    game: int
    ply: int
    move: str
    text: str
    where: str


@dataclass(frozen=True)
class Me:
    """One player's games: ratings over time by pool, parts of the play, mistakes; `you` is whoever reads it."""

    name: str
    you: bool
    over_time: Mapping[str, tuple[tuple[str, Estimate], ...]]
    by_pool: tuple[Slice, ...]
    by_phase: tuple[Slice, ...]
    by_opening: tuple[Slice, ...]
    by_clock: tuple[Slice, ...]
    by_month: tuple[Slice, ...]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True)
class Report:
    """A whole report. `games_expected` is greater than the number of games while analysis is still running.

    `selection` says which games are shown, where these are not all that it speaks of.
    """

    title: str
    players: tuple[PlayerSection, ...]
    games: tuple[GameSection, ...]
    provenance: Provenance
    site: str = ""
    dates: str = ""
    games_expected: int = 0
    summary: str = ""
    me: Me | None = None
    selection: str = ""

    @property
    def whole(self) -> bool:
        """Whether every game is in it, or none of those that are not was wanted."""
        return bool(self.selection) or len(self.games) >= self.games_expected

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the games that are shown."""
        return frozenset(game.number for game in self.games)


WAYS = {"results": "Results", "moves": "Moves", "learned": "Learned"}

# What the numbers mean, in words that need no other words: for a tap on them.
MEANINGS = {
    "rating": (
        "Rating",
        "How strong this play was: one rating from the results, from the moves as an engine sees them, and from a "
        "trained model that reads the moves. Beside it the range in which it lies with 95 % confidence: of twenty one "
        "misses.",
    ),
    "tag": ("File", "The rating that is written in the games themselves; the mean where it changed."),
    "points": ("Points", "A win is one, a draw a half. Behind a stroke stands how many games they come from."),
    "games": ("Games", "How many games of this player count; variants and games that occur twice do not."),
    "z": (
        "z",
        "How much closer to the engine the moves were than players of the rating in the file usually come. 0 is "
        "usual, about one honest player in forty is above 2, one in seven hundred above 3. A high z proves nothing: it "
        "is a reason to look at the games.",
    ),
    "results": ("Results", "What the points against these opponents are worth, nothing else looked at."),
    "moves": (
        "Moves",
        "What the moves are worth: every choice beside what the engine thinks of all the moves there were.",
    ),
    "learned": ("Learned", "What a model that has seen very many rated games reads from the moves, without an engine."),
    "accuracy": (
        "Accuracy",
        "How much of the winning chances the moves kept, as Lichess reckons it: 100 % is every move as good as the "
        "engine's. Quiet games are easy to play accurately.",
    ),
    "usual": ("Usual", "The accuracy that players of the rating in the file reach in the very same positions."),
    "cost": (
        "Elo a game",
        "What this part of the play brings (+) or costs (−): 7 Elo for each hundredth of the winning chances that is "
        "lost in a game beyond what is usual, measured against all these moves together. Behind ± the 95 % range: "
        "where it is the greater one, it may be chance.",
    ),
    "expected": (
        "Against expectation",
        "How often the move was the engine's first choice, or one of its first three, and how much was lost on average "
        "(errors weigh less where the game is decided); beside what the model expects of a player of this rating in "
        "these positions, and how far apart they are, in standard deviations.",
    ),
    "screening": (
        "Screening",
        "z again, on other scales. ROI: 50, and 5 for each z. p-value: how often an honest player is this high by "
        "chance. q-value: the share of false alarms, if everybody this high in the field were named.",
    ),
    "chance": ("Chance", "How many of a hundred players of this rating would play the move in this position."),
    "value": ("Value", "What the engine thinks of the position after the move, in pawns, from White's side."),
}

CONCLUSION = (
    "An intrinsic rating says how well somebody played in these games, not how strong they are: it moves with form, "
    "opponents, time control and the kind of positions. The interval is where the rating of this play lies with 95 % "
    "confidence; of twenty such intervals one misses. Ratings from few games are drawn towards the rating in the tags "
    "and say so.",
    "A screening line compares a player's moves with what is expected of that rating. A high z alone proves nothing: "
    "in a field of N players the highest z is high by chance, honest players have very good events, and before "
    "any evidence assistance is rare (over the board about 1 player in 5,000 to 10,000). On record, a z of 2.50 to "
    "2.75 can support other evidence, 4 opens an inquiry, and only about 5 is discussed as evidence by itself. This "
    "report never says that anybody cheated, and nobody should say so on its strength.",
)

# Thresholds on record for the combined z, highest first.
_STEPS = (
    (
        5.0,
        "Beyond 5: the level at which statistics alone have been discussed; still no proof, and a matter for experts.",
    ),
    (4.0, "Beyond 4: on record, an inquiry is opened at this level. Look at the games and at other evidence."),
    (2.75, "Beyond 2.75: high enough to support other evidence, never to stand alone."),
    (2.5, "Between 2.50 and 2.75: may support other evidence if there is any."),
    (-2.0, "Within what is usual for a player of this rating."),
)


def of_z(z: float, expected_beyond: float, players: int) -> str:
    """What a combined z means among so many players.

    >>> of_z(0.4, 5.2, 14)
    'Within what is usual for a player of this rating.'
    """
    meaning = next((text for least, text in _STEPS if z >= least), "Weaker than expected of this rating.")
    if z < 2.5:
        return meaning
    return f"{meaning} By chance, {few(expected_beyond)} of {players} honest players are expected this high."
