"""The passes of the core, and running passes with observers around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from match_core.hardware import Soc, Unit
from match_core.ir.model import Model
from match_core.transforms.base import Pass, PassContext, Phase
from match_core.transforms.order import order_passes


class Observer(Protocol):
    """Sees every pass: progress, dumps, timing and verification are observers."""

    def before_pass(self, item: Pass, model: Model) -> None:
        """Called with the model that the pass will get."""
        ...

    def after_pass(self, item: Pass, before: Model, after: Model) -> None:
        """Called with the model before and the model after."""
        ...


def core_passes(soc: Soc, units: Sequence[Unit], quantized_io: bool = False) -> tuple[Pass, ...]:
    """The core's passes for a Soc with these units (all of them, host included), in running order. ``quantized_io``:
    also the one that takes quantisers off the graph's ends."""
    from match_core.transforms.clean_up import CLEAN_UP
    from match_core.transforms.constant_nodes import CONSTANT_NODES
    from match_core.transforms.dequantise_constants import DEQUANTISE_CONSTANTS
    from match_core.transforms.explicit_geometry import EXPLICIT_GEOMETRY
    from match_core.transforms.fold_batch_norm import FOLD_BATCH_NORM
    from match_core.transforms.fold_constants import FOLD_CONSTANTS
    from match_core.transforms.fold_padding import FOLD_PADDING
    from match_core.transforms.integerise import INTEGERISE
    from match_core.transforms.narrow_integers import NARROW_INTEGERS
    from match_core.transforms.nhwc_layout import NHWC_LAYOUT
    from match_core.transforms.normalise_gemm import NORMALISE_GEMM
    from match_core.transforms.qoperator_to_qdq import QOPERATOR_TO_QDQ
    from match_core.transforms.recognise_functions import RECOGNISE_FUNCTIONS
    from match_core.transforms.recognise_requant import RECOGNISE_REQUANT
    from match_core.transforms.remove_dead_nodes import REMOVE_DEAD_NODES
    from match_core.transforms.remove_identities import REMOVE_IDENTITIES
    from match_core.transforms.unsigned_activations import UNSIGNED_ACTIVATIONS

    passes = [
        REMOVE_DEAD_NODES,
        CONSTANT_NODES,
        FOLD_CONSTANTS,
        REMOVE_IDENTITIES,
        EXPLICIT_GEOMETRY,
        FOLD_BATCH_NORM,
        FOLD_PADDING,
        NORMALISE_GEMM,
        RECOGNISE_FUNCTIONS,
        QOPERATOR_TO_QDQ,
        RECOGNISE_REQUANT,
        NARROW_INTEGERS,
        INTEGERISE,
        UNSIGNED_ACTIVATIONS,
        DEQUANTISE_CONSTANTS,
        CLEAN_UP,
    ]
    if quantized_io:
        from match_core.transforms.quantised_ends import QUANTISED_ENDS

        passes.append(QUANTISED_ENDS)
    if any(unit.layout == "NHWC" for unit in units):
        passes.append(NHWC_LAYOUT)
    return order_passes(passes)


def run_passes(model: Model, passes: Iterable[Pass], context: PassContext, observers: Sequence[Observer] = ()) -> Model:
    """Run the passes in their declared order (whatever order they come in). Where nobody observes the models between
    them, the passes before those of targets change one copy."""
    if not observers:
        model = replace(model.copy(), lent=True)
    for item in order_passes(passes):
        for observer in observers:
            observer.before_pass(item, model)
        model = replace(model, lent=model.lent and item.phase < Phase.TARGET)
        after = item.run(model, context)
        for observer in observers:
            observer.after_pass(item, model, after)
        model = after
    return replace(model, lent=False)
