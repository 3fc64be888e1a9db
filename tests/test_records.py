"""The quick frozen dataclasses do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest

from assay import records


def made(dataclass: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """A class, one that adds to it, and one that is compared by what it is and has names alone."""

    @dataclass(frozen=True)
    class Point:
        """A point."""

        x: int
        y: int = 0
        near: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("left of the origin")

        @cached_property
        def far(self) -> int:
            return self.x + self.y

    @dataclass(frozen=True)
    class High(Point):
        z: int = 7

        def __repr__(self) -> str:
            return "high"

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Named:
        name: str

    return Point, High, Named


CLASSES = made(records.dataclass), made(dataclasses.dataclass)


@pytest.mark.parametrize(
    "told",
    [
        lambda point, high, named: repr((point(1), high(2), named(name="a"))).replace("made.<locals>.", ""),
        lambda point, high, named: (point(1) == point(1, 0, [3]), point(1) == point(2), point(1) == 1),
        lambda point, high, named: (high(1) == point(1), high(1) == high(1), named(name="a") == named(name="a")),
        lambda point, high, named: (hash(point(1)) == hash(point(1, near=[2])), len({high(1), high(1), high(2)})),
        lambda point, high, named: [str(inspect.signature(kind)) for kind in (point, high, named)],
        lambda point, high, named: [field.name for field in dataclasses.fields(high)],
        lambda point, high, named: dataclasses.asdict(high(1, 2)),
        lambda point, high, named: dataclasses.replace(point(1, 2), y=3).far,
        lambda point, high, named: (copy.deepcopy(high(1, 2, [3])).near, copy.copy(point(4)).x),
        lambda point, high, named: point.__match_args__,
    ],
)
def test_alike(told: Callable[..., Any]) -> None:
    quick, usual = (told(*kinds) for kinds in CLASSES)
    assert quick == usual


@pytest.mark.parametrize("kinds", CLASSES, ids=["quick", "usual"])
def test_nothing_changes(kinds: tuple[Any, Any, Any]) -> None:
    point, high, named = kinds
    for thing, name in ((point(1), "x"), (high(1), "y"), (high(1), "z"), (named(name="a"), "name"), (point(1), "new")):
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            setattr(thing, name, 5)
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            delattr(thing, name)
    with pytest.raises(ValueError, match="left"):
        dataclasses.replace(point(1), x=-1)
    with pytest.raises(TypeError):
        point()


@records.dataclass(frozen=True)
class Sent:
    """What goes to another process."""

    what: str


def test_pickled() -> None:
    assert pickle.loads(pickle.dumps(Sent("a"))) == Sent("a")


def test_what_changes_is_left_to_the_library() -> None:
    @records.dataclass
    class Count:
        n: int = 0

    count = Count()
    count.n += 1
    assert count == Count(1)
