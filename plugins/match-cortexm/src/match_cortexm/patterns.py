"""The patterns of cores with their own kernels; all others are the host's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.pattern import Pattern
from match_core.contract.structure import Any, Constraint, Match, Op, Structure
from match_core.ir.reader import shape_of
from match_host.fusion import FUSIONS, SPATIAL_PAD
from match_host.graph import dtype_of
from match_host.kernels.built import Builder, inline_kernel

from match_cortexm.cores import Core
from match_cortexm.kernels.add import ADD_REQUANT, add_of, build_add
from match_cortexm.kernels.counted import Counted, counted_workload
from match_cortexm.kernels.depthwise import build_depthwise, depthwise_of, scalar_refusal
from match_cortexm.kernels.ends import build_dequantize, build_quantize, ends_of
from match_cortexm.kernels.layer import layer_of
from match_cortexm.kernels.lookup import LOOKUP, build_lookup, lookup_refusal
from match_cortexm.kernels.matmul import build_matmul, matmul_of
from match_cortexm.kernels.pool import MAX_POOL, REAL_POOL, build_pool, build_real_pool, pool_of, real_pool_of
from match_cortexm.kernels.product import build_product
from match_cortexm.kernels.real import build_real, real_refusal, real_regions
from match_cortexm.kernels.softmax import SOFTMAX_I8, build_softmax, softmax_of
from match_cortexm.kernels.transpose import build_transpose, matrices_of
from match_cortexm.kernels.vectors import TAKEN

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.unit_api import InlineKernel


@dataclass(frozen=True)
class Kernel:
    """A pattern and the builder of its kernels."""

    pattern: Pattern
    build: Builder


def _refusal(match: Match) -> str | None:
    found = layer_of(match.nodes)
    return found if isinstance(found, str) else None


def _pad_refusal(match: Match) -> str | None:
    """A padding before the convolution is computed with it: no padded copy takes RAM."""
    for pad in match.node("conv").inputs[0].inputs:
        if pad.op == "Pad" and len(pad.outputs[0].outputs) == 1 and SPATIAL_PAD.check(pad) is None:
            return "its padding is a part of the kernel"
    return None


def _depthwise_refusal(match: Match) -> str | None:
    found = depthwise_of(match.nodes)
    return found if isinstance(found, str) else None


def _scalar_refusal(match: Match) -> str | None:
    found = depthwise_of(match.nodes)
    return found if isinstance(found, str) else scalar_refusal(found[0])


def _matmul_refusal(match: Match) -> str | None:
    found = matmul_of(match.nodes)
    return found if isinstance(found, str) else None


def _second_refusal(match: Match) -> str | None:
    node = match.node("second")
    before, after, dtype = node.inputs[0], node.outputs[0], dtype_of(node.inputs[0]).name
    return None if dtype == "int16" and shape_of(before) == shape_of(after) else f"{dtype} {shape_of(before)}"


#: Quantisers put a scale of its own on both sides of a Relu where zero points are 0.
SECOND = Constraint("second", "the second requantisation is one of int16 values, of the same shape", _second_refusal)
PADDED = Constraint("padding", "no padding before it that the kernel can include", _pad_refusal)
LAYER = Constraint("layer", "int8 weights, sums and factors of 32 bits", _refusal)
DEPTHWISE = Constraint(
    "depthwise", "depthwise, int8 weights, few taps or a sum, blocks of 4 channels", _depthwise_refusal
)
SCALAR_DEPTHWISE = Constraint(
    "depthwise", "depthwise, int8 weights, few taps or an unpadded sum, blocks of 4 channels", _scalar_refusal
)
MATMUL = Constraint("matrices", "two computed matrices of int8, one factor", _matmul_refusal)

DESCRIPTIONS = {
    "cortexm_conv": "convolution and requantisation",
    "cortexm_pad_conv": "padding, convolution and requantisation, without a padded copy",
    "cortexm_dense": "dense layer and requantisation",
    "cortexm_matmul": "product of two computed matrices and requantisation",
    "cortexm_conv_twice": "convolution and two requantisations, the second of int16",
    "cortexm_pad_conv_twice": "padding, convolution and two requantisations",
    "cortexm_dense_twice": "dense layer and two requantisations",
    "cortexm_depthwise_twice": "depthwise convolution and two requantisations",
    "cortexm_pad_depthwise_twice": "padding, depthwise convolution and two requantisations",
    "cortexm_depthwise": "depthwise convolution and requantisation",
    "cortexm_pad_depthwise": "padding, depthwise convolution and requantisation, without a padded copy",
    "cortexm_add": "sum of two tensors, scaled",
    "cortexm_add_twice": "sum of two tensors of int16, scaled twice",
    "cortexm_quantize": "float32 to bytes, by comparisons with the least number of each",
    "cortexm_dequantize": "bytes to float32, from a table",
    "cortexm_max_pool": "largest value of each window",
    "cortexm_real_pool": "largest or average number of each window",
    "cortexm_lookup": "look-up in a table of 256 bytes",
    "cortexm_softmax": "softmax of lines of 8-bit values",
    "cortexm_real": "sum, product, Relu or Clip of float32 numbers",
    "cortexm_real_region": "such operators, one after another",
    "cortexm_transpose": "matrices whose rows become columns",
}

#: The host's patterns that get kernels of their own: its name, the name here, the constraint, the builder.
_OWN: tuple[tuple[str, str, Constraint, Callable[..., Counted]], ...] = (
    ("host_conv_integer_requant", "cortexm_conv", LAYER, build_product),
    ("host_pad_conv_integer_requant", "cortexm_pad_conv", LAYER, build_product),
    ("host_mat_mul_integer_requant", "cortexm_dense", LAYER, build_product),
    ("host_mat_mul_integer_requant", "cortexm_matmul", MATMUL, build_matmul),
    ("host_conv_integer_requant", "cortexm_depthwise", DEPTHWISE, build_depthwise),
    ("host_pad_conv_integer_requant", "cortexm_pad_depthwise", DEPTHWISE, build_depthwise),
)


_REQUANT = "match.arith::RequantI16"


def _add_refusal(match: Match) -> str | None:
    found = add_of(match.node("op"))
    return found if isinstance(found, str) else None


def _pool_refusal(match: Match) -> str | None:
    found = pool_of(match.node("op"))
    return found if isinstance(found, str) else None


def _real_pool_refusal(match: Match) -> str | None:
    found = real_pool_of(match.node("op"))
    return found if isinstance(found, str) else None


def _softmax_refusal(match: Match, *, vectors: bool) -> str | None:
    found = softmax_of(match.node("op"), vectors=vectors)
    return found if isinstance(found, str) else None


def _ends_refusal(match: Match) -> str | None:
    found = ends_of(match.node("op"))
    return found if isinstance(found, str) else None


def _transpose_refusal(match: Match) -> str | None:
    found = matrices_of(match.node("op"))
    return found if isinstance(found, str) else None


def _no_halfwords_refusal(match: Match) -> str | None:
    """Pairs of halfwords are packed by instructions of the DSP extension."""
    halfwords = dtype_of(match.node("op").inputs[0]).itemsize == 2
    return "halfwords, on a core that does not pack them" if halfwords else _transpose_refusal(match)


ADD = Constraint("sum", "two tensors of 8 bits or of int16, of one shape, one factor each", _add_refusal)
POOL = Constraint("pool", "bytes or int16, channels last, up to 64 taps with padding", _pool_refusal)
REAL_WINDOW = Constraint("pool", "float32, channels last, blocks of 4 channels, few taps", _real_pool_refusal)
TRANSPOSE = Constraint("matrices", "elements of 8 to 64 bits, rows become columns", _transpose_refusal)
BYTES_OR_WORDS = Constraint("matrices", "elements of 8, 32 or 64 bits, rows become columns", _no_halfwords_refusal)
_TABLE = "int8, the last axis, a table of 256 exponentials"
VECTOR_SOFTMAX = Constraint("softmax", _TABLE, partial(_softmax_refusal, vectors=True))
SOFTMAX = Constraint(
    "softmax", f"{_TABLE}, sums of a line in 32 bits, or few results", partial(_softmax_refusal, vectors=False)
)
REAL = Constraint(
    "float32", "float32, lines of at least a vector, constant limits", lambda match: real_refusal(match.nodes)
)
ENDS = Constraint("ends", "float32 and bytes, one scale and zero point", _ends_refusal)
TABLE = Constraint("table", "bytes, a constant table of 256 bytes", lambda match: lookup_refusal(match.node("op")))


def kernels_of(core: Core) -> tuple[Kernel, ...]:
    """The core's own kernels."""
    matrices = TRANSPOSE if core.dsp else BYTES_OR_WORDS
    single = [("cortexm_transpose", Op("Transpose", "op", (Any("x"),)), matrices, build_transpose)]
    fused: tuple[Kernel, ...] = ()
    fusions = {fusion.name: fusion for fusion in FUSIONS}
    for fusion, name, constraint, build in _OWN:
        known = fusions[fusion]
        rule = SCALAR_DEPTHWISE if constraint is DEPTHWISE and not core.dsp else constraint
        constraints = (*known.constraints, *_rules(name), rule)
        fused += (_kernel(name, known.structure, constraints, build, core),)
        if name != "cortexm_matmul":
            twice = Op(_REQUANT, "second", (known.structure,))
            fused += (_kernel(f"{name}_twice", twice, (SECOND, *constraints), build, core),)
    added = Op(ADD_REQUANT, "op", (Any("a"), Any("b")))
    fused += (_kernel("cortexm_add_twice", Op(_REQUANT, "second", (added,)), (SECOND, ADD), build_add, core),)
    single.append(("cortexm_add", added, ADD, build_add))
    single.append(("cortexm_lookup", Op(LOOKUP, "op", (Any("x"),)), TABLE, build_lookup))
    lines = VECTOR_SOFTMAX if core.helium else SOFTMAX
    single.append(("cortexm_softmax", Op(SOFTMAX_I8, "op", (Any("x"),)), lines, build_softmax))
    if not core.fpu:
        single.append(("cortexm_quantize", Op("QuantizeLinear", "op", (Any("x"),)), ENDS, build_quantize))
        single.append(("cortexm_dequantize", Op("DequantizeLinear", "op", (Any("x"),)), ENDS, build_dequantize))
    single.append(("cortexm_max_pool", Op(MAX_POOL, "op", (Any("x"),)), POOL, build_pool))
    if core.helium:
        single.append(("cortexm_real_pool", Op(REAL_POOL, "op", (Any("x"),)), REAL_WINDOW, build_real_pool))
        single.append(("cortexm_real", Op("|".join(TAKEN), "op"), REAL, build_real))
        fused += (_kernel("cortexm_real_region", None, (), build_real, core, real_regions),)
    return (*fused, *(_kernel(name, node, (rule,), build, core) for name, node, rule, build in single))


def _rules(name: str) -> tuple[Constraint, ...]:
    return (PADDED,) if name in ("cortexm_conv", "cortexm_depthwise") else ()


def _kernel(
    name: str,
    structure: Structure | None,
    constraints: tuple[Constraint, ...],
    build: Callable[..., Counted],
    core: Core,
    search: Callable[[gs.Graph], tuple[Match, ...]] | None = None,
) -> Kernel:
    builder = partial(build, core=core)
    pattern = Pattern(
        name=name,
        description=DESCRIPTIONS[name],
        structure=structure,
        constraints=constraints,
        workload=partial(counted_workload, name, builder),
        search=search,
    )
    return Kernel(pattern, builder)


def inline_kernels(core: Core) -> dict[str, InlineKernel]:
    """The core's own kernels by pattern name."""
    return {kernel.pattern.name: inline_kernel(kernel.build) for kernel in kernels_of(core)}
