"""Games that occur more than once are recognised, however they are written, and games that are two are left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.games import Game, index, read, read_tags
from assay.games.duplicates import TAGS, UNREAD, Duplicates, Seen, duplicates_of, repeats, unique
from assay.games.movetext import fingerprint, fingerprints
from assay.games.split import split
from assay.players import plain_name

LONG = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7"
ANNOTATED = """1. e4 $1 {[%clk 1:30:00] best (by test)} 1... e5 (1... c5 2. Nf3 (2. c3) d6) 2.Nf3 Nc6 3. Bb5 {old} a6
4. Ba4 Nf6 5. 0-0 Be7 ; the old main line
6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3! Nb8 10. d4 Nd7!?"""
SHORT = "1. d4 d5 2. c4 c6"


def pgn(white: str = "Elm, Ann", black: str = "Oak, Bo", moves: str = LONG, **tags: str) -> str:
    """One game; tags that are not given are missing."""
    given = {"White": white, "Black": black, "Result": "1/2-1/2"} | tags
    lines = "\n".join(f'[{name} "{value}"]' for name, value in given.items())
    return f"{lines}\n\n{moves} {given['Result']}\n\n"


def dropped(folder: Path, *games: str) -> list[tuple[int, int]]:
    """Which games are copies, and of which, game by game and in a table: both must say the same."""
    path = folder / "games.pgn"
    path.write_text("".join(games), encoding="utf-8")
    seen = Seen()
    kept = list(unique(read(path), seen))
    tags = read_tags([path], TAGS, moves=True)
    assert tags.games == len(games) and tags.moves is not None
    columns = {tag: (tags.codes[tag], tags.values[tag]) for tag in TAGS}
    table = duplicates_of(repeats(columns, tags.moves.keys, tags.moves.plies), columns)
    found = [(each.number, each.first) for each in seen.duplicates.found]
    assert found == [(each.number, each.first) for each in table.found]
    assert len(kept) + len(found) == len(games)
    return found


@pytest.mark.parametrize(
    "spelling",
    ["ELM, ANN", "elm, ann", "Elm,Ann", "Élm, Änn", "Elm, Ann (NOR)", "Elm, Ann NOR", " Elm ,  Ann "],
)
def test_the_spelling_of_a_name_hides_nothing(tmp_path: Path, spelling: str) -> None:
    assert dropped(tmp_path, pgn(), pgn(white=spelling)) == [(2, 1)]


def test_other_players_are_others(tmp_path: Path) -> None:
    assert (
        dropped(tmp_path, pgn(), pgn(white="Elm, Anna"), pgn("Oak, Bo", "Elm, Ann"), pgn("Fish 1.5"), pgn("Fish 15"))
        == []
    )


def test_comments_variations_numbers_and_marks_are_no_moves(tmp_path: Path) -> None:
    assert dropped(tmp_path, pgn(), pgn(moves=ANNOTATED), pgn(moves=LONG.replace(". ", "."))) == [(2, 1), (3, 1)]
    assert dropped(tmp_path, pgn(), pgn(moves=LONG.replace("h3", "a4")), pgn(moves=LONG + " 11. c4")) == []


def test_dates_decide_where_both_are_known(tmp_path: Path) -> None:
    day, other = {"Date": "2020.01.02"}, {"Date": "2020.01.03"}
    assert dropped(tmp_path, pgn(**day), pgn(**other), pgn(**day)) == [(3, 1)]
    assert dropped(tmp_path, pgn(**day), pgn(), pgn(Date="2020.??.??"), pgn(Date="2020-01-02")) == [
        (2, 1),
        (3, 1),
        (4, 1),
    ]
    assert dropped(tmp_path, pgn(**day), pgn(Date="2019.??.??")) == []


def test_what_else_may_differ_in_a_long_game(tmp_path: Path) -> None:
    one, other = (
        {"Event": "Open", "Round": "3"},
        {"Event": "12th Open", "Round": "3.14", "Site": "Paris", "Result": "*"},
    )
    assert dropped(tmp_path, pgn(**one), pgn(**other)) == [(2, 1)]


def test_short_games_are_played_twice(tmp_path: Path) -> None:
    first, second = pgn(moves=SHORT, Round="1"), pgn(moves=SHORT, Round="2")
    assert dropped(tmp_path, first, second, first) == [(3, 1)]
    assert dropped(tmp_path, pgn(moves=SHORT, Result="1-0"), pgn(moves=SHORT, Result="0-1")) == []
    assert dropped(tmp_path, pgn(moves=SHORT), pgn(moves=SHORT)) == [(2, 1)]


def test_games_with_addresses_of_their_own(tmp_path: Path) -> None:
    here, there = (pgn(Site=f"https://lichess.org/{name}") for name in ("abcdefgh", "abcdefgi"))
    assert dropped(tmp_path, here, there, here) == [(3, 1)]


def test_games_without_moves_need_everything_else(tmp_path: Path) -> None:
    whole = {"Event": "Match", "Date": "2020.01.02", "Round": "1"}
    assert dropped(tmp_path, pgn(moves="", **whole), pgn(moves="", white="ELM,Ann", **whole)) == [(2, 1)]
    for missing in whole:
        rest = {tag: value for tag, value in whole.items() if tag != missing}
        assert dropped(tmp_path, pgn(moves="", **rest), pgn(moves="", **rest)) == []
    assert dropped(tmp_path, pgn(moves="", **whole), pgn(moves="", **whole, Result="1-0")) == []
    assert dropped(tmp_path, pgn(moves="", **whole), pgn(moves=LONG, **whole)) == []
    assert dropped(tmp_path, pgn(moves=""), pgn(moves="")) == []


def test_a_match_that_is_one_round_has_many_games(tmp_path: Path) -> None:
    there = pgn(moves="", Event="Cup", Date="2018.10.21", Round="1")
    back = pgn("Oak, Bo", "Elm, Ann", moves="", Event="Cup", Date="2018.10.21", Round="1")
    assert dropped(tmp_path, there, back, there, back, there, back) == []


def test_what_two_files_tell_of_a_round_is_compared(tmp_path: Path) -> None:
    """A match of one round: in one file its games are as many as there stand, in two as many as the longer has."""
    tags = {"Event": "Cup", "Date": "2018.10.21", "Round": "1", "moves": ""}
    there, back = pgn(**tags), pgn("Oak, Bo", "Elm, Ann", **tags)
    files = [[there, back, there], [there, back, there, back, there], [back, there]]
    for number, games in enumerate(files):
        (tmp_path / f"{number}.pgn").write_text("".join(games))
    seen = Seen()
    assert len(list(unique(read(tmp_path), seen))) == 5
    expected = [(4, 1), (5, 2), (6, 3), (9, 2), (10, 1)]
    assert [(each.number, each.first) for each in seen.duplicates.found] == expected
    table = read(tmp_path).outcomes().duplicates
    assert table is not None
    assert [(each.number, each.first) for each in table.found] == expected
    assert dropped(tmp_path, *(game for games in files for game in games)) == []


@pytest.mark.parametrize("moves", ["", SHORT])
@pytest.mark.parametrize("first", ["file", "index", "two indexes"])
def test_an_index_and_its_file_know_each_others_games(tmp_path: Path, first: str, moves: str) -> None:
    """Nothing tells these games apart but where they lie."""
    path = tmp_path / "games.pgn"
    drawn, unnamed = pgn(moves=moves), pgn(white="?", moves=moves)
    path.write_text(drawn + pgn(moves=moves, Result="1-0") + drawn + unnamed + unnamed)
    made = [tmp_path / "a.parquet", tmp_path / "b.csv"]
    for each in made:
        index(path, each)
    given = {"file": [path, made[0]], "index": [made[1], path], "two indexes": made}[first]
    alone = read(path).counted().places
    assert alone == ([0, 1, 2, 3, 4] if not moves else [0, 1, 3, 4])
    assert read(*given).counted().places == alone
    games = read(*given)
    rows, found = games.rows()
    assert rows.collect().height == len(alone) and len(found) == 10 - len(alone)
    assert games.outcomes().counted.sum() == len([place for place in alone if place < 3])


def test_a_file_is_known_by_what_it_contains(tmp_path: Path) -> None:
    path, made = tmp_path / "games.pgn", tmp_path / "games.parquet"
    path.write_text(3 * pgn(moves=""))
    index(path, made)
    moved = path.rename(tmp_path / "moved.pgn")
    assert read(moved, made).outcomes().counted.sum() == 3
    path.write_text(3 * pgn(moves="").replace("Elm", "Ash"))
    assert read(path, made).outcomes().counted.sum() == 6
    games = read(path, made)
    assert games.rows()[0].collect().height == 6


def test_nobody_knows_who_the_unnamed_are(tmp_path: Path) -> None:
    assert dropped(tmp_path, pgn(white="?"), pgn(white="?"), pgn(white=""), pgn(white="")) == []


def test_a_position_that_was_set_up_makes_another_game(tmp_path: Path) -> None:
    usual = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    other = usual.replace("RNBQKBNR", "RNBQKB1R")
    assert dropped(tmp_path, pgn(), pgn(FEN=other), pgn(FEN=usual), pgn(FEN=other)) == [(3, 1), (4, 2)]


def test_the_sentence() -> None:
    seen = Seen()
    games = [pgn(Date="2020.01.02"), pgn(white="Ash", Date="????.??.??")]
    list(unique((Game("-", 0, 0, text.encode()) for text in [*games, *games, games[0]]), seen))
    assert str(seen.duplicates) == (
        "2 games occur more than once and count once: 3 = 1 (Elm, Ann - Oak, Bo 2020.01.02), "
        "4 = 2 (Ash - Oak, Bo), 5 = 1 (Elm, Ann - Oak, Bo 2020.01.02)."
    )
    assert str(Duplicates(seen.duplicates.found[:2])).startswith("2 games occur twice and count once: 3 = 1 (")
    many = Duplicates(seen.duplicates.found[:1] * 8)
    assert str(many).endswith("2020.01.02) and 3 more.")
    assert not Duplicates() and str(Duplicates()) == ""


def test_moves_are_looked_at_only_where_they_decide() -> None:
    """A table without moves asks for those of games that share players and length, and no others."""
    names = ["Elm", "Oak", "Ash"]
    white, black = np.array([0, 0, 2, 0], np.int32), np.array([1, 1, 1, 1], np.int32)
    plies = np.array([40, 40, 40, 41], np.int32)
    asked: list[int] = []

    def look(places: np.ndarray) -> np.ndarray:
        asked.extend(places.tolist())
        return np.array([7, 7], np.uint64)

    columns = {"White": (white, names), "Black": (black, names)}
    found = repeats(columns, np.full(4, UNREAD), plies, look)
    assert found.tolist() == [0, 0, 2, 3] and asked == [0, 1]


@pytest.mark.parametrize(
    "moves",
    [
        "",
        LONG,
        ANNOTATED,
        "1. 0-0 0-0-0",
        "1. e4 (1. d4 1... d5",
        "1. e4 ) e5",
        "{open 1. e4",
        "% aside\n1. e4 e5",
        "1.Nge2e4 x",
    ],
)
def test_many_games_at_once_are_read_as_one_by_one(moves: str) -> None:
    games = [pgn(moves=text) for text in (LONG, moves, ANNOTATED, moves, SHORT)]
    part = split("".join(games).encode())
    texts = [part.data[start:end] for start, end in zip(part.starts.tolist(), part.ends.tolist(), strict=True)]
    found = fingerprints(part)
    assert [fingerprint(text) for text in texts] == list(zip(found.keys.tolist(), found.plies.tolist(), strict=True))


def test_names_in_other_scripts_stay_apart() -> None:
    names = ["Карпов, Анатолий", "Каспаров, Гарри", "李成智", "侯逸凡", "**", "Ø", "O"]
    assert len({plain_name(name) for name in names}) == 6
    assert plain_name("Ø") == plain_name("O")


@pytest.mark.filterwarnings("error")
def test_set_up_positions_go_round_without_a_word(tmp_path: Path) -> None:
    # Among so many, some sums go beyond 64 bits.
    places = [(a, b) for a in range(1, 7) for b in range(1, 7)]
    games = (pgn(moves="1. Kb1", FEN=f"8/8/{a}P{7 - a}/{b}p{7 - b}/8/k7/8/K7 w - - 0 1") for a, b in places)
    path = tmp_path / "set-up.pgn"
    path.write_text("".join(games))
    found = read_tags([path], moves=True).moves
    assert found is not None
    assert len(set(found.keys.tolist())) == len(places)
