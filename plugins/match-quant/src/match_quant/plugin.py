"""The hooks of match-quant: passes that bring networks into the forms that units take, and the verb ``quantize``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.commands import Command
from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

    from match_core.contract.hardware import Soc
    from match_core.contract.passes import Pass

match_contract = 1


@hookimpl
def match_transforms(soc: Soc) -> tuple[Pass, ...]:
    """Quantised operators become integer operators with explicit requantisation; layers take in padding and batch
    normalisation; activations move to NHWC."""
    from match_quant.dequantise_constants import DEQUANTISE_CONSTANTS
    from match_quant.explicit_geometry import EXPLICIT_GEOMETRY
    from match_quant.fold_batch_norm import FOLD_BATCH_NORM
    from match_quant.fold_padding import FOLD_PADDING
    from match_quant.fold_quantised import FOLD_QUANTISED
    from match_quant.int16_products import INT16_PRODUCTS
    from match_quant.integerise import INTEGERISE
    from match_quant.left_in_float import LEFT_IN_FLOAT
    from match_quant.narrow_integers import NARROW_INTEGERS
    from match_quant.nhwc_layout import NHWC_LAYOUT
    from match_quant.normalise_gemm import NORMALISE_GEMM
    from match_quant.packed_weights import PACKED_WEIGHTS
    from match_quant.qoperator_to_qdq import QOPERATOR_TO_QDQ
    from match_quant.quantise_before_moves import QUANTISE_BEFORE_MOVES
    from match_quant.quantised_ends import QUANTISED_ENDS
    from match_quant.recognise_functions import RECOGNISE_FUNCTIONS
    from match_quant.recognise_requant import RECOGNISE_REQUANT
    from match_quant.sample_by_sample import SAMPLE_BY_SAMPLE
    from match_quant.unsigned_activations import UNSIGNED_ACTIVATIONS

    return (
        EXPLICIT_GEOMETRY,
        FOLD_BATCH_NORM,
        FOLD_PADDING,
        FOLD_QUANTISED,
        NORMALISE_GEMM,
        RECOGNISE_FUNCTIONS,
        QOPERATOR_TO_QDQ,
        INT16_PRODUCTS,
        RECOGNISE_REQUANT,
        NARROW_INTEGERS,
        QUANTISE_BEFORE_MOVES,
        INTEGERISE,
        UNSIGNED_ACTIVATIONS,
        PACKED_WEIGHTS,
        DEQUANTISE_CONSTANTS,
        QUANTISED_ENDS,
        LEFT_IN_FLOAT,
        SAMPLE_BY_SAMPLE,
        NHWC_LAYOUT,
    )


@hookimpl
def match_commands() -> tuple[Command, ...]:
    """The verb ``quantize``."""
    return (Command("quantize", "Quantise a float model to 8 bits with samples of its inputs.", _quantize),)


def _quantize() -> Callable[..., int]:
    from match_quant.verb import quantize_command

    return quantize_command
