"""Python's collector of cyclic garbage while a model is compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Young objects before a collection, and collections before one of older objects.
_THRESHOLDS = (50_000, 10, 20)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect rarely. Graphs are large webs of objects that live for long: the default thresholds search them again and
    again, which takes a tenth of a compilation."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
