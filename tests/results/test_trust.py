"""What the list rests on: games counted once, names that are one, pools apart, numbers that make sense."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.errors import AssayWarning, InputError, RatingError
from assay.results import information, rate

Run = Callable[..., Any]
MOVES = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7"
LINES = [MOVES, MOVES.replace("9. h3 Nb8", "9. a4 Bb7"), MOVES.replace("10. d4 Nbd7", "10. d3 c5")]
CORE = [("A", "B", "1-0"), ("B", "A", "1/2-1/2"), ("A", "B", "0-1"), ("B", "A", "0-1"), ("A", "B", "1/2-1/2")]
APART = [("X", "Y", "1-0"), ("Y", "X", "1-0"), ("X", "Y", "1-0")]


def game(white: str, black: str, result: str, moves: str, **tags: str) -> str:
    lines = [
        f'[{name} "{value}"]' for name, value in ({"White": white, "Black": black, "Result": result} | tags).items()
    ]
    return "\n".join(lines) + f"\n\n{moves} {result}\n\n"


def rounds(folder: Path) -> list[str]:
    """Three rounds in a file each, as players meet in them."""
    paths = []
    for number, (moves, result) in enumerate(zip(LINES, ("1-0", "0-1", "1/2-1/2"), strict=True), 1):
        path = folder / f"round{number}.pgn"
        tags = {"Date": f"2024.05.0{number}", "Round": str(number), "Event": "Open"}
        path.write_text(
            game("Elm, Ann", "Oak, Bob", result, moves, **tags) + game("Oak, Bob", "Yew, Cy", result, moves, **tags)
        )
        paths.append(str(path))
    return paths


def counted(answer: Any) -> tuple[int, int]:
    games = json.loads(answer.out)["games"]
    return games["counted"], games["duplicates"]


def test_a_game_counts_once_wherever_it_occurs_again(run: Run, tmp_path: Path) -> None:
    files = rounds(tmp_path)
    whole = tmp_path / "all.pgn"
    # Another program's spelling of the same games.
    spelt = "".join(Path(file).read_text() for file in files).replace("Elm, Ann", "ELM,Ann (ENG)")
    whole.write_text("".join(Path(file).read_text() for file in files))
    (tmp_path / "spelt.pgn").write_text(spelt.replace("1. e4 e5", "1. e4 {best by test} e5"))
    index = str(tmp_path / "all.parquet")
    run(str(whole), "-o", index, command="index")
    once = run("--format", "json", *files)
    assert counted(once) == (6, 0)
    for again in ([*files, str(whole)], [str(whole), index], [index, *files], [*files, str(tmp_path / "spelt.pgn")]):
        answer = run("--format", "json", *again)
        assert counted(answer) == (6, 6)
        errors = [json.loads(found.out)["players"][0]["error"] for found in (answer, once)]
        assert errors[0] == pytest.approx(errors[1])
        assert json.loads(answer.out)["unrated"] == []
        assert "6 games occur twice and count once: 7 = " in answer.err
        assert "Oak, Bob" in answer.err
    assert counted(run("--format", "json", "--keep-duplicates", str(whole), index)) == (12, 0)
    prepared = run(*files, str(whole), command="prep")
    assert prepared.out.count("[White ") == 6
    assert "games left out: 6 x occurs again" in prepared.err
    assert run(*files, str(whole), "--keep-duplicates", command="prep").out.count("[White ") == 12


def test_the_same_file_again_is_read_once(run: Run, write_pgn: Callable[..., str]) -> None:
    # Games of bare results cannot be told apart; a file that is the same can.
    file, copy = write_pgn(CORE), write_pgn(CORE, "copy.pgn")
    for again in (file, copy):
        answer = run("--format", "json", file, again)
        assert counted(answer) == (5, 0)
        assert "is read once" in answer.err
    assert counted(run("--format", "json", "--keep-duplicates", file, copy)) == (10, 0)
    assert counted(run("--format", "json", file, write_pgn(CORE[:4], "other.pgn"))) == (9, 0)


def test_a_copy_tells_the_result_that_the_first_lacks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "live.pgn").write_text(game("A", "B", "*", MOVES, Date="2024.05.01") + game("B", "A", "1-0", LINES[1]))
    (tmp_path / "done.pgn").write_text(game("A", "B", "1-0", MOVES, Date="2024.05.01"))
    assert counted(run("--format", "json", str(tmp_path / "live.pgn"), str(tmp_path / "done.pgn"))) == (2, 1)


def test_spaces_about_a_name_are_no_part_of_it(run: Run, write_pgn: Callable[..., str], tmp_path: Path) -> None:
    games = [("Elm", "Oak", "1-0"), ("Oak ", " Elm", "1/2-1/2"), ("Elm ", "Oak", "0-1"), (" Elm", "Elm", "1-0")]
    file = write_pgn(games)
    index = str(tmp_path / "games.parquet")
    run(file, "-o", index, command="index")
    for source in (file, index):
        answer = run("--format", "json", source)
        assert sorted(player["player"] for player in json.loads(answer.out)["players"]) == ["Elm", "Oak"]
        assert "1 x a player against himself" in answer.err
    assert set(re.findall(r'"(.*?)"\]', run(file, command="prep").out)) == {"Elm", "Oak", "1-0", "0-1", "1/2-1/2"}


@pytest.mark.parametrize("missing", [None, float("nan"), "", " "])
def test_a_missing_name_is_no_player(missing: Any) -> None:
    found = rate(["A", missing, "A", "B"], ["B", "A", missing, "A"], [1, 1, 0, 1], white_advantage=0.0)
    assert found.players == ("A", "B")
    assert found.skipped == {"a player without a name": 2}
    white, black = np.array(["A", missing, "B"], object), np.array(["B", "A", "A"], object)
    as_array = rate(white, black, [1, 1, 1], white_advantage=0.0)
    assert as_array.players == ("A", "B")
    with pytest.raises(RatingError, match="names of both players"):
        rate([missing, missing], ["A", "B"], [1, 0])


# Pools.


def test_pools_that_never_met_are_not_compared(run: Run, write_pgn: Callable[..., str], tmp_path: Path) -> None:
    file = write_pgn([*CORE, *APART, ("C", "A", "1/2-1/2")])
    names = [str(tmp_path / name) for name in ("l.txt", "l.csv", "e.csv", "c.csv", "h.txt")]
    answer = run("-J", "-o", names[0], "-c", names[1], "-e", names[2], "-C", names[3], "-j", names[4], file)
    assert answer.code == 0
    assert "no games connect 2 pools" in answer.err
    text, table, errors, chances, _ = (Path(name).read_text() for name in names)
    first, second = text.split("Pool 2")
    assert "Pool 1: 3 players, average 2300.0" in first
    assert ": 2 players, average 2300.0" in second
    assert re.search(r"^ +1 X ", second, re.MULTILINE)
    rows = list(csv.DictReader(table.splitlines()))
    assert [(row["#"], row["POOL"]) for row in rows] == [("1", "1"), ("2", "1"), ("3", "1"), ("1", "2"), ("2", "2")]
    # The last of a pool is not above the first of the next.
    assert rows[2]["CFS(%)"] == rows[4]["CFS(%)"] == ""
    lower, whole = (list(csv.reader(matrix.splitlines()))[1:] for matrix in (errors, chances))
    assert [row[2:5] for row in lower[3:]] == [["-", "-", "-"]] * 2
    assert [row[2:5] for row in whole[3:]] == [["-", "-", "-"]] * 2
    assert float(whole[3][6]) > 50
    data = json.loads(run("--los", "--format", "json", file).out)
    assert [player["rank"] for player in data["players"]] == [1, 2, 3, 1, 2]
    assert [pool["players"] for pool in data["pools"]] == [3, 2]
    assert data["players"][2]["cfs"] is None
    assert data["superiority"][3][:3] == [None, None, None]
    assert re.search(r"^ +4 X +-    -    -", run("--los", file).out, re.MULTILINE)


@pytest.mark.parametrize("how", [(), ("-s", "20")])
def test_an_anchor_is_the_reference_of_its_own_pool_alone(run: Run, write_pgn: Callable[..., str], how: Any) -> None:
    file = write_pgn([*CORE, *APART])
    data = json.loads(run("--format", "json", "-a", "2800", "-A", "A", *how, file).out)
    alone = json.loads(run("--format", "json", *how, write_pgn(APART, "apart.pgn")).out)
    assert [pool["level"] for pool in data["pools"]] == ["A at 2800.0", "average 2800.0"]
    error = {player["player"]: player["error"] for player in data["players"]}
    if not how:
        assert error["X"] == pytest.approx(alone["players"][0]["error"])
    # About the average of two, both have the same error.
    assert error["X"] == pytest.approx(error["Y"])


def test_ordo_s_way_refuses_pools_unless_forced(run: Run, write_pgn: Callable[..., str]) -> None:
    file = write_pgn([*CORE, *APART])
    for words in (("-q", "-p", file), ("--require-connected", file)):
        answer = run(*words)
        assert answer.code == 1
        assert "RATING" not in answer.out
        assert "Groups detected: 2" in answer.err
    assert "Total games " in run("-p", file).out  # the summary stands before the warnings, as in Ordo
    assert run("-q", "-G", "-p", file).code == 0
    assert run("--require-connected", write_pgn(CORE, "one.pgn")).code == 0


def test_the_library_compares_no_pools_either() -> None:
    white, black, results = zip(*CORE, *APART, strict=True)
    score = [{"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[result] for result in results]
    found = rate(white, black, score)
    assert [row["rank"] for row in found.table()] == [1, 2, 1, 2]
    chance = found.superiority()
    assert np.isnan(chance[:2, 2:]).all()
    assert np.isnan(found.simulate(5).difference_deviation(np.array([0]), np.array([2]))).all()


# Limits and nonsense.


@pytest.mark.parametrize("words", [("--los",), ("-C", "c.csv"), ("-e", "e.csv")])
def test_matrices_beyond_the_limit_are_refused_at_once(
    run: Run, write_pgn: Callable[..., str], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(information, "MOST_IN_MATRIX", 3)
    monkeypatch.setattr("assay.results.ratings.MOST_IN_MATRIX", 3)
    file = write_pgn([*CORE, ("C", "A", "1/2-1/2"), ("D", "B", "1/2-1/2"), ("A", "B", "1-0")])
    answer = run(*words, file)
    assert (answer.code, answer.out) == (1, "")
    assert "a matrix of 4 players needs" in answer.err
    assert run(*words, "-t", "2", file).code == 0


NUMBERS = ("-a", "-w", "-u", "-d", "-k", "-z", "-F", "-s", "-t", "-n", "-N", "-U", "--prior")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e308", "-1e308", "-1", "0", "1e-300", "x", ""])
@pytest.mark.parametrize("switch", NUMBERS)
def test_every_number_is_taken_or_refused_in_a_sentence(run: Run, pool_file: str, switch: str, value: str) -> None:
    answer = run("-q", "--errors", f"{switch}{'=' if switch.startswith('--') else ''}{value}", pool_file)
    assert "bug" not in answer.err
    assert answer.code in (0, 1, 2)
    if answer.code == 0:
        assert "nan" not in answer.out.lower()
        assert "inf" not in answer.out.lower()
    else:
        assert answer.out == ""
    if value in ("nan", "inf", "-inf", "1e308", "-1e308", "x"):
        assert answer.code != 0


@pytest.mark.parametrize("words", [("-m", "nan"), ("-m", "inf"), ("-m", "1e308"), ("-g", "nan"), ("-g", "-3")])
def test_numbers_of_prep(run: Run, pool_file: str, words: tuple[str, ...]) -> None:
    answer = run(*words, pool_file, command="prep")
    assert answer.code == 2
    assert "bug" not in answer.err


@pytest.mark.parametrize(
    "how",
    [
        {"average": float("nan")},
        {"average": 1e308},
        {"white_advantage": float("inf")},
        {"white_advantage": 20.0, "white_advantage_error": 1e308},
        {"scale": float("inf")},
        {"prior": 1e-300},
        {"prior": float("inf")},
        {"anchors": {"A": float("nan")}},
        {"priors": {"A": (2000.0, 1e-200)}},
        {"relations": [("A", "B", float("inf"), 10.0)]},
        {"start": {"A": float("nan")}},
    ],
)
def test_numbers_of_the_library(how: dict[str, Any]) -> None:
    with pytest.raises(RatingError):
        rate(["A", "B", "A"], ["B", "A", "B"], [1, 0.5, 0], **how)


def test_prep_g_is_the_fewest_games(
    run: Run, write_pgn: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write_pgn([*CORE, ("C", "A", "1-0"), ("A", "B", "*")])
    answer = run("-g", "3", file, command="prep")
    assert answer.out.count("[White ") == 5
    assert not (tmp_path / "3").exists()
    assert "players left out: 1 x too few games" in answer.err
    assert 'games left out: 1 x without a result ("*")' in answer.err


def test_hostile_names_are_harmless_in_every_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = "=cmd|' /C calc'!A0\x1b]0;owned\x07\x08"
    (tmp_path / "g.pgn").write_text(
        "".join(f'[White "{w}"]\n[Black "{b}"]\n[Result "{r}"]\n\n{r}\n\n' for w, b, r in CORE).replace("A", hostile)
    )
    answer = run("-E", "-J", "-s", "5", "-o", "t.txt", "-c", "t.csv", "-e", "e.csv", "-C", "c.csv", "-j", "h.txt",
                 "g.pgn")  # fmt: skip
    assert answer.code == 0
    run("-g", "groups.txt", "g.pgn")
    for path in tmp_path.iterdir():
        if path.suffix != ".pgn":
            text = path.read_text()
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text), path.name
            assert "cmd" in text or path.name == "general.dat"
    for name in ("t.csv", "e.csv", "c.csv"):
        cells = [cell for row in csv.reader((tmp_path / name).read_text().splitlines()) for cell in row]
        assert not any(cell.lstrip().startswith("=") for cell in cells)


def test_aliases_of_nobody(run: Run, write_pgn: Callable[..., str], tmp_path: Path) -> None:
    file = write_pgn([*CORE, ("Alias", "B", "1/2-1/2")])
    aliases = tmp_path / "a.csv"
    aliases.write_text("A,Aliass\n")
    answer = run("--aliases", str(aliases), file)
    assert answer.code == 1
    assert 'nobody is called "Aliass"' in answer.err
    assert 'Did you mean "Alias"?' in answer.err
    # Lists of synonyms are kept for many events: Ordo's way goes on, with a warning.
    ordo = run("-q", "-Y", str(aliases), "-p", file)
    assert ordo.code == 0
    assert 'nobody is called "Aliass"' in ordo.err
    assert run("-q", "--no-warnings", "-Y", str(aliases), "-p", file).err == ""
    assert "Did you mean" in run("-A", "alias", file).err


def tagged(*games: tuple[str, str, str, str]) -> str:
    """Games as PGN: White, Black, result, more tags."""
    return "".join(f'[White "{w}"]\n[Black "{b}"]\n[Result "{r}"]\n{more}\n{r}\n\n' for w, b, r, more in games)


def test_terminations_are_counted_and_can_be_left_out(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    forfeit, normal = '[Termination "Time forfeit"]\n', '[Termination "normal"]\n'
    draws = [("A", "B", "1/2-1/2", normal), ("B", "A", "1/2-1/2", normal)]
    file.write_text(tagged(*draws, ("A", "B", "1-0", forfeit), ("B", "A", "1-0", '[Termination "abandoned"]\n')))
    answer = run(str(file), "--format", "json")
    assert json.loads(answer.out)["games"]["terminations"] == {"normal": 2, "time forfeit": 1, "abandoned": 1}
    assert "counted by termination: 1 x abandoned, 1 x time forfeit" in answer.err
    fewer = run(str(file), "--exclude-termination", "time forfeit", "--format", "json")
    assert json.loads(fewer.out)["games"]["counted"] == 3
    kept = run(str(file), "--exclude-termination", "time forfeit", "--exclude-termination", "abandoned", command="prep")
    assert kept.out.count("[White ") == 2


def test_pairs_survive_the_index_and_prep(run: Run, tmp_path: Path) -> None:
    file, index, shrunk = (tmp_path / name for name in ("games.pgn", "games.parquet", "shrunk.pgn"))
    moves = [(f'[FEN "{n}/8/8/8/8/8/8/8 w - - 0 1"]\n[TimeControl "8+0.08"]\n', n) for n in range(3)]
    games = [row for more, n in moves for row in (("A", "B", "1-0", more), ("B", "A", ("1-0", "0-1")[n % 2], more))]
    file.write_text(tagged(*games))
    assert run(str(file), "-o", str(index), command="index").code == 0
    assert run(str(file), "-o", str(shrunk), command="prep").code == 0
    assert '[TimeControl "8+0.08"]' in shrunk.read_text()
    found = [json.loads(run("--pairs", "--format", "json", str(path)).out) for path in (file, index, shrunk)]
    assert found[0]["pentanomial"] == [0, 0, 2, 0, 1]
    assert found[1]["pentanomial"] == found[2]["pentanomial"] == found[0]["pentanomial"]


def test_time_controls_and_variations_survive_the_index_and_prep(run: Run, tmp_path: Path) -> None:
    """Engines play with fractions of a second; and one opening in two variations is no pair."""
    file, index, shrunk = (tmp_path / name for name in ("games.pgn", "games.parquet", "shrunk.pgn"))
    closed, open_ = (f'[ECO "C00"]\n[Opening "French"]\n[Variation "{name}"]\n' for name in ("Closed", "Open"))
    control = '[TimeControl "0.6+0.006"]\n'
    games = [("A", "B", "1-0", closed), ("B", "A", "0-1", open_), ("B", "A", "1/2-1/2", closed)]
    file.write_text(tagged(*((*row, control + more) for *row, more in games)))
    assert run(str(file), "-o", str(index), command="index").code == 0
    assert run(str(index), "-o", str(shrunk), command="prep").code == 0
    assert shrunk.read_text().count(control) == 3
    found = [json.loads(run("--pairs", "--format", "json", str(path)).out) for path in (file, index, shrunk)]
    assert [one["pentanomial"] for one in found] == [[0, 0, 0, 1, 0]] * 3
    rows = json.loads(run(str(index), "--where", "increment_seconds < 0.01", "--format", "json", command="filter").out)
    assert "3" in json.dumps(rows)
    seconds = pl.read_parquet(index).select("base_seconds", "increment_seconds").row(0)
    assert seconds == (0.6, 0.006)


def test_an_index_of_an_earlier_version_is_read(run: Run, tmp_path: Path) -> None:
    """Whole seconds, and neither FEN nor variation: what it lacks is not known."""
    file, index, older = (tmp_path / name for name in ("games.pgn", "games.csv", "older.csv"))
    file.write_text(tagged(("A", "B", "1-0", '[TimeControl "60+1"]\n'), ("B", "A", "1/2-1/2", "")))
    run(str(file), "-o", str(index), command="index")
    rows = pl.read_csv(index).drop("fen", "variation").with_columns(pl.col("base_seconds").cast(pl.Int64))
    rows.write_csv(older)
    older.with_name("older.csv.manifest.json").write_bytes((tmp_path / "games.csv.manifest.json").read_bytes())
    assert json.loads(run("--format", "json", str(older)).out)["games"]["counted"] == 2
    assert run(str(older), "--where", "base_seconds == 60", command="filter").code == 0


def test_anchors_that_contradict_the_games_are_remarked_on(
    run: Run, write_pgn: Callable[..., str], tmp_path: Path
) -> None:
    games = [("A", "B", "1-0"), ("B", "A", "0-1"), ("A", "C", "1/2-1/2"), ("C", "B", "1-0")] * 20
    file = write_pgn([*games, ("B", "A", "1-0"), ("B", "C", "1-0")])
    anchors = tmp_path / "anchors.csv"
    anchors.write_text('"A",2000\n"B",2400\n')
    answer = run("-m", str(anchors), file)
    assert answer.code == 0
    assert 'the anchor "B" at 2400 made 2 of 62 points' in answer.err
    anchors.write_text('"A",2600\n"B",2000\n')
    assert "contradict" not in run("-m", str(anchors), file).err
    anchors.write_text('"A",2600\n"A",2500\n')
    twice = run("-m", str(anchors), file)
    assert twice.code == 1
    assert '"A" is given twice, with 2600 and 2500' in twice.err


def test_elostat_files_have_errors_without_simulations(
    run: Run, pool_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "ERROR" not in run("-q", "-E", "-p", pool_file).out  # the table stays Ordo's
    line = next(row for row in (tmp_path / "rating.dat").read_text().splitlines() if "P00" in row)
    assert float(line.split(":")[1].split()[1]) > 10.0


@pytest.mark.parametrize("kind", ["tuple", "arrays", "mapping", "frame", "scores"])
def test_the_front_door_takes_columns_and_warns_as_the_command_does(kind: str) -> None:
    import polars as pl

    import assay

    white, black, result = (
        ["A", "B", "C", "D", None],
        ["B", "A", "D", "C", "A"],
        ["1-0", "1/2-1/2", "1-0", "1-0", "1-0"],
    )
    scores = [1.0, 0.5, 1.0, 1.0, 1.0]
    what = {
        "tuple": (white, black, result),
        "arrays": (np.array(white, object), np.array(black, object), np.array(result, object)),
        "mapping": {"White": white, "Black": black, "Result": result},
        "frame": pl.DataFrame({"white": white, "black": black, "result": result}),
        "scores": (white, black, scores),
    }[kind]
    with pytest.warns(AssayWarning) as seen:
        answer = assay.rate_results(what)
    assert any("no games connect 2 pools" in str(each.message) for each in seen)
    assert any("1 x no White tag" in str(each.message) for each in seen)
    assert answer.games["counted"] == 4
    assert answer.table["player"].to_list()[0] == "A"
    assert answer.table["pool"].to_list() == [1, 1, 2, 2]


def test_columns_of_two_lengths_are_told() -> None:
    import assay

    with pytest.raises(InputError, match="one length"):
        assay.rate_results((["A"], ["B", "C"], ["1-0"]))
