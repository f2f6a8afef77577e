"""Runs passes in their declared order, with observers around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from match_core.contract.model import Model
from match_core.contract.passes import Observer, Pass, PassContext
from match_core.passes.order import order_passes


def run_passes(model: Model, passes: Iterable[Pass], context: PassContext, observers: Sequence[Observer] = ()) -> Model:
    """Run the passes in their declared order, regardless of their order in ``passes``."""
    for item in order_passes(passes):
        for observer in observers:
            observer.before_pass(item, model)
        after = item.run(model, context.of(item))
        for observer in observers:
            observer.after_pass(item, model, after)
        model = after
    return model
