"""The HTML of a report, without a browser: whole, small, and safe whatever the PGN says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from assay.curve import NOTHING, Estimate
from assay.reports import charts
from assay.reports.content import MEANINGS, GameSection, Report
from assay.reports.page import game_data, plain_moves, policy, render, render_beside
from assay.reports.sentences import summary_of

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "<!-- --> ]]> &amp; \u2028",
    "'; DROP TABLE players; --",
    "\x00\x07\ud7ff",
]


class Tags(HTMLParser):
    """Counts the elements of a page and keeps the text outside scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src")}

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    return tags


def test_everything_is_in_one_file(report: Report) -> None:
    page = read(render(report))
    assert not {"link", "img", "iframe", "object"} & set(page.elements)
    assert all(link.startswith("#") for link in page.links)
    assert "style" not in page.attributes, "the policy allows no inline style"
    assert not {name for name in page.attributes if name.startswith("on")}
    assert policy().startswith("default-src 'none'")


def test_it_says_what_it_has_to(report: Report) -> None:
    text = " ".join(read(render(report)).text.split())
    for words in (
        "London 1851",
        "Anderssen, Adolf",
        "2535–2775",
        "2555–2735",  # the one answer
        "Nobody's play is unusual for the rating",
        "too few moves",
        "Stockfish 15.1",
        "stockfish-15.1-d10",
        "Left out: position repeated",
        "ab" * 32,
        "What may be concluded",
    ):
        assert words in text


def test_every_plot_has_words(report: Report) -> None:
    plots = re.findall(r'<svg class="(?:plot|plies|strip)"[^>]*>', render(report))
    assert len(plots) > 10
    assert all("aria-label=" in plot or "aria-hidden" in plot for plot in plots)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_pgn_says_stays_text(report: Report, name: str) -> None:
    calm = read(render(report))
    wild_game = replace(report.games[0], white=name, event=name, site=name, round=name, date=name, note=name)
    wild_player = replace(report.players[0], name=name, learned=Estimate(note=name))
    wild = replace(report, title=name, site=name, games=(wild_game,), players=(wild_player,))
    page = read(render(wild))
    assert set(page.elements) == set(calm.elements)
    assert page.elements.count("script") == 2, "one for the game, one for the page"
    assert page.attributes <= calm.attributes


def test_the_data_of_a_game_comes_back(report: Report) -> None:
    game = replace(report.games[0], white="</script>&<!--")
    text = str(game_data(game, candidates=3))
    assert not set("<>&") & set(text)
    data = json.loads(text)
    assert data["n"][0] == "</script>&<!--"
    assert data["s"].split()[:2] == ["e4", "e5"]
    counted = data["c"][20]
    assert counted[0] == game.moves[20].candidates[0].san
    assert len(counted) == 3 * 3 + 2
    others = sum(c.probability or 0 for c in game.moves[20].candidates[3:]) + game.moves[20].others_probability
    assert counted[-2:] == [game.moves[20].others + 5, round(10_000 * others)]


def test_the_played_move_is_told_however_bad(report: Report) -> None:
    game = report.games[0]
    move = game.moves[20]
    last = replace(move, candidates=(*move.candidates[1:], move.candidates[0]))
    data = json.loads(game_data(replace(game, moves=(*game.moves[:20], last)), candidates=2))
    assert move.san in data["c"][20]


def test_forty_games_stay_under_two_megabytes(report: Report) -> None:
    long = replace(report.games[0], moves=report.games[0].moves * 2)
    many = replace(report, games=tuple(replace(long, number=n) for n in range(1, 41)))
    html = render(many)
    assert len(html.encode()) < 2_000_000
    assert "To keep this file small" not in html


def test_a_large_event_leaves_out_candidates_first_and_says_so(report: Report) -> None:
    whole = len(render(report).encode())
    assert "at most" in render(report, most_bytes=whole - 1)
    assert "too many games to show" in render(report, most_bytes=1)


def test_moves_as_text() -> None:
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 40"
    game = GameSection(1, "A", "B", "*", start=start)
    assert plain_moves(game) == ""
    assert game.first_ply == 79


def test_an_empty_report_is_a_report(report: Report) -> None:
    assert "London 1851" in render(replace(report, players=(), games=()))


def test_many_games_of_one_player_are_not_drawn_one_by_one(report: Report) -> None:
    player = report.players[0]
    many = replace(player, by_game=player.by_game * 20, points=0.0)
    game = replace(report.games[0], round="-")
    html = render(replace(report, players=(many,), games=(game,)))
    assert "Rating of the moves by game" in render(report) and "Rating of the moves by game" not in html
    assert "round -" not in html and "0 points from" in html


def test_what_was_better_is_what_the_second_look_says(report: Report) -> None:
    game = report.games[0]
    moves = list(game.moves)
    moves[20] = replace(moves[20], mark="?", better="Kh8")
    told = json.loads(game_data(replace(game, moves=tuple(moves)), 4))
    assert (told["k"][20], told["b"][20], told["b"][19]) == ("?", "Kh8", "")


def test_there_is_no_column_of_what_nobody_has(report: Report) -> None:
    assert 'class="num z"' in render(report)
    unscreened = tuple(replace(player, screening=None) for player in report.players)
    assert 'class="num z"' not in render(replace(report, players=unscreened))


def test_every_page_says_what_its_numbers_mean(report: Report) -> None:
    for html in (render(report), *render_beside(report, "london-games", "london.html").values()):
        asked = {"value", "chance", *re.findall(r'data-why="([a-z]+)"', html)}  # two are the script's
        assert asked <= set(re.findall(r'id="why-([a-z]+)"', html))


def test_a_bound_is_told_once_and_has_no_mark(report: Report) -> None:
    bound = Estimate(924.0, high=1338.0)
    player = replace(report.players[0], joint=bound, tag=NOTHING)
    page = render(replace(report, players=(player, *report.players[1:])))
    assert "<b>≤1338</b>" in page and "<b>924</b>" not in page
    whole = replace(player, joint=Estimate(924.0, 700.0, 1338.0))
    scale = charts.strip_scale([whole])
    assert "whisker open" in charts.strip(player, scale) and "dot joint" not in charts.strip(player, scale)
    assert "whisker open" not in charts.strip(whole, scale) and "dot joint" in charts.strip(whole, scale)


def test_time_is_drawn_as_it_passes() -> None:
    """A month without games leaves a gap; a month of which only a bound is known has no point."""
    known = Estimate(1500.0, 1400.0, 1600.0)
    drawn = charts.over_time(
        [("2022-01", known), ("2022-02", known), ("2022-03", Estimate(900.0, high=1200.0)), ("2022-07", known)], "rapid"
    )
    (outline,) = re.findall(r'<polyline class="curve" points="([^"]*)"', drawn)
    first, second, last = (float(point.split(",")[0]) for point in outline.split())
    assert last - first == pytest.approx(6 * (second - first), abs=0.5) and drawn.count("dot moves") == 3


def test_every_number_of_the_first_level_is_explained(report: Report) -> None:
    page = render(report)
    told = set(re.findall(r'id="why-([a-z]+)"', page))
    table = page[page.index('<table class="sortable players">') :]
    cells = re.findall(r"<td ([^>]*)>", table[: table.index("</table>")])
    assert all("data-why=" in cell for cell in cells if "num" in cell)
    assert set(re.findall(r'data-why="([a-z]+)"', page)) <= told and set(MEANINGS) <= told


def test_the_summary_of_very_many_players_stays_small(report: Report) -> None:
    """A thousand games of 1,600 players fit into 2 MB beside files of games, 2,000 without the pictures."""
    player = report.players[0]
    field = tuple(replace(player, name=f"Somebody, Whose Name {number:05}") for number in range(2000))
    for many, drawn in ((1640, True), (2000, False)):
        whole = replace(report, players=field[:many], games=())
        summary = render_beside(whole, "event-games", "event.html")[""]
        assert len(summary.encode()) < 2_000_000 and ('class="strip"' in summary) == drawn
        assert summary.count('<td class="num rating"') == many


def test_moves_stand_above_each_other_in_the_pictures_of_a_game(report: Report) -> None:
    assert len(set(re.findall(r'class="plies"[^>]*data-x="([^"]*)"', render(report)))) == 1


def test_while_it_grows_the_first_game_is_not_taken_for_the_whole_event(report: Report) -> None:
    one = replace(report, games=report.games[:1])
    assert summary_of(one).startswith(report.games[0].summary)
    assert summary_of(replace(one, games_expected=15)).startswith("1 game, ")
