"""The command: Ordo's switches, its faults mended, bad input told in a sentence."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

Run = Callable[..., Any]
Pgn = Callable[[list[tuple[str, str, str]]], str]
CORE = [("A", "B", "1-0"), ("B", "A", "1/2-1/2"), ("A", "B", "0-1"), ("B", "A", "0-1"), ("A", "B", "1/2-1/2")]


def ratings(text: str) -> dict[str, float]:
    """Name and rating of each line of a text table."""
    found = re.findall(r"^ *\d* +(.*?) *[<>]? +: +(-?[\d.]+)", text, re.MULTILINE)
    return {name.strip(): float(value) for name, value in found}


# Ordo's faults, in the order of the notes about it.


def test_1_perfect_scores_are_purged_and_placed_back(run: Run, write_pgn: Callable[..., str]) -> None:
    file = write_pgn([*CORE, ("W", "A", "1-0"), ("B", "L", "1-0"), ("V", "W", "1-0")])
    answer = run("-q", "-p", file)
    assert answer.code == 0
    assert re.search(r"^ *1 V +> :", answer.out, re.MULTILINE)
    assert re.search(r"^ *2 W +> :", answer.out, re.MULTILINE)
    assert re.search(r"^ *5 L +< :", answer.out, re.MULTILINE)
    assert "3 players have only wins or only losses" in answer.err


def test_2_excluded_games_stay_out_of_simulations(run: Run, pool_file: str, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text('"P000"\n')
    games = Path(pool_file).read_text().split("\n\n")
    kept = [
        f"{tags}\n\n{result}\n\n"
        for tags, result in zip(games[0::2], games[1::2], strict=False)
        if "P000" not in tags and tags.strip()
    ]
    (tmp_path / "without.pgn").write_text("".join(kept))
    excluded = run("-q", "-W", "-s30", "-x", str(tmp_path / "out.csv"), "-p", pool_file)
    never_there = run("-q", "-W", "-s30", "-p", str(tmp_path / "without.pgn"))
    assert ratings(excluded.out) == ratings(never_there.out)
    sizes = [
        {name: float(error) for name, error in re.findall(r"(P\d+) +: +[\d.]+ +([\d.]+)", answer.out)}
        for answer in (excluded, never_there)
    ]
    assert sizes[0].keys() == sizes[1].keys()
    # Other first appearances mean other random numbers, so the errors agree in size only.
    assert sum(sizes[0].values()) == pytest.approx(sum(sizes[1].values()), rel=0.25)
    drawless = run("-q", "-X", "-s30", "-p", pool_file)
    assert drawless.code == 0
    assert "Draw rate (equal opponents) = 50.00 %" in drawless.out


def test_3_matrices_of_a_shortened_list(run: Run, write_pgn: Callable[..., str], tmp_path: Path) -> None:
    file = write_pgn([*CORE, *CORE, ("C", "A", "1-0"), ("A", "C", "1-0")])
    errors, chances = tmp_path / "e.csv", tmp_path / "c.csv"
    answer = run("-q", "-s20", "-t5", "-e", str(errors), "-C", str(chances), "-p", file)
    assert answer.code == 0
    assert len(errors.read_text().splitlines()) == len(chances.read_text().splitlines()) == 3
    everybody = run("-q", "-t", "100", "-p", file)
    assert (everybody.code, everybody.out) == (1, "")
    assert "no player has 100 games" in everybody.err
    column = run("-q", "-U", "0,15", "-p", file)
    assert column.code == 1
    assert "from 0 to 14, not 15" in column.err


def test_4_anchors_are_held_or_refused(run: Run, write_pgn: Callable[..., str], tmp_path: Path) -> None:
    file = write_pgn([*CORE, ("Alias", "B", "1/2-1/2")])
    anchors = tmp_path / "anchors.csv"
    anchors.write_text('"A", 2650\n')
    assert ratings(run("-q", "-m", str(anchors), "-p", file).out)["A"] == 2650
    anchors.write_text('"A", 2650, 0\n')
    assert ratings(run("-q", "-y", str(anchors), "-p", file).out)["A"] == 2650
    synonyms = tmp_path / "synonyms.csv"
    synonyms.write_text('"A","Alias"\n')
    assert ratings(run("-q", "-a2700", "-A", "Alias", "-Y", str(synonyms), "-p", file).out)["A"] == 2700
    perfect = write_pgn([*CORE, ("W", "A", "1-0")], "perfect.pgn")
    assert ratings(run("-q", "-G", "-a", "2900", "-A", "W", "-p", perfect).out)["W"] == 2900


def test_5_hopeless_pools_end(run: Run, write_pgn: Callable[..., str]) -> None:
    chain = [(f"P{i}", f"P{i + 1}", "1/2-1/2") for i in range(8)]
    apart = [("X", "Y", "1-0"), ("Y", "X", "1-0")]
    answer = run("-q", "-G", "-s", "5", "-p", write_pgn([*chain, *apart]))
    assert answer.code == 0
    assert len(ratings(answer.out)) == 11
    told = run("-q", write_pgn([*chain, *apart]))
    assert "2 pools of players" in told.err


def test_6_broken_games_move_no_other(run: Run, as_pgn: Pgn, tmp_path: Path) -> None:
    text = as_pgn(CORE)
    broken = (
        '[White "A"]\n[Result "1-0"]\n\n1-0\n\n'
        + text
        + '[White "A"]\n[Black "B"]\n[Result "2-0"]\n\n2-0\n\n'
        + '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 {\n[White "Ghost"]\n[Black "B"]\n} 1-0\n\n'
        + '[White "A"]\n[Black "A"]\n[Result "1-0"]\n\n1-0\n\n'
    )
    (tmp_path / "broken.pgn").write_text(broken)
    (tmp_path / "good.pgn").write_text(text + as_pgn([("A", "B", "1-0")]))
    good, answer = (run("-q", "-p", str(tmp_path / name)) for name in ("good.pgn", "broken.pgn"))
    assert answer.code == 0
    assert ratings(answer.out) == ratings(good.out)
    assert "1 x no Black tag" in answer.err
    assert '1 x unknown result "2-0"' in answer.err
    assert "1 x a player against himself" in answer.err
    strict = run("-q", "--strict", "-p", str(tmp_path / "broken.pgn"))
    assert (strict.code, strict.out) == (1, "")


def test_8_what_cannot_be_written_or_found_fails(run: Run, pool_file: str, tmp_path: Path) -> None:
    nowhere = run("-q", "-o", str(tmp_path / "no" / "list.txt"), "-p", pool_file)
    assert (nowhere.code, nowhere.err.count("\n")) == (1, 1)
    taken = run("-q", "-o", str(tmp_path), "-p", pool_file)
    assert taken.code in (1, 2)
    for switch, row in (("-y", '"Nobody",2500,20'), ("-m", '"Nobody",2500'), ("-r", '"P000","Nobody",0,20')):
        (tmp_path / "names.csv").write_text(f"\n{row}\n")
        answer = run("-q", switch, str(tmp_path / "names.csv"), "-p", pool_file)
        assert answer.code == 1
        assert 'line 2: no games of "Nobody"' in answer.err


# Switches.


def test_short_switches_join_as_ordo_takes_them(run: Run, pool_file: str) -> None:
    joined = run("-qWD", "-s10", "-N2", "-a2500", "-p", pool_file)
    apart = run("--quiet", "--white-auto", "--draw-auto", "--simulations=10", "--decimals", "2", "--average=2500",
                "--pgn", pool_file)  # fmt: skip
    assert joined == apart
    assert joined.code == 0
    assert sum(ratings(joined.out).values()) / 6 == pytest.approx(2500, abs=0.01)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-A", "P000", "-m", "x.csv"), "-m and -A"),
        (("-a", "2500", "-m", "x.csv"), "-m and -a"),
        (("-W", "-w", "30"), "-W fits"),
        (("-D", "-d", "30"), "-D fits"),
        (("-i", "x", "-x", "y"), "-i and -x"),
        (("-g", "x", "-G"), "-g reports"),
        (("-z", "200", "--scale-logistic"), "-z and --scale-logistic"),
        (("-F", "40"), "confidence of 40"),
        (("-d", "120"), "draw rate of 120"),
        (("-A", "p000"), 'no games of "p000"'),
        (("-N", "x"), "whole numbers"),
    ],
)
def test_contradictions_and_nonsense_are_told(words: tuple[str, ...], sentence: str, run: Run, pool_file: str) -> None:
    answer = run("-q", *words, "-p", pool_file)
    assert (answer.code, answer.out) == (1, "")
    assert sentence in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("switch", "text", "sentence"),
    [
        ("-m", '"P000",nan\n', 'line 1: "nan" is not a number'),
        ("-y", '"P000",2400,-inf\n', '"-inf" is not a number'),
        ("-b", '1,1e300,"Name"\n', 'line 1: "1e300" is too large'),
        ("-b", '1,1e5,"Name"\n', "line 1: a column is 0 to 1000 wide"),
        ("-m", '"P000",1e308\n', "too large"),
        ("-y", '"P000",2400,1e-200\n', "an uncertainty of 1e-200 is not between"),
        ("-r", '"P000","P001",10,1e-200\n', "an uncertainty of 1e-200 is not between"),
        ("-P", "\n", "names no files"),
        ("-x", "x" * 200_000, "field larger than field limit"),
        ("-P", "Gr\xfcnfeld.pgn\n", "there is no file"),
    ],
)
def test_small_files_that_make_no_sense(
    switch: str, text: str, sentence: str, run: Run, pool_file: str, tmp_path: Path
) -> None:
    (tmp_path / "file.csv").write_text(text, encoding="latin-1")
    answer = run("-q", switch, str(tmp_path / "file.csv"), "-p", pool_file)
    assert answer.code == 1 and sentence in answer.err and answer.err.count("\n") == 1


def test_unknown_switches_are_wrong_usage(run: Run) -> None:
    assert run("-K").code == 2


def test_missing_and_empty_input(run: Run, tmp_path: Path) -> None:
    assert run("-q", "-p", str(tmp_path / "none.pgn")).code == 1
    assert run("-q").code == 1
    (tmp_path / "empty.pgn").write_text("")
    answer = run("-q", str(tmp_path / "empty.pgn"))
    assert (answer.code, answer.err) == (1, "assay: the input contains no games to rate.\n")


def test_help_version_license_and_table_need_no_input(run: Run) -> None:
    assert "--multi-anchors" in run("-h").out
    switches = run("-H").out
    assert "--multi-anchors" in switches
    assert "Examples" not in switches
    assert "ordo 1.2.6" in run("-v").out
    assert "WITHOUT ANY WARRANTY" in run("-L").out
    assert " 76 202.0 " in run("-T").out


def test_every_switch_of_ordo_is_there(run: Run) -> None:
    text = run("-H").out
    short = "h H v L q Q a A V m y r R w u W d k D z T p P o c E j g G s e C J F X t N M n U Y i x b"
    long = (
        "help show-switches version license quiet silent terse timelog average anchor pool-relative multi-anchors "
        "loose-anchors relations remove-older white white-error white-auto draw draw-error draw-auto scale table pgn "
        "pgn-list output csv elostat head2head groups force simulations error-matrix cfs-matrix cfs-show confidence "
        "ignore-draws threshold decimals ML cpus columns synonyms aliases include exclude no-warnings column-format"
    )
    assert [s for s in short.split() if not re.search(rf"(^|\s)-{s}\b", text)] == []
    assert [name for name in long.split() if not re.search(rf"--{name}\b", text)] == []


# Input and output.


def test_all_kinds_of_input_agree(run: Run, pool_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path(pool_file).read_bytes()
    (tmp_path / "g.pgn.gz").write_bytes(gzip.compress(data))
    (tmp_path / "g.pgn.zst").write_bytes(zstandard.compress(data))
    # With a comment in it, the thorough reader reads the file.
    (tmp_path / "thorough.pgn").write_bytes(data + b'[White "N"]\n[Black "M"]\n[Result "*"]\n\n{a comment} *\n\n')
    half = data.index(b"\n\n[", len(data) // 2) + 2
    (tmp_path / "one.pgn").write_bytes(data[:half])
    (tmp_path / "two.pgn").write_bytes(data[half:])
    (tmp_path / "list.txt").write_text(f'{tmp_path}/one.pgn\n\n"{tmp_path}/two.pgn"\n')
    expected = ratings(run("-q", "-W", pool_file).out)
    assert len(expected) == 6
    for words in (
        [str(tmp_path / "g.pgn.gz")],
        [str(tmp_path / "g.pgn.zst")],
        [str(tmp_path / "thorough.pgn")],
        ["-p", str(tmp_path / "one.pgn"), "--", str(tmp_path / "two.pgn")],
        ["-P", str(tmp_path / "list.txt")],
    ):
        assert ratings(run("-q", "-W", *words).out) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert ratings(run("-q", "-W", "-").out) == expected


def test_an_index_is_input_too(run: Run, pool_file: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    tags = dict.fromkeys(("White", "Black", "Result"))
    text = Path(pool_file).read_text()
    columns = {tag.lower(): re.findall(rf'\[{tag} "(.*?)"\]', text) for tag in tags}
    pq.write_table(pa.table(columns), tmp_path / "games.parquet")
    assert ratings(run("-q", str(tmp_path / "games.parquet")).out) == ratings(run("-q", pool_file).out)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    assert "not an index of games" in run("-q", str(tmp_path / "other.parquet")).err


def test_errors_come_by_default_and_ordo_s_way_without(run: Run, pool_file: str) -> None:
    assert "ERROR" in run(pool_file).out
    assert "ERROR" not in run("-q", "-p", pool_file).out
    assert "ERROR" in run("-q", "-s5", "-p", pool_file).out
    assert "ERROR" in run("-q", "--errors", "-p", pool_file).out
    assert "ERROR" not in run("--no-errors", pool_file).out


def test_ordo_s_way_tells_a_summary(run: Run, pool_file: str) -> None:
    text = run("-p", pool_file).out
    assert text.startswith(
        f"\nFile: {pool_file}\nLoading data (2000 games x dot): \n\n|\n\nTotal games                 150\n"
    )
    assert "Reference rating      2300.0 (average of the pool)\n" in text
    assert text.endswith("\n\ndone!\n")


def test_json_holds_what_the_table_holds(run: Run, pool_file: str) -> None:
    data: dict[str, Any] = json.loads(run("-W", "-D", "--los", "--format", "json", pool_file).out)
    assert [player["rank"] for player in data["players"]] == [1, 2, 3, 4, 5, 6]
    assert {"player", "rating", "error", "points", "played", "cfs", "pool", "reason"} <= set(data["players"][0])
    counts = {"read": 150, "counted": 150, "unfinished": 0, "skipped": {}, "duplicates": 0, "terminations": {}}
    assert data["games"] == counts
    assert len(data["superiority"]) == 6
    assert data["white_advantage_error"] > 0
    text = run("--format", "csv", pool_file).out
    assert text.startswith('"#","PLAYER","RATING","ERROR"')


def test_likelihood_of_superiority_as_text(run: Run, pool_file: str) -> None:
    assert "Likelihood of superiority (%)" in run("--los", pool_file).out


def test_files_of_all_kinds_are_written(
    run: Run, pool_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run("-q", "-E", "-J", "-s10", "-j", "h.txt", "-o", "r.txt", "-c", "r.csv", "-e", "e.csv", "-C", "c.csv",
                 "-p", pool_file)  # fmt: skip
    assert (answer.code, answer.out) == (0, "")
    names = {"h.txt", "r.txt", "r.csv", "e.csv", "c.csv", "general.dat", "rating.dat", "programs.dat"}
    assert names <= {path.name for path in tmp_path.iterdir()}
    assert "CFS(%)" in (tmp_path / "r.txt").read_text()
    groups = run("-q", "-g", "g.txt", "-p", pool_file)
    assert (groups.code, groups.out) == (0, "")
    assert "**OK**" in (tmp_path / "g.txt").read_text()


def test_older_versions_have_no_rank_and_can_be_hidden(run: Run, pool_file: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('"P001","P000",10,50\n')
    shown = run("-q", "-r", str(tmp_path / "r.csv"), "-p", pool_file).out
    assert re.search(r"^     P000", shown, re.MULTILINE)
    assert "P000" not in run("-q", "-R", "-r", str(tmp_path / "r.csv"), "-p", pool_file).out


def test_synonyms_are_one_player(run: Run, write_pgn: Callable[..., str], tmp_path: Path) -> None:
    file = write_pgn([*CORE, ("A2", "B", "1-0"), ("A2", "A", "1/2-1/2")])
    (tmp_path / "s.csv").write_text('"A","A2"\n')
    rows = run("-q", "-Y", str(tmp_path / "s.csv"), "-p", file).out
    assert set(ratings(rows)) == {"A", "B"}
    # Ordo counts games between two names of one player in his score; they say nothing about his rating.
    assert re.search(r"A +: +[\d.]+ +5\.0 +8 ", rows)


def test_game_pairs(run: Run, tmp_path: Path) -> None:
    games = []
    for opening in range(40):
        for white, black in (("A", "B"), ("B", "A")):
            result = "1-0" if opening % 4 else "1/2-1/2"
            games.append(
                f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n[FEN "opening {opening}"]\n\n{result}\n\n'
            )
    (tmp_path / "pairs.pgn").write_text("".join(games))
    file = str(tmp_path / "pairs.pgn")
    paired = json.loads(run("--pairs", "-W", "--format", "json", file).out)
    single = json.loads(run("-W", "--format", "json", file).out)
    assert paired["pentanomial"] == [0, 0, 40, 0, 0]
    assert paired["players"][0]["rating"] == pytest.approx(single["players"][0]["rating"])
    assert (paired["players"][0]["error"] or 0.0) < single["players"][0]["error"] / 10
    assert run("--pairs", "-s5", file).code == 1


def test_start_and_prior(run: Run, pool_file: str, tmp_path: Path) -> None:
    run("-q", "-c", str(tmp_path / "old.csv"), "-p", pool_file)
    again = run("-q", "--start", str(tmp_path / "old.csv"), "-p", pool_file)
    assert ratings(again.out) == ratings(run("-q", "-p", pool_file).out)
    near = ratings(run("-q", "--prior", "20", "-p", pool_file).out)
    assert max(near.values()) - min(near.values()) < 120


# Prep.


def test_prep_shrinks_and_drops(run: Run, as_pgn: Pgn, write_pgn: Callable[..., str], tmp_path: Path) -> None:
    file = write_pgn([*CORE, ("W", "A", "1-0"), ("V", "W", "1-0"), ("X", "Y", "1/2-1/2"), ("A", "B", "*")])
    kept = run("-d", "--major-only", "-o", str(tmp_path / "k.pgn"), file, command="prep")
    assert kept.code == 0
    assert (tmp_path / "k.pgn").read_text() == as_pgn(CORE)
    assert "5 of 9 games kept" in kept.err
    assert run("-M", "3", file, command="prep").out == as_pgn(CORE)
    assert run("-M", "100", file, command="prep").code == 1
