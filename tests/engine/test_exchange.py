"""Analyses out and in again: the same store, in either format; rows that are wrong are counted, not believed."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.engine.analysis import Outcome
from assay.engine.exchange import export, import_file
from assay.engine.identity import NO_DEPTH, Search
from assay.engine.parquet import parquet_rows
from assay.engine.store import LeftOut, Store, writing
from assay.errors import InputError, OutputError
from assay.presets import ALL_LINES

MATE = {
    "fen": "6k1/5ppp/8/8/8/8/8/K6R w - - 0 1",
    "moves": ["h1h7", "a1b1"],
    "scores": {"1": ["#-2", 10], "2": [None, "#5"], "3": [-300, -310]},
}


def everything(path: Path) -> list[Any]:
    with Store(path) as store:
        return [
            (kept.identity, list(store.all_valued(kept.id)), list(store.all_left_out(kept.id)), store.games(kept.id))
            for kept in store.kept()
        ]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def test_a_store_comes_back_whole(
    name: str, fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    analysed(fake())
    analysed(fake(name="Other"), lines=4)
    analysed(fake(), nodes=1000)
    analysed(fake(), nodes=500, depth=NO_DEPTH)
    with writing(tmp_path / "store.db") as store:
        store.add(1, [LeftOut(b"\0" * 32 + b"\1\10\0", "decided", -31_995)])
        mates = write(tmp_path / "mates.jsonl", {**MATE, "engine": "Mater"})
        import_file(mates, store, search=Search("none"))
        count = export(store, tmp_path / name, quiet=True)
    with writing(tmp_path / "back.db") as store:
        back = import_file(tmp_path / name, store, search=Search("none"), quiet=True)
    assert back.refused == {"not a legal position": 1}  # the empty board above
    before, after = everything(tmp_path / "store.db"), everything(tmp_path / "back.db")
    before[0][2].pop(0)
    assert after == before
    assert len(before[0][3]) == 2
    assert count == back.valued + back.left_out + 1


def test_rows_without_an_engine_belong_to_the_one_that_gives_the_same_values(
    fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    analysed(fake(), lines=5)
    with Store(tmp_path / "store.db") as store:
        export(store, tmp_path / "named.jsonl", quiet=True)
    rows = [json.loads(line) for line in (tmp_path / "named.jsonl").read_text().splitlines()]
    bare = write(
        tmp_path / "bare.jsonl",
        *({k: r[k] for k in ("fen", "moves", "scores") if k in r} for r in rows if "moves" in r),
    )

    with writing(tmp_path / "same.db") as store:
        import_file(bare, store, search=Search(fake()), quiet=True)
        assert store.kept()[0].identity == everything(tmp_path / "store.db")[0][0]
    with writing(tmp_path / "named.db") as store:
        import_file(bare, store, search=Search("no-such-engine"), named="Rybka 3", quiet=True)
        assert (store.kept()[0].identity.engine, store.kept()[0].identity.lines) == ("Rybka 3", 5)
    with writing(tmp_path / "none.db") as store, pytest.raises(InputError, match="there is none here to compare with"):
        import_file(bare, store, search=Search("no-such-engine"), quiet=True)

    rows[0]["scores"]["3"][0] += 1
    wrong = write(tmp_path / "wrong.jsonl", *({k: r[k] for k in ("fen", "moves", "scores")} for r in rows[:3]))
    with writing(tmp_path / "wrong.db") as store, pytest.raises(InputError, match=r"gives other values \(1 of 3"):
        import_file(wrong, store, search=Search(fake()), quiet=True)


def test_games_are_counted_by_their_last_position(tmp_path: Path) -> None:
    rows = [{**MATE, "engine": "M", "game": "one", "ply": ply} for ply in (20, 21)]
    with writing(tmp_path / "store.db") as store:
        assert import_file(write(tmp_path / "in.jsonl", *rows), store, search=Search("none"), quiet=True).games == 1
        assert [(kept.games, kept.positions, kept.depth) for kept in store.kept()] == [(1, 1, 3)]
        assert store.kept()[0].identity.lines == ALL_LINES


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"fen": "nonsense"}, "expected"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "not a legal position"),
        ({"fen": None}, ""),
        ({"moves": ["h1h7", "h1h7"]}, "listed twice"),
        ({"moves": ["h1h7", "a1a9"]}, "not legal"),
        ({"moves": []}, "or none"),
        ({"scores": {}}, "scores without a depth"),
        ({"scores": {"0": [1, 2]}}, "scores without a depth"),
        ({"scores": {"1": [1]}}, "not as many scores as moves"),
        ({"scores": {"1": [1, None]}}, "without a score at the last depth"),
        ({"scores": {"1": [1, "mate"]}}, "no score"),
        ({"scores": [[1, 2]]}, ""),
        ({"nodes": 10**25}, "is no count"),
        ({"limit": {"lines": -1}}, "is no count"),
        ({"limit": {"depth": -1}}, "is no count"),
        ({"limit": {"depth": 10**6}}, "no engine goes beyond 244"),
        ({"limit": {"depth": 10**30}}, "is no count"),
        ({"limit": {"depth": 6}}, "scores to depth 3 of a search to depth 6"),
        ({"scores": {"1": [30, 20]}, "limit": {"depth": 6}}, "scores to depth 1 of a search to depth 6"),
        ({"scores": {"1": ["#" + "9" * 5000, 20]}}, ""),
        ({"limit": {"nodes": 1e999}}, "infinity"),
        ({"engine": "\ud800"}, "surrogates"),
    ],
)
def test_a_wrong_row_is_counted_and_the_others_are_read(change: dict[str, object], why: str, tmp_path: Path) -> None:
    good = {**MATE, "engine": "M"}
    file = write(tmp_path / "in.jsonl", {**good, **change}, good)
    with writing(tmp_path / "store.db") as store:
        found = import_file(file, store, search=Search("none"), quiet=True)
    assert (found.valued, found.refused.total()) == (1, 1)
    assert why in found.first_refused


@pytest.mark.parametrize(
    ("scores", "limit"),
    [
        ({"1": [1, 2], "2": [1, 2]}, {"depth": 3}),  # the last depth was one of bounds
        ({"1": ["#2", 2]}, {"depth": 30}),  # mate in sight
        ({"1": ["#-2", "#-1"]}, {"depth": 30}),
        ({"1": [1, 2]}, {"depth": 30, "nodes": 100}),  # the nodes ran out
    ],
)
def test_a_search_may_stop_early_for_a_reason(scores: object, limit: object, tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", {**MATE, "engine": "M", "scores": scores, "limit": limit})
    with writing(tmp_path / "store.db") as store:
        assert import_file(file, store, search=Search("none"), quiet=True).valued == 1


def test_rows_cut_to_a_lesser_depth_serve_no_greater_one(
    fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    analysed(fake(), depth=6)
    with Store(tmp_path / "store.db") as store:
        export(store, tmp_path / "whole.jsonl", quiet=True)
    rows = [json.loads(line) for line in (tmp_path / "whole.jsonl").read_text().splitlines()]
    cut = [{**row, "scores": {"1": row["scores"]["1"]}} for row in rows if "scores" in row]
    with (
        writing(tmp_path / "cut.db") as store,
        pytest.raises(InputError, match="scores to depth 1 of a search"),
    ):
        import_file(write(tmp_path / "cut.jsonl", *cut), store, search=Search("none"), quiet=True)


def test_a_search_that_never_ends_is_not_compared(fake: Callable[..., str], tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", {**MATE, "limit": {"nodes": 10**15}})
    with (
        writing(tmp_path / "store.db") as store,
        pytest.raises(InputError, match=r"too long to compare.*--engine"),
    ):
        import_file(file, store, search=Search(fake()), quiet=True)


def test_a_line_without_end_is_passed_over(tmp_path: Path) -> None:
    good = json.dumps({**MATE, "engine": "M"}).encode()
    file = tmp_path / "in.jsonl"
    file.write_bytes(good + b"\n" + b'{"fen": "' + b"x" * (40 << 20) + b'"}\n' + good + b"\n" + b"y" * (20 << 20))
    tracemalloc.start()
    with writing(tmp_path / "store.db") as store:
        found = import_file(file, store, search=Search("none"), quiet=True)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.valued, found.refused) == (2, {"a line of more than 4 MB": 2})
    assert held < 30 << 20


def test_reasons_are_told_and_not_hoarded(tmp_path: Path) -> None:
    rows = [{**MATE, "scores": {"1": [1, f"{number}" * 1000]}} for number in range(3000)]
    with writing(tmp_path / "store.db") as store:
        found = import_file(write(tmp_path / "in.jsonl", {**MATE, "engine": "M"}, *rows), store, search=Search("none"))
    assert found.refused.total() == 3000
    assert len(found.refused) <= 1001
    assert max(map(len, found.refused)) <= 200


@pytest.mark.parametrize("content", ["", "\n\n", "no json\n", "[1, 2]\n", '{"fen": 1}\n'])
def test_a_file_without_a_good_row_is_an_error(content: str, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(content)
    with writing(tmp_path / "store.db") as store, pytest.raises(InputError, match="holds no analysis"):
        import_file(file, store, search=Search("none"), quiet=True)


def test_a_limit_of_nodes_is_kept_where_no_engine_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", {**MATE, "limit": {"nodes": 900}})
    with writing(tmp_path / "store.db") as store:
        import_file(file, store, search=Search("none"), named="M", quiet=True)
        assert store.kept()[0].identity.nodes == 900
        other = write(tmp_path / "other.jsonl", {**MATE, "limit": {"nodes": 900}}, MATE)
        with pytest.raises(InputError, match="different limits of nodes are mixed"):
            import_file(other, store, search=Search("none"), named="M", quiet=True)


def test_a_nest_without_end_is_a_row_that_is_none(tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", "[" * 100_000, {**MATE, "engine": "M"})
    with writing(tmp_path / "store.db") as store:
        assert import_file(file, store, search=Search("none"), quiet=True).refused == {"not a JSON object": 1}


def test_a_damaged_footer_never_ends_the_process(tmp_path: Path) -> None:
    # PyArrow aborts where the sizes of a column's pages do not fit together: one of some sixty of these flips.
    with writing(tmp_path / "store.db") as store:
        import_file(write(tmp_path / "in.jsonl", {**MATE, "engine": "M"}), store, search=Search("none"), quiet=True)
        export(store, tmp_path / "out.parquet", quiet=True)
    whole = (tmp_path / "out.parquet").read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little")
    told = 0
    for at in range(len(whole) - 8 - footer, len(whole), 5):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << 5
        (tmp_path / "damaged.parquet").write_bytes(damaged)
        try:
            list(parquet_rows(tmp_path / "damaged.parquet"))
        except InputError as error:
            told += 1
            assert str(error).endswith(".")
    assert told > 50


def test_what_is_no_parquet_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "in.parquet").write_text("text")
    with writing(tmp_path / "store.db") as store:
        with pytest.raises(InputError, match="cannot be read as Parquet"):
            import_file(tmp_path / "in.parquet", store, search=Search("none"), quiet=True)
        with pytest.raises(InputError, match="cannot read"):
            import_file(tmp_path / "nowhere.jsonl", store, search=Search("none"), quiet=True)
        with pytest.raises(InputError, match=r"name the file \.parquet"):
            export(store, tmp_path / "out.csv", quiet=True)
        with pytest.raises(OutputError, match="does not exist"):
            export(store, tmp_path / "nowhere" / "out.jsonl", quiet=True)
