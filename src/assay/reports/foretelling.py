"""What people of some ratings would play, as an answer: of one position, of a game, of a list of positions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.moves.sharper import sharper as sharpened
from assay.paths import File, atomic
from assay.policy.chances import Foretold, Spot, answers, open_network, read_spots
from assay.presets import DEFAULT_DEPTH
from assay.records import dataclass
from assay.reports.boards import chances_svg
from assay.table import Answer, Table, columns_of, counted


@dataclass(frozen=True, eq=False, kw_only=True)
class ForetoldMoves(Answer):
    """The chances of moves; `positions` has every move of every position."""

    positions: Sequence[Foretold]


def foretell(
    what: str,
    levels: Sequence[int] = (1200, 1600, 2000),
    *,
    pool: str = "board",
    top: int | None = None,
    game: int | None = None,
    ply: int | None = None,
    network: File | None = None,
    sharper: bool = False,
    engine: str = "stockfish",
    depth: int | None = None,
    out: File | None = None,
) -> ForetoldMoves:
    """What people of some ratings would play, as `assay chances` does: of a FEN, of a game, of positions in a file.

    :func:`assay.chances` is the same for one position and rating, as plain numbers.

    >>> import assay
    >>> print(assay.foretell("4k3/8/8/8/8/8/4q3/R3K2R w - - 0 1", [1500]))
    move  1500
    Kxe2  100 %
    """
    spots = _spots(what, game, ply)
    if out is not None and len(spots) != 1:
        raise InputError("-o draws one position: choose it with --ply.")
    found = answers(spots, levels, pool=pool, network=None if network is None else open_network(Path(network)))
    remarks = []
    if sharper:
        if network is not None:
            raise InputError("--sharper rests on the policy that ships: leave out --policy.")
        found, who = sharpened(found, pool=pool, engine=engine, depth=depth or DEFAULT_DEPTH)
        remarks = [f"Values of moves by {who}, depth {depth or DEFAULT_DEPTH}."]
    if len(found) == 1 and not found[0].moves:
        raise InputError("the game is over in this position: there is no legal move.")
    if out is not None:
        with atomic(Path(out)) as part:
            part.write_text(chances_svg(found[0]), encoding="utf-8")
    every = [row for at, each in enumerate(found, 1) for row in _every_move(at, each, top)]
    rows = _one_position(found[0], top or 8) if len(found) == 1 else [_one_move(each) for each in found]
    return ForetoldMoves(shown=_table(rows), data=_table(every), remarks=remarks, positions=found)


def _spots(what: str, game: int | None, ply: int | None) -> Sequence[Spot]:
    if "/" in what and " " in what and not Path(what).exists():
        if game or ply:
            raise InputError("--game and --ply choose a position of a file; a FEN is one position.")
        return [Spot(what)]
    if not Path(what).is_file():
        raise InputError(f"{what!r} is neither a file nor a position in FEN.")
    spots = read_spots(Path(what), game)
    if ply is None:
        return spots
    if ply > len(spots):
        raise InputError(f"{what} has {counted(len(spots), 'position')} here, so there is no {ply}.")
    return spots[ply - 1 : ply]


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    return Table(rows, columns_of(list(rows[0]) if rows else []))


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f} %" if chance >= 0.01 else f"{100 * chance:.1f} %"


def _one_position(answer: Foretold, top: int) -> list[dict[str, Any]]:
    """The likeliest moves of a position; what is left is summed up in the last row."""
    listed = [(one.san + " (played)" * (one.move == answer.spot.played), one.chances) for one in answer.moves[:top]]
    if rest := answer.moves[top:]:
        sums = [sum(one.chances[at] for one in rest) for at in range(len(answer.levels))]
        listed.append((f"{counted(len(rest), 'other')}", tuple(sums)))
    named = [f"{level:.0f}" for level in answer.levels]
    return [{"move": san, **dict(zip(named, map(_percent, own), strict=True))} for san, own in listed]


def _one_move(answer: Foretold) -> dict[str, Any]:
    """A row for a position of a game: what was played with its chances, and what was likeliest."""
    played = answer.played
    row: dict[str, Any] = {"move": answer.spot.number}
    if played is not None:
        row["played"] = played.san
    for at, level in enumerate(answer.levels):
        if played is not None:
            row[f"{level:.0f}"] = _percent(played.chances[at])
    for at, level in enumerate(answer.levels):
        first = answer.likeliest(at) if answer.moves else None
        row[f"likeliest at {level:.0f}"] = f"{first.san} {_percent(first.chances[at])}" if first else "-"
    return row


def _every_move(number: int, answer: Foretold, top: int | None) -> list[dict[str, Any]]:
    """A row for each legal move, in numbers."""
    return [
        {
            "position": number,
            "fen": answer.spot.fen,
            "move": one.move.uci(),
            "san": one.san,
            "played": None if answer.spot.played is None else one.move == answer.spot.played,
            **{f"{level:.0f}": chance for level, chance in zip(answer.levels, one.chances, strict=True)},
        }
        for one in answer.moves[:top]
    ]
