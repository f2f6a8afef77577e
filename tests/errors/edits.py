"""Documents as a stranger edits them: every value of a document replaced by others, removed, or nested."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

NESTED: Any = 0
for _ in range(300):
    NESTED = [NESTED]

#: What takes the place of a value.
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 7, 0.5, 1 << 31, 1 << 70, -(1 << 63), float("inf"), float("nan"), "", "x", "../../x"),
    *("\ud800", "a\0b", "9" * 5000, [], {}, [0], [-1], ["x"], {"x": 1}, NESTED),
)


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*here, key)
        yield from places(part, (*here, key))


def edited(document: dict[str, Any], seed: int, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Copies with one change each: where and to what, and the copy. Text is exchanged with other text of the document
    too."""
    draw = random.Random(seed)
    ways = list(places(document))
    for _ in range(count):
        way = draw.choice(ways)
        made = copy.deepcopy(document)
        holder = made
        for key in way[:-1]:
            holder = holder[key]
        kind = draw.randrange(10)
        if kind == 0:
            del holder[way[-1]]
        elif kind == 1:
            other = made
            for key in draw.choice(ways):
                other = other[key]
            holder[way[-1]] = copy.deepcopy(other)
        else:
            holder[way[-1]] = draw.choice(VALUES)
        yield f"{way}: {str(holder[way[-1]])[:60] if kind else 'removed'}", made
