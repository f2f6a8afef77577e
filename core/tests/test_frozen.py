"""``frozen.dataclass`` gives what ``dataclasses.dataclass`` gives, and compiles no method before its first call."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any, ClassVar

import pytest
from match_core import frozen


def _body(decorator: Any, *, slots: bool) -> Any:
    @decorator(frozen=True, slots=slots)
    class Point:
        """A point."""

        x: int
        names: list[str] = dataclasses.field(default_factory=list, compare=False)
        y: int = dataclasses.field(default=2, repr=False)
        axes: ClassVar[int] = 2

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(self.x)

        @property
        def sum(self) -> int:
            """x + y."""
            return self.x + self.y

    return Point


@frozen.dataclass(frozen=True, slots=True)
class Stored:
    """At module level, so that it can be pickled."""

    a: int
    b: tuple[int, ...] = ()


@pytest.mark.parametrize("slots", [True, False])
def test_it_is_the_standard_decorator(slots: bool) -> None:
    ours, standard = (_body(decorator, slots=slots) for decorator in (frozen.dataclass, dataclasses.dataclass))
    seen = [
        (
            str(inspect.signature(point)),
            repr(point(1)).rpartition(".")[2],
            hash(point(1, y=4)),
            point(1) == point(1, ["z"]),
            point(1) != point(2),
            point(1) == 1,
            dataclasses.replace(point(1), x=3).sum,
            dataclasses.asdict(point(1)),
            [(each.name, each.type) for each in dataclasses.fields(point)],
            point.__match_args__,
            hasattr(point(1), "__dict__"),
        )
        for point in (ours, standard)
    ]
    assert seen[0] == seen[1]
    with pytest.raises(ValueError):
        ours(-1)
    for change in (lambda: setattr(ours(1), "x", 2), lambda: delattr(ours(1), "x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()


def _plain(decorator: Any) -> Any:
    @decorator(frozen=True)
    class Plain:
        """Fields that are all plain arguments."""

        a: int
        b: tuple[int, ...] = (1,)
        c: str = "c"

        def __post_init__(self) -> None:
            object.__setattr__(self, "c", self.c + "!")

    return Plain


def test_arguments_are_those_of_the_standard_decorator() -> None:
    ours, standard = _plain(frozen.dataclass), _plain(dataclasses.dataclass)
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))
    assert ours.__init__.__annotations__ == standard.__init__.__annotations__
    assert ours.__init__.__qualname__ == standard.__init__.__qualname__
    assert [vars(kind(1, c="d")) for kind in (ours, standard)] == [{"a": 1, "b": (1,), "c": "d!"}] * 2
    for wrong in ((), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match=r"Plain\.__init__"):
            ours(*wrong)


def test_methods_are_compiled_when_they_are_called() -> None:
    point = _body(frozen.dataclass, slots=True)
    late = type(vars(point)["__init__"])
    point(1)
    kinds = {name: type(vars(point)[name]) is late for name in ("__init__", "__repr__", "__eq__", "__hash__")}
    assert kinds == {"__init__": False, "__repr__": True, "__eq__": True, "__hash__": True}


def test_copies_and_pickles() -> None:
    stored = Stored(1, (2,))
    assert copy.copy(stored) == copy.deepcopy(stored) == pickle.loads(pickle.dumps(stored)) == stored


def test_a_standard_class_may_derive() -> None:
    @dataclasses.dataclass(frozen=True)
    class More(Stored):
        c: int = 3

    assert dataclasses.replace(More(1), c=4) == More(1, (), 4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        More(1).a = 2  # type: ignore[misc]


def test_other_classes_are_left_to_the_standard_decorator() -> None:
    @frozen.dataclass
    class Changes:
        a: int = 1

    changes = Changes()
    changes.a = 2
    assert changes == Changes(2)
