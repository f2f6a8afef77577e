"""Python's collector of cyclic garbage while a model is compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect rarely: graphs are large webs that live long, and by default a tenth of the time is spent on them."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 10, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
