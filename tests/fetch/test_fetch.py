"""Games are fetched from services that are busy, lie, break off or are not there."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.commands import run
from tests.fetch.services import (
    Services,
    bomb,
    cut,
    drip,
    elsewhere,
    endless,
    lichess_game,
    page,
    played,
    short,
    silence,
    status,
)
from tests.games.made import game_text

import assay
from assay.errors import FetchError
from assay.fetch import chesscom, lichess
from assay.fetch.address import filters
from assay.fetch.asking import Manners, Service
from assay.fetch.fetching import Fetched, fetch

ROUND = "/api/broadcast/round/AbCdEfGh.pgn"
LINK = "https://lichess.org/broadcast/some-event/round-1/AbCdEfGh"


def sites(fetched: Fetched) -> list[str]:
    return [text.split(b'[Site "', 1)[1].split(b'"', 1)[0].decode()[-4:] for text in fetched.texts]


def test_all_games_of_an_account_come_oldest_first_with_evals_and_clocks(services: Services) -> None:
    services.games["alice"] = played(30)
    found = fetch("lichess:Alice")
    assert found.problem is None
    assert sites(found) == [f"{n:04}" for n in range(30)]
    assert b"[%eval" in b"".join(found.texts)
    assert all(word in services.asked[0] for word in ("evals=true", "clocks=true", "perfType=ultraBullet%2Cbullet"))


def test_the_second_time_only_new_games_are_asked_for(services: Services) -> None:
    services.games["alice"] = played(30)
    fetch("lichess:alice")
    newest = lichess_game(99, datetime.now(UTC) - timedelta(seconds=30))
    services.games["alice"].insert(0, newest)
    services.asked.clear()
    again = fetch("lichess:ALICE")
    assert len(again.texts) == 31 and again.came == 1
    assert len(services.asked) == 1


def test_a_running_game_is_left_out_and_comes_when_it_has_ended(services: Services) -> None:
    running = lichess_game(98, datetime(2024, 9, 1, tzinfo=UTC))
    unfinished = running | {"text": game_text(98, 12, result="*", **{k: running[k] for k in ("Site", "UTCDate")})}
    services.games["alice"] = [unfinished, *played(5)]
    assert len(fetch("lichess:alice").texts) == 5
    services.games["alice"][0] = running
    assert sites(fetch("lichess:alice"))[-1] == "0098"


@pytest.mark.parametrize(
    ("word", "option", "count"),
    [
        ("lichess:alice?max=4", {}, 4),
        ("lichess:alice", {"max": 7}, 7),
        ("lichess:alice", {"color": "white"}, 15),
        ("lichess:alice/blitz", {}, 30),
        ("lichess:alice?vs=Bob", {"color": "black"}, 15),
        ("lichess:alice", {"vs": "carol"}, 0),
        ("lichess:alice", {"since": "2024-02", "until": "2024-02"}, 5),
        ("lichess:alice", {"rated": False}, 0),
        ("chess.com:alice", {}, 30),
        ("chess.com:alice?max=4", {}, 4),
        ("chess.com:alice", {"color": "white"}, 15),
        ("chess.com:alice/blitz", {}, 30),
        ("chess.com:alice/rapid", {}, 0),
        ("chess.com:alice", {"vs": "Bob", "color": "black"}, 15),
        ("chess.com:alice", {"since": "2024-02", "until": "2024-02"}, 5),
        ("chess.com:alice", {"rated": True}, 30),
        ("chess.com:alice", {"rated": False}, 0),
    ],
)
def test_filters_mean_the_same_for_both(services: Services, word: str, option: dict[str, object], count: int) -> None:
    services.games["alice"] = played(30)
    found = fetch(word, filters(option))
    assert (found.problem, len(found.texts)) == (None, count)
    assert len(fetch(word, filters(option)).texts) == count  # from the shelf, too


def test_analysed_games_are_those_with_evals(services: Services) -> None:
    services.games["alice"] = played(30)
    with_evals = sum("[%eval" in game["text"] for game in services.games["alice"])
    assert 0 < with_evals < 30
    for service in ("lichess", "chess.com"):
        assert len(fetch(f"{service}:alice", filters({"analysed": True})).texts) == with_evals


def test_the_newest_games_then_all_of_them_cost_each_game_once(services: Services) -> None:
    services.games["alice"] = played(30)
    assert fetch("lichess:alice?max=5").came == 5
    assert fetch("lichess:alice?max=8").came == 3
    rest = fetch("lichess:alice")
    assert (len(rest.texts), rest.came) == (30, 22)
    assert fetch("lichess:alice/blitz").came == 0


def test_months_of_chess_com_that_are_over_are_asked_for_once(services: Services) -> None:
    services.games["alice"] = played(30)
    fetch("chess.com:alice")
    services.asked.clear()
    assert len(fetch("chess.com:alice").texts) == 30
    assert services.paths() == ["/pub/player/alice/games/archives"]


def test_the_running_month_of_chess_com_is_sent_only_if_it_is_new(services: Services) -> None:
    services.games["alice"] = [lichess_game(1, datetime.now(UTC))]
    assert fetch("chess.com:alice").came == 1
    assert fetch("chess.com:alice").came == 0
    services.games["alice"].insert(0, lichess_game(2, datetime.now(UTC)))
    assert len(fetch("chess.com:alice").texts) == 2


def test_variants_of_chess_com_are_left_out(services: Services) -> None:
    services.games["alice"] = [game | {"Rules": "chess960"} for game in played(2)] + played(1)
    assert len(fetch("chess.com:alice").texts) == 1


def test_a_stream_that_is_cut_goes_on_where_it_broke(services: Services) -> None:
    services.games["alice"] = played(60)
    whole = len("\n\n".join(game["text"] for game in services.games["alice"]))
    services.next = [cut(whole // 3), cut(whole // 3)]
    found = fetch("lichess:alice")
    assert found.problem is None
    assert sites(found) == [f"{n:04}" for n in range(60)]
    assert found.bytes < 1.2 * whole  # nothing is fetched twice but the game that was cut
    assert len(services.asked) == 3


def test_games_that_came_before_it_broke_for_good_are_kept(services: Services, tmp_path: Path) -> None:
    services.games["alice"] = played(60)
    services.next = [cut(20_000)] + [status(502)] * 10
    out = tmp_path / "games.pgn"
    assert run("fetch", "lichess:alice", "-o", str(out)) == 1
    kept = out.read_bytes().count(b"[Event ")
    assert 5 < kept < 60
    services.next = []
    services.asked.clear()
    assert run("fetch", "lichess:alice", "-o", str(out)) == 0
    assert out.read_bytes().count(b"[Event ") == 60
    assert len(services.asked) == 2  # what is newer than the first run, and what is older than where it broke


def test_one_request_at_a_time_and_rests_as_long_as_asked(services: Services) -> None:
    services.games["alice"] = played(3)
    services.next = [status(429, Retry_After="17"), status(429), status(503)]
    assert len(fetch("lichess:alice").texts) == 3
    assert services.rests[:2] == [17.0, 60.0]
    assert services.most_at_once == 1


def test_too_long_a_rest_is_said_and_not_taken(services: Services) -> None:
    services.games["alice"] = played(3)
    services.next = [status(429, Retry_After="86400")]
    assert "left alone for 86,400 s" in str(fetch("lichess:alice").problem)
    assert services.rests == []


def test_a_service_that_stays_busy_is_left_alone(services: Services) -> None:
    services.next = [status(429)] * 20
    assert "asks for fewer requests" in str(fetch("lichess:alice").problem)
    assert len(services.asked) == Manners().tries


SENTENCES = {
    "a name that does not exist": ("lichess:nobody", [], "nobody is called nobody on Lichess"),
    "nor on the other": ("chess.com:nobody", [], "nobody is called nobody on chess.com"),
    "a closed account": ("lichess:carol", [], "the account carol on Lichess is closed"),
    "closed on the other": ("chess.com:carol", [status(410)], "is closed"),
    "no contact": ("chess.com:alice", [status(403)], "ASSAY_CONTACT"),
    "a private study": ("https://lichess.org/study/AbCdEfGh", [status(403)], "is private"),
    "no such round": ("https://lichess.org/broadcast/a/b/Zzzzzzzz", [], "nothing called the broadcast round"),
    "a page": (LINK, [page], "answers with a page"),
    "a page for data": ("chess.com:alice", [page], "answers with a page"),
    "another host": (LINK, [elsewhere], "'127.0.0.2', which is not asked"),
    "a refusal": (LINK, [status(418)], "answers 418"),
}


@pytest.mark.parametrize("case", sorted(SENTENCES))
def test_what_is_refused_is_said_in_a_sentence(
    services: Services, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    word, odd, sentence = SENTENCES[case]
    services.games["alice"], services.games["carol"] = played(3), played(1)
    services.closed.add("carol")
    services.next = list(odd)
    assert run("fetch", word) == 1
    told = capsys.readouterr()
    assert sentence in told.err and "Traceback" not in told.err
    assert told.out == ""


def test_games_of_the_sources_before_a_bad_one_are_kept(services: Services, tmp_path: Path) -> None:
    services.games["alice"] = played(3)
    out = tmp_path / "games.pgn"
    assert run("fetch", "lichess:alice", "lichess:nobody", "-o", str(out)) == 1
    assert out.read_bytes().count(b"[Event ") == 3


def test_what_is_no_pgn_replaces_nothing(services: Services, tmp_path: Path) -> None:
    out = tmp_path / "games.pgn"
    out.write_text("my games")
    services.next = [page]
    assert run("fetch", LINK, "-o", str(out)) == 1
    assert out.read_text() == "my games"


def test_fewer_bytes_than_announced_are_asked_for_again(services: Services) -> None:
    services.links[ROUND] = (game_text(1) + "\n\n" + game_text(2)).encode()
    services.next = [short]
    found = fetch(LINK)
    assert (found.problem, len(found.texts), len(services.asked)) == (None, 2, 2)
    services.next = [short] * 10
    broken = fetch(LINK)
    assert "announced" in str(broken.problem)
    assert len(broken.texts) == 1  # the game that was whole


def test_little_that_unpacks_to_much_ends_at_the_limit(services: Services) -> None:
    services.links[ROUND] = b"-"
    services.next = [bomb]
    found = fetch(LINK, manners=Manners(most_bytes=4 << 20))
    assert "more than 4 MB" in str(found.problem) or "which is none" in str(found.problem)


def test_a_stream_that_never_ends_ends_at_the_limit(services: Services) -> None:
    services.links[ROUND] = b"-"
    services.next = [endless]
    found = fetch(LINK, manners=Manners(most_bytes=2 << 20))
    assert "more than 2 MB" in str(found.problem)


def test_a_stream_that_drips_is_given_up(services: Services) -> None:
    services.links[ROUND] = b"-"
    services.next = [drip] * 3
    found = fetch(LINK, manners=Manners(window=0.0, slowest=1e12, tries=2))
    assert "next to nothing" in str(found.problem)


def test_a_server_that_says_nothing_is_not_waited_for_for_ever(services: Services) -> None:
    services.next = [silence] * 3
    found = fetch(LINK, manners=Manners(timeout=0.05, tries=2))
    assert "no answer in time" in str(found.problem)


def test_no_network_is_a_sentence(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lichess, "SERVICE", Service("Lichess", "http://127.0.0.1:9", "http://127.0.0.1:9"))
    assert "cannot reach 127.0.0.1" in str(fetch("lichess:alice").problem)


def test_fifty_megabytes_come_whole(services: Services) -> None:
    one = (game_text(1, 60) + "\n\n").encode()
    count = (50 << 20) // len(one)
    services.links[ROUND] = one * count
    assert len(fetch(LINK).texts) == count


def test_every_kind_of_link_is_understood(services: Services) -> None:
    links = {
        "https://lichess.org/AbCdEfGh": "/game/export/AbCdEfGh",
        "https://lichess.org/AbCdEfGhIjKl": "/game/export/AbCdEfGh",
        "https://lichess.org/AbCdEfGh/black#30": "/game/export/AbCdEfGh",
        "https://lichess.org/study/AbCdEfGh": "/api/study/AbCdEfGh.pgn",
        "https://lichess.org/study/AbCdEfGh/IjKlMnOp": "/api/study/AbCdEfGh/IjKlMnOp.pgn",
        "https://lichess.org/swiss/AbCdEfGh": "/api/swiss/AbCdEfGh/games",
        "https://lichess.org/tournament/AbCdEfGh": "/api/tournament/AbCdEfGh/games",
        "https://lichess.org/broadcast/an-event/AbCdEfGh": "/api/broadcast/AbCdEfGh.pgn",
        "https://lichess.org/broadcast/an-event/round-1/AbCdEfGh": "/api/broadcast/round/AbCdEfGh.pgn",
        "https://lichess.org/broadcast/an-event/round-1/AbCdEfGh#boards": "/api/broadcast/round/AbCdEfGh.pgn",
    }
    for link, path in links.items():
        services.links[path] = game_text(1).encode()
        assert len(fetch(link).texts) == 1, link
        assert services.paths()[-1] == path
    services.games["alice"] = played(3)
    for link in ("https://lichess.org/@/Alice", "https://lichess.org/@/alice/perf/blitz"):
        assert len(fetch(link).texts) == 3, link
    assert len(fetch("https://www.chess.com/member/alice").texts) == 3


def test_a_game_of_chess_com_is_found_in_the_archive_of_its_month(services: Services) -> None:
    services.games["alice"] = [
        lichess_game(n, datetime(2024, 3, n, tzinfo=UTC), Link=f"https://www.chess.com/game/live/100{n}")
        for n in (3, 2, 1)
    ]
    about = {"game": {"pgnHeaders": {"White": "alice", "Black": "bob", "Date": "2024.03.02"}}}
    services.links["/callback/live/game/1002"] = json.dumps(about).encode()
    found = fetch("https://www.chess.com/game/live/1002")
    assert (found.problem, len(found.texts)) == (None, 1)
    assert b"/1002" in found.texts[0]


BAD = {
    "mailto:x@y.z": "there is no service 'mailto'",
    "https://example.org/games.pgn": "only Lichess and chess.com",
    "https://lichess.org.evil.example/@/alice": "only Lichess and chess.com",
    "https://lichess.org@evil.example/abcdefgh": "only Lichess and chess.com",
    "https://lichess.org/training": "no link to games",
    "lichess:a b": "nobody's name",
    "lichess:../../etc": "nobody's name",
    "lichess:alice/chess": "no speed 'chess'",
    "lichess:alice?max=0": "number of games",
    "lichess:alice?since=soon": "no date",
    "lichess:alice?since=2024&until=2023": "later than until",
    "lichess:alice?token=x": "no 'token'",
}


@pytest.mark.parametrize("word", sorted(BAD))
def test_what_cannot_be_asked_for_is_said_and_nothing_is_asked(services: Services, word: str) -> None:
    with pytest.raises(FetchError, match=BAD[word]):
        fetch(word)
    with pytest.raises(FetchError):
        assay.read(word)
    assert services.asked == []


def test_a_token_is_sent_to_lichess_and_shown_nowhere(
    services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("LICHESS_TOKEN", "lip_secret")
    services.games["alice"] = played(3)
    services.next = [None, page, elsewhere, status(401), None]
    for source in ("lichess:alice", LINK, LINK, LINK, "chess.com:alice"):
        run("--debug", "fetch", source, "-o", str(tmp_path / "games.pgn"))
    assert [told.get("authorization") for told in services.headers[:4]] == ["Bearer lip_secret"] * 4
    assert all("authorization" not in told for told in services.headers[4:])
    told = capsys.readouterr()
    assert "lip_secret" not in told.err + told.out
    assert all(b"lip_secret" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    monkeypatch.setenv("LICHESS_TOKEN", "se cret\r\nHost: evil")
    assert "is no token" in str(fetch("lichess:bob").problem)


def test_the_user_agent_tells_how_to_reach_the_user(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CONTACT", "me@example.org\r\nX-Evil: 1")
    services.games["alice"] = played(1)
    fetch("chess.com:alice")
    assert "contact: me@example.org" in services.headers[0]["user-agent"]
    assert "x-evil" not in services.headers[0]


def test_commands_and_the_library_take_the_same_words(
    services: Services, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    services.games["alice"] = played(12)
    assert len(list(assay.read("lichess:alice?max=5"))) == 5
    games = assay.read(["lichess:alice", LINK.replace("AbCdEfGh", "IjKlMnOp")])
    services.links["/api/broadcast/round/IjKlMnOp.pgn"] = game_text(77, White="Carol", Black="Dave").encode()
    assert Counter(game.source for game in games)["lichess:alice"] == 12
    assert games.sources[0].name == "lichess:alice"
    assert assay.rate_results("lichess:alice", force=True).games["counted"] == 12
    assert run("results", "lichess:alice") == 0
    assert run("index", "lichess:alice", "-o", str(tmp_path / "games.parquet")) == 0
    assert run("stats", "lichess:alice/blitz") == 0
    assert run("guess", "lichess:alice?max=2") == 0
    assert run("event", "lichess:alice") == 0
    assert run("players", "chess.com:alice") == 0
    assert "Alice" in capsys.readouterr().out


def test_no_games_at_all_is_a_sentence(services: Services, capsys: pytest.CaptureFixture[str]) -> None:
    services.games["alice"] = []
    assert run("results", "lichess:alice") == 1
    assert "has no such games" in capsys.readouterr().err


def test_forgetting_an_account_and_everything(services: Services, tmp_path: Path) -> None:
    services.games["alice"], services.games["bob"] = played(3), played(3)
    for word in ("lichess:alice", "lichess:bob"):
        fetch(word)
    assert run("fetch", "--forget", "lichess:Alice") == 0
    kept = {file.parent.parent.name for file in (tmp_path / "home" / "fetched").rglob("*.zst")}
    assert kept == {"bob"}
    assert fetch("lichess:alice").came == 3
    assert run("fetch", "--forget") == 0
    assert not list((tmp_path / "home" / "fetched").rglob("*.zst"))


def test_a_damaged_shelf_is_no_reason_to_fail(services: Services, tmp_path: Path) -> None:
    services.games["alice"] = played(10)
    fetch("lichess:alice")
    for file in (tmp_path / "home" / "fetched").rglob("about.json"):
        file.write_bytes(b"{nonsense")
    assert len(fetch("lichess:alice").texts) == 10


def test_games_go_to_stdout_without_a_file(services: Services, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    services.games["alice"] = played(3)
    assert run("fetch", "lichess:alice") == 0
    assert capsysbinary.readouterr().out.count(b"[Event ") == 3


def test_filters_that_need_an_account_are_refused_for_links(services: Services) -> None:
    with pytest.raises(FetchError, match="no account"):
        fetch(LINK, filters({"vs": "bob"}))


def test_wrong_usage_is_told_apart(services: Services) -> None:
    assert run("fetch") == 2
    assert run("fetch", "lichess:alice", "--max", "0") == 2


def test_progress_shows_games_and_bytes(
    services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    services.games["alice"] = played(5)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert run("fetch", "lichess:alice", "--max", "5") == 0
    shown = capsys.readouterr().err
    assert "5 games" in shown and "bytes" in shown
    assert run("fetch", "lichess:alice", "--max", "5", "--quiet") == 0
    assert "bytes" not in capsys.readouterr().err


@pytest.mark.parametrize("told", [None, 5, [], {"games": None}, {"games": 5}, {"games": [None, {"pgn": 7}, {}]}])
def test_an_archive_without_games_has_none(told: object) -> None:
    assert chesscom._games(told) == []


def test_half_a_character_in_an_archive_is_no_reason_to_fail() -> None:
    (game,) = chesscom._games({"games": [{"pgn": '[Event "\ud800"]\n\n1. e4 *'}]})
    assert game.startswith(b'[Event "?"]')
