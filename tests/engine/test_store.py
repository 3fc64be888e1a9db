"""The store: what serves which question, what replaces what, and files that are no store."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.engine.analysis import Outcome
from assay.engine.identity import Identity
from assay.engine.store import LeftOut, Store, Writer, writing
from assay.engine.uci import Valued
from assay.errors import StoreError
from assay.presets import ALL_LINES

ENGINE = Identity("Fish 1", "net", (("Hash", "16"),), nodes=0, lines=50)


def valued(name: str, *, depth: int = 3, legal: int = 2, listed: int | None = None) -> Valued:
    """A position with made-up values."""
    moves = np.arange(1, (listed or legal) + 1, dtype="<u2")
    scores = np.arange(depth * len(moves), dtype="<i2")
    return Valued(name.encode().ljust(35), depth, depth, legal, 10, 5, moves.tobytes(), scores.tobytes())


# All keys that any test stores, the damaged one included.
NAMES = [b"\0", b"k" * 35, *(name.encode().ljust(35) for name in ("a", "b", "c", "few", "many"))]


@pytest.fixture
def store(tmp_path: Path):  # type: ignore[no-untyped-def]
    with writing(tmp_path / "store.db") as opened:
        yield opened


def with_lines(lines: int) -> Identity:
    return Identity(ENGINE.engine, ENGINE.net, ENGINE.options, ENGINE.nodes, lines)


def test_what_is_stored_comes_back(store: Store) -> None:
    number = store.number_of(ENGINE)
    out = LeftOut(b"k" * 35, "decided", 612)
    store.add(number, [valued("a"), valued("b", depth=1), out])
    assert list(store.all_valued(number)) == [valued("a"), valued("b", depth=1)]
    assert list(store.all_left_out(number)) == [out]
    (kept,) = store.kept()
    assert (kept.identity, kept.positions, kept.left_out, kept.least_depth, kept.depth) == (ENGINE, 2, 1, 1, 3)


def test_a_lesser_depth_is_covered_and_a_greater_one_is_not(store: Store) -> None:
    store.add(store.number_of(ENGINE), [valued("a", depth=3)])
    assert [len(store.holds(ENGINE, depth, NAMES)) for depth in (1, 3, 4)] == [1, 1, 0]


def test_a_deeper_search_takes_the_place_of_a_shallower_one_and_not_the_other_way(store: Store) -> None:
    number = store.number_of(ENGINE)
    for depth in (3, 5, 4):
        store.add(number, [valued("a", depth=depth)])
    assert list(store.all_valued(number)) == [valued("a", depth=5)]


def test_fewer_lines_serve_where_all_moves_are_listed_anyway(store: Store) -> None:
    store.add(store.number_of(with_lines(3)), [valued("few", legal=3), valued("many", legal=9, listed=3)])
    assert [key.strip() for key in store.holds(with_lines(ALL_LINES), 3, NAMES)] == [b"few"]
    assert [key.strip() for key in store.holds(with_lines(2), 3, NAMES)] == []
    assert sorted(key.strip() for key in store.holds(with_lines(3), 3, NAMES)) == [b"few", b"many"]


def test_another_engine_net_option_or_node_limit_does_not_serve(store: Store) -> None:
    store.add(store.number_of(ENGINE), [valued("a")])
    for other in (
        Identity("Fish 2", "net", ENGINE.options, 0, 50),
        Identity("Fish 1", "other", ENGINE.options, 0, 50),
        Identity("Fish 1", "net", (("Hash", "32"),), 0, 50),
        Identity("Fish 1", "net", ENGINE.options, 1000, 50),
    ):
        assert not store.holds(other, 1, NAMES)


def test_scores_are_read_at_the_depth_asked_for_or_the_last_before(store: Store) -> None:
    number = store.number_of(ENGINE)
    store.add(number, [valued("a", depth=3)])
    rows = list(store.holds(ENGINE, 1, NAMES).values())
    at = {depth: np.frombuffer(store.read_bytes(rows, depth)[0][2], "<i2").tolist() for depth in (1, 3, 9)}
    assert at == {1: [0, 1], 3: [4, 5], 9: [4, 5]}
    assert store.read_bytes(rows)[0][2] == valued("a", depth=3).scores


def test_the_analysis_that_is_meant(store: Store) -> None:
    store.add(store.number_of(with_lines(1)), [valued(name) for name in "abc"])
    assert store.choose(depth=3).lines == 1
    store.add(store.number_of(with_lines(50)), [valued(name) for name in "ab"])
    assert store.choose(depth=3).lines == 50  # a wide survey by one line stands beside it
    assert store.choose(depth=3, lines=1).lines == 1
    assert store.choose("fish", depth=2, lines=50).lines == 50
    assert store.choose("fish", depth=2, lines=20).lines == 20  # positions with up to 20 moves serve
    with pytest.raises(StoreError, match="no analyses at depth 9; it holds: Fish 1, 1 line, depth 3; Fish 1, 50 lines"):
        store.choose(depth=9)
    with pytest.raises(StoreError, match="no analyses by 'shark'"):
        store.choose("shark", depth=3)
    store.add(store.number_of(Identity("Fish 2", "", (), 0, 50)), [valued("a")])
    with pytest.raises(StoreError, match="several engines: say which with --engine"):
        store.choose(depth=3)
    assert store.choose("Fish 2", depth=3).engine == "Fish 2"


def test_a_writer_that_cannot_write_says_so(store: Store) -> None:
    number = store.number_of(ENGINE)
    store._db.execute("PRAGMA query_only = 1")
    with pytest.raises(StoreError, match="cannot be written: attempt to write"), Writer(store, number) as writer:
        writer.put(valued("a"))


def test_files_that_are_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no analysis store"):
        Store(tmp_path / "nowhere.db")
    text = tmp_path / "text.db"
    text.write_text("1. e4 e5 " * 500)
    with pytest.raises(StoreError, match="cannot be opened as an analysis store"):
        Store(text)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE a (b)")
    database.close()
    with pytest.raises(StoreError, match="is not an analysis store"):
        Store(other)
    with pytest.raises(StoreError, match="is not an analysis store"), writing(other):
        pass
    damaged = tmp_path / "damaged.db"
    with writing(damaged) as store:
        store.add(store.number_of(ENGINE), [valued(f"{number}") for number in range(2000)])
    content = bytearray(damaged.read_bytes())
    content[20_000:120_000] = b"x" * 100_000
    damaged.write_bytes(content)
    with pytest.raises(StoreError, match=r"malformed|is damaged"), Store(damaged) as store:
        list(store.all_valued(1))
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(folder)


def everything(path: Path) -> object:
    with Store(path) as store:
        return [
            (kept, list(store.all_valued(kept.id)), list(store.all_left_out(kept.id)), store.games(kept.id))
            for kept in store.kept()
        ]


def test_a_bit_turned_over_where_the_store_says_what_it_holds_is_told_or_does_no_harm(tmp_path: Path) -> None:
    """The header and the schema, on the first page: a table that begins elsewhere reads as an empty one."""
    path = tmp_path / "store.db"
    with writing(path) as store:
        number = store.number_of(ENGINE)
        store.add(number, [valued(f"{n}") for n in range(300)] + [LeftOut(b"k" * 35, "decided", 612)])
        store.add_games(number, [valued("7").key])
    whole, before, chance = path.read_bytes(), everything(path), random.Random(1)
    used = [at for at in range(8192) if whole[at]]
    for at in chance.sample(used, 400):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            assert everything(path) == before, f"byte {at} turned over, and nobody noticed"
        except StoreError as error:
            assert str(error).endswith(".")
        path.write_bytes(damaged)
        try:
            with writing(path):
                pass
        except StoreError:
            continue
        assert everything(path) == before, f"byte {at} turned over, and a writer made it worse"


def test_a_store_that_was_packed_again_is_read(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with writing(path) as store:
        store.add(store.number_of(ENGINE), [valued(f"{n}") for n in range(300)])
        store._db.execute("DELETE FROM valued WHERE id < 200")
        store._db.execute("VACUUM")
    before = everything(path)
    with writing(path) as store:
        store.mend()
    assert everything(path) == before


def test_what_is_written_to_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with writing(path) as store:
        number = store.number_of(ENGINE)
        path.unlink()
        with pytest.raises(StoreError, match="removed or replaced"):
            store.add(number, [valued("a")])
        with writing(tmp_path / "other.db"):
            pass
        (tmp_path / "other.db").rename(path)
        with pytest.raises(StoreError, match="removed or replaced"):
            store.add(number, [valued("b")])


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("analysis", "options = 'no JSON'"),
        ("analysis", "options = '[1, 2]'"),
        ("analysis", "options = '[[\"Hash\", 16]]'"),
        ("analysis", f"options = '{'[' * 50_000}'"),
        ("analysis", "lines = 'many'"),
        ("analysis", "engine = x'00'"),
        ("valued", "scores = x'0000'"),
        ("valued", "scores = 'text'"),
        ("valued", "moves = x''"),
        ("valued", "reached = 0"),
        ("valued", "reached = 9"),
        ("valued", "key = x'00'"),
        ("valued", "nodes = 'many'"),
        ("left_out", "value = 1e9"),
        ("left_out", "value = 'much'"),
        ("left_out", "reason = x'00'"),
        ("left_out", "key = x'00'"),
    ],
)
def test_a_store_that_another_hand_wrote_is_refused_where_it_makes_no_sense(
    table: str, change: str, tmp_path: Path
) -> None:
    """Rows without checksums, as in stores of the first version."""
    path = tmp_path / "store.db"
    with writing(path) as store:
        number = store.number_of(ENGINE)
        store.add(number, [valued("a"), LeftOut(b"k" * 35, "decided", 612)])
        store._db.execute(f"UPDATE {table} SET checksum = NULL, {change}")
    with pytest.raises(StoreError, match="is damaged"):
        everything(path)
    with Store(path) as store, pytest.raises(StoreError, match="is damaged"):
        store.out(ENGINE, NAMES)
        store.read_bytes(store.holds(ENGINE, 3, NAMES).values(), 3)


def test_a_value_that_changed_is_refused_until_it_is_mended(store: Store) -> None:
    number = store.number_of(ENGINE)
    store.add(number, [valued("a"), valued("b"), LeftOut(b"k" * 35, "decided", 612), LeftOut(b"l" * 35, "forced", 0)])
    assert store.mend() == 0
    store._db.execute("UPDATE valued SET scores = zeroblob(length(scores)) WHERE id = 1")
    store._db.execute("UPDATE left_out SET value = 613 WHERE value = 612")
    for read in (store.all_valued, store.all_left_out):
        with pytest.raises(StoreError, match=r"is damaged: .* 'assay analyses --store \S+ --mend' takes them out"):
            list(read(number))
    assert store.mend() == 2
    assert list(store.all_valued(number)) == [valued("b")]
    assert list(store.all_left_out(number)) == [LeftOut(b"l" * 35, "forced", 0)]


def test_mending_takes_out_no_other_analysis_of_the_position(store: Store) -> None:
    out = LeftOut(b"k" * 35, "decided", 612)
    for number in (store.number_of(ENGINE), store.number_of(with_lines(1))):
        store.add(number, [valued("a"), out])
    store._db.execute("UPDATE left_out SET value = 613 WHERE analysis = 1")
    store._db.execute("UPDATE valued SET reached = 2 WHERE analysis = 1")
    assert store.mend() == 2
    assert (list(store.all_valued(2)), list(store.all_left_out(2))) == ([valued("a")], [out])


def test_an_analysis_that_no_longer_says_who_made_it_goes_with_its_positions(store: Store) -> None:
    store.add(store.number_of(ENGINE), [valued("a")])
    store._db.execute("UPDATE analysis SET engine = 'Fisi 1'")
    with pytest.raises(StoreError, match="is damaged"):
        store.kept()
    assert store.mend() == 2
    assert store.kept() == []


def test_a_store_without_checksums_is_read_and_gets_them_when_it_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with writing(path) as store:
        number = store.number_of(ENGINE)
        store.add(number, [valued("old")])
        for table in ("analysis", "valued", "left_out"):
            store._db.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
        store._db.execute("DROP TABLE seal")
        store._db.execute("PRAGMA user_version = 1")
    with Store(path) as store:
        assert list(store.all_valued(number)) == [valued("old")]
    with writing(path) as store:
        store.add(store.number_of(ENGINE), [valued("new")])
        assert [result.key.strip() for result in store.all_valued(number)] == [b"old", b"new"]
        assert store._db.execute("SELECT checksum NOT NULL FROM valued").fetchall() == [(0,), (1,)]


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with writing(path) as store:
        store._db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer version of Assay"):
        Store(path)


def test_a_second_run_costs_nothing_and_a_deeper_one_starts_anew(
    fake: Callable[..., str], analysed: Callable[..., Outcome]
) -> None:
    first = analysed(fake(), depth=3)
    assert first.valued == first.positions - first.left_out.total() > 10
    for depth, valued_now in ((3, 0), (2, 0), (4, first.valued)):
        again = analysed(fake(), depth=depth)
        assert (again.valued, again.known) == (valued_now, first.positions - valued_now)
