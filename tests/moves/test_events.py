"""Events that may be left out: between teams, and with too many players for their rounds."""

from __future__ import annotations

import pytest

from assay.games import Game
from assay.moves.groups import without_crowds, without_teams


def game(white: str, black: str, **tags: str) -> Game:
    lines = {"White": white, "Black": black, **tags}
    data = "".join(f'[{name} "{value}"]\n' for name, value in lines.items()) + "\n1. e4 *\n"
    return Game("-", 0, len(data), data.encode())


@pytest.mark.parametrize(
    "tags",
    [{"WhiteTeam": "Berlin"}, {"Event": "39th Olympiad"}, {"Event": "Bundesliga 2008"}, {"Event": "EU Team"}],
)
def test_team_games_go(tags: dict[str, str]) -> None:
    single = game("A", "B", Event="Steamboat Open", WhiteTeam="?")
    assert without_teams([game("A", "B", **tags), single]) == [single]


def test_a_swiss_is_crowded_and_a_round_robin_is_not() -> None:
    swiss = [game(f"P{i}", f"P{i + 1}", Event="Open", Round=f"1.{i}") for i in range(0, 20, 2)]
    robin = [game("A", "B", Event="Robin", Round="1"), game("B", "C", Event="Robin", Round="2")]
    unknown = [game(f"Q{i}", f"R{i}", Event="Simul") for i in range(20)]
    assert without_crowds(swiss + robin + unknown, 6) == robin + unknown
    assert without_crowds(swiss, 20) == swiss
