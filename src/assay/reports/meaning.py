"""What the numbers mean, in words: the texts that stand beside them in every report."""

from __future__ import annotations

WAYS = {"tag": "Tag", "results": "Results", "moves": "Moves", "learned": "Learned"}

RATINGS = {
    "tag": "the rating written in the PGN",
    "results": "what the points won against these opponents are worth, on the level of the tags",
    "moves": "the intrinsic rating: what the moves themselves are worth, measured by an engine",
    "learned": "what a trained model reads from the moves alone, without an engine",
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
    return f"{meaning} By chance, {expected_beyond:.2g} of {players} honest players are expected this high."
