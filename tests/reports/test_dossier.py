"""The sheet on one player: a page that can be acted on, the critical moves behind it, and no word that accuses."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands import run

import assay
from assay.games.archives import sample
from assay.paths import find_browser
from assay.reports.dossier import render_sheet, sheet
from assay.reports.exports import print_pdf


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sheet") / "event.pgn"
    text = sample("simulated-event.pgn").decode()
    # A clock in the first move that counts of Elm's last game, and a name that would be markup.
    games = text.split("[Event ")
    games[15] = re.sub(r" 9\. (\S+)", r" 9. \1 {[%clk 1:02:03]}", games[15])
    path.write_text("[Event ".join(games).replace('"Fir"', '"<b>Fir</b>"'), encoding="utf-8")
    assert run("analyse", path, "--store", path.with_suffix(".db"), "--depth", 6, "--quiet") == 0
    return path


def made(event: Path, out: Path, *words: object) -> int:
    stored = ("--store", event.with_suffix(".db"), "--depth", 6, "--no-analysis", "--quiet")
    return run("screen", event, *stored, *words, "-o", out)


def test_a_sheet_says_what_an_arbiter_can_act_on(
    event: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "elm.html"
    assert made(event, out, "--player", "Elm") == 0
    assert f"Written: {out}" in capsys.readouterr().err
    page = out.read_text(encoding="utf-8")
    assert "Nobody of 6 passes 2.75; the highest is " in page and "never a finding about a person" in page
    assert "&lt;b&gt;Fir&lt;/b&gt;" in page and "<b>Fir</b>" not in page
    for needed in ("By round", "The field, and the player in it", "counter(page)", "break-inside: avoid"):
        assert needed in page
    cards = page.split('class="card"')[1:]
    assert len(cards) == 12
    for card in cards:
        assert "<svg" in card and card.count("played") == 2 and re.search(r"is (not )?best", card)
    for word in ("cheat", "guilty", "fraud", "assisted moves"):
        assert word not in page.lower()
    assert "<script" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_a_sheet_is_of_one_player(event: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert made(event, tmp_path / "all.html") == 2
    assert "--player" in capsys.readouterr().err
    assert made(event, tmp_path / "elm.docx", "--player", "Elm") == 1
    assert "neither .pdf nor .html" in capsys.readouterr().err
    assert made(event, tmp_path / "no" / "elm.html", "--player", "Elm") == 1
    assert not list(tmp_path.iterdir())


def test_a_sheet_is_printed_with_page_numbers(event: Path, tmp_path: Path) -> None:
    if find_browser() is None:
        pytest.skip("needs Chromium")
    out = tmp_path / "elm.pdf"
    assert made(event, out, "--player", "Elm") == 0
    data = out.read_bytes()
    assert data.startswith(b"%PDF") and int(re.findall(rb"/Count (\d+)", data)[0]) <= 6


def test_what_it_may_not_mean_stands_on_the_first_page(event: Path, tmp_path: Path) -> None:
    if find_browser() is None:
        pytest.skip("needs Chromium")
    answer = assay.screen(event, store=event.with_suffix(".db"), depth=6, no_analysis=True)
    one = sheet(answer, "Elm")
    long = replace(one, rounds=tuple((f"{number}.10", one.rounds[0][1]) for number in range(1, 12)), critical=())
    out = tmp_path / "elm.pdf"
    print_pdf(render_sheet(long), out)
    assert re.findall(rb"/Count (\d+)", out.read_bytes())[0] == b"1"
