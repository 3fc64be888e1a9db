"""What a screening says to a reader: the sentence that comes first, a word for each z, and the table below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.curve import NOTHING
from assay.moves.field import p_values
from assay.moves.performance import BLUNDER_COLUMNS, with_blunders
from assay.moves.screening import COLUMNS, ScreenRow
from assay.table import Column, Table, columns_of, counted, few

# On record: from here on a z may support other evidence. And the words for a z, highest first.
PASSES = 2.75
WORDS = ((5.0, "extreme"), (4.0, "very high"), (PASSES, "high"))
USUAL, LOW, SILENT = "usual", "low", "no z"
MOST_NAMED = 5
# Over the board, before any evidence: one player in ten thousand.
PRIOR_ODDS = 1e-4
# Shorter words for the text table; CSV and JSON keep the names.
TITLES = {
    "mm_expected": "exp",
    "top3_expected": "exp",
    "ad_expected": "exp",
    "likelihood_ratio": "lr",
    "expected_beyond": "beyond",
}
DIGITS = (
    dict.fromkeys(("rating", "roi", "ipr", "ipr_low", "ipr_high"), 0)
    | dict.fromkeys(("ad", "ad_expected", "q_value", *BLUNDER_COLUMNS), 3)
    | {"p_value": 4, "likelihood_ratio": 1}
)
_SHARE = "moves that engine-like play may explain"


def word_of(z: float | None) -> str:
    """The word for a z; none of them says how it came about.

    >>> [word_of(z) for z in (None, -2.6, 0.0, 2.6, 2.8, 4.1, 6.0)]
    ['no z', 'low', 'usual', 'usual', 'high', 'very high', 'extreme']
    """
    if z is None:
        return SILENT
    return next((word for least, word in WORDS if z >= least), LOW if z < -2 else USUAL)


def sentence(rows: Sequence[ScreenRow], player: str | None = None, by: str = "event") -> str:
    """What an arbiter can act on: who passes, or who comes nearest to it, and how many such chance makes."""
    judged = [row for row in rows if row.z is not None]
    if not judged:
        return "No row has a z: there is nothing to compare."
    people = len({row.player for row in judged}) == len(judged)
    whole = str(len(judged)) if people else f"{len(judged)} rows"
    over = [row for row in judged if (row.z or 0.0) >= PASSES]
    chance = len(judged) * float(p_values(PASSES))
    if over:
        more = f" and {len(over) - MOST_NAMED} more" if len(over) > MOST_NAMED else ""
        named = ", ".join(f"{_name(row, people, by)} at {row.z:.2f}" for row in over[:MOST_NAMED])
        verb = "passes" if len(over) == 1 else "pass"
        said = f"{len(over)} of {whole} {verb} {PASSES}: {named}{more}. By chance {few(chance)} are expected there."
    else:
        top = judged[0]
        nobody = "Nobody" if people else "None"
        beyond = top.expected_beyond or 0.0
        said = (
            f"{nobody} of {whole} passes {PASSES}; the highest is {_name(top, people, by)} at {top.z:.2f}, and "
            f"{few(beyond)} such are expected by chance."
        )
    own = [row for row in judged if row.player == player]
    if own and people and own[0] not in (over or judged[:1]):
        place = judged.index(own[0]) + 1
        said += f" {player} is at {own[0].z:.2f}, number {place} of {len(judged)}."
    return said


def _name(row: ScreenRow, people: bool, by: str) -> str:
    return row.player if people else f"{row.player} ({'round ' if by == 'round' else ''}{row.part})"


def tables(
    rows: Sequence[ScreenRow], shown: Sequence[ScreenRow], by: str, tails: Sequence[Mapping[str, Any]]
) -> tuple[Table, Table]:
    """The table for people, eight columns at most unless all are asked for, and that of programs.

    `tails` are the shares of blunders of each row that is shown.
    """
    pools, parts = len({row.pool for row in rows}) > 1, len({row.part for row in rows}) > 1
    names = [COLUMNS[0], *(["pool"] if pools else []), *with_blunders(COLUMNS)[1:]]
    values = [row.values() | {"pool": row.pool, **tail} for row, tail in zip(shown, tails, strict=True)]
    first = _first(by, parts, pools)
    told = [one | _told(row) for one, row in zip(values, shown, strict=True)]
    hidden = (*first, "note", "ipr", "ipr_low", "ipr_high", *_SHARES)
    rest = [name for name in (*names, "strength") if name not in hidden]
    columns = (
        *(_column(name, by) for name in first),
        *(_column(name, by, wide=True) for name in rest),
        Column("fits", _SHARE, wide=True),
        Column("note", below=True),
    )
    return Table(told, columns), Table(values, columns_of(names))


_SHARES = ("share", "share_low", "share_high")


def _first(by: str, parts: bool, pools: bool) -> tuple[str, ...]:
    """The columns that are always shown: as many as stand side by side on 80 columns."""
    if by == "round":
        return ("player", "part", "opponent", "result", "turns", "z", "verdict")
    if parts and pools:
        return ("player", "part", "pool", "rating", "z", "verdict")
    if parts or pools:
        return ("player", "part" if parts else "pool", "rating", "z", "strength", "verdict")
    return ("player", "rating", "games", "turns", "z", "roi", "strength", "verdict")


def _column(name: str, by: str, wide: bool = False) -> Column:
    titles = TITLES | {"part": by if by != "all" else "part"}
    return Column(name, titles.get(name, ""), DIGITS.get(name, 2), wide)


def _told(row: ScreenRow) -> dict[str, Any]:
    """What people are shown in other words than programs."""
    fits = row.assisted
    return {
        "strength": str(row.ipr or NOTHING),
        "verdict": word_of(row.z),
        "fits": f"anything from {100 * fits.low:.0f} to {100 * fits.high:.0f} % fits" if fits else None,
    }


def conclusion(rows: Sequence[ScreenRow], shown: int | None = None) -> str:
    """What may be concluded from a screening of so many rows, of which perhaps few are shown: the text below them."""
    count = sum(row.z is not None for row in rows)
    silent = (f"{len(rows)} with those that have no z",) if count < len(rows) else ()
    shorter = f" ({'; '.join((*silent, f'{shown} shown'))})" if shown is not None and shown < len(rows) else ""
    chances = ", ".join(f"{few(count * float(p_values(z)))} beyond {z:g}" for z in (2.0, 2.75, 4.0))
    honest = {z: float(p_values(z) / (p_values(z) + PRIOR_ODDS)) for z in (2.75, 4.0, 5.0)}
    shares = ", ".join(f"{100 * share:.2g} % of those beyond {z:g}" for z, share in honest.items())
    return (
        f"{counted(count, 'row')}{shorter}, each compared with what is expected of its rating. In honest play z is "
        f"standard normal: among {count} expect {chances} by chance alone, and the highest of them is high by "
        "selection.\n"
        "Thresholds on record: z 2.50-2.75 can support other evidence, 4 opens an inquiry, 5 is where statistics alone "
        "are discussed. ROI = 50 + 5 z: under 60 normal, 65 about 1 in 750, 70 about 1 in 30,000.\n"
        "Prior odds: over the board assistance is rare, 1 player in 5,000 to 10,000 (online 1-2 %). Even if every "
        f"assisted player came out above the threshold, which is not so, at 1 in 10,000, {shares} would still be "
        "honest.\n"
        "A high z says that the play was unusual for the rating. A rating out of date, a good week, preparation and "
        "easy positions raise it as well. It is a reason to look at games, never a finding about a person."
    )
