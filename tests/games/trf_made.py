"""Tournament reports made up for tests, column by column."""

from __future__ import annotations


def player(
    number: int,
    name: str,
    rating: int | str = "",
    *rounds: str,
    title: str = "",
    fed: str = "",
    fide: int | str = "",
    born: str = "",
    points: float = 0.0,
    rank: int | str = "",
    sex: str = "m",
) -> str:
    """A line of a player; a round is like "2 w 1"."""
    head = f"001 {number:4} {sex:1}{title:>3} {name:33} {rating!s:>4} {fed:3} {fide!s:>11} {born:10}"
    head += f" {points:4.1f} {rank!s:>4}"
    cells = [f"  {cell.split()[0]:>4} {cell.split()[1]} {cell.split()[2]}" if cell else " " * 10 for cell in rounds]
    return head + "".join(cells)


def report(*players: str, **head: str) -> str:
    """A report of these players; what is said of the tournament is given by number, as n012="Open"."""
    given = {"n012": "Test Open", "n022": "Geneva", "n032": "SUI", "n042": "2026/01/10", "n052": "2026/01/12"} | head
    return "\r\n".join([f"{kind[1:]} {text}" for kind, text in given.items()] + list(players)) + "\r\n"


OPEN = report(
    player(1, "Elm, Ada", 2400, "2 w 1", "3 b =", "0000 - U", title="g", fed="SUI", fide=1300001, born="1990/02/03",
           points=2.5, rank=1),
    player(2, "Oak, Bob", 2200, "1 b 0", "4 w 1", "3 w -", title="f", fed="GER", fide=1300002, born="1980/02/03",
           points=1.0, rank=3),
    player(3, "Ash, Cy", 2100, "4 w 0", "1 w =", "2 b +", fed="FRA", fide=1300003, born="2010/02/03", points=1.5,
           rank=2),
    player(4, "Fir, Dee", "", "3 b 1", "2 b 0", "0000 - Z", fed="ITA", points=1.0, rank=4, sex="w"),
    n122="90+30",
    n132=" " * 87 + "26/01/10  26/01/11  26/01/12",
)  # fmt: skip
