"""Products, combinations, lines, reductions and views as nodes of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import attribute_ints, constant_input, optional_input, shape_of

from match_dnnl.chains import Chain
from match_dnnl.engine import Engine, Post
from match_dnnl.functions import argument_of, posts_of
from match_dnnl.graph import axis_of, result
from match_dnnl.posts import BINARY, chain_bias, chain_posts

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def matmul(engine: Engine, chain: Chain) -> None:
    """A second operand that is one matrix makes one product of all rows; else ranks are made equal."""
    node = chain.node
    first, second = (engine.of(tensor) for tensor in node.inputs)
    sizes = shape_of(chain.output)
    if len(shape_of(second)) == 2:
        first = engine.reshaped(first, (prod(shape_of(first)[:-1]), shape_of(first)[-1]))
        flat: tuple[int, ...] = (prod(sizes[:-1]), sizes[-1])
    else:
        rank, flat = len(sizes), sizes
        first, second = (engine.reshaped(tensor, _ranked(shape_of(tensor), rank)) for tensor in (first, second))
    _product(engine, chain, first, second, flat)


def gemm(engine: Engine, chain: Chain) -> None:
    """Factors and transpositions are what the core has left of them; a third operand that is no bias is added."""
    node = chain.node
    operands = [engine.of(tensor) for tensor in node.inputs[:2]]
    for position, name in enumerate(("transA", "transB")):
        if int(node.attrs.get(name, 0)):
            operands[position] = engine.transposed(operands[position], (1, 0))
    _product(engine, chain, operands[0], operands[1], shape_of(chain.output))


def _product(engine: Engine, chain: Chain, first: gs.Tensor, second: gs.Tensor, sizes: Sequence[int]) -> None:
    bias = chain_bias(chain, sizes[-1])
    known = None if bias is None else engine.constant(bias.reshape([1] * (len(sizes) - 1) + [-1]))
    if known is None and (tensor := optional_input(chain.node, 2)) is not None:
        known = engine.reshaped(engine.of(tensor), (1, sizes[-1]))
    final = engine.of(chain.output)
    flat = final if tuple(sizes) == shape_of(final) else engine.variable(sizes)
    engine.emit("matmul", [first, second, known], flat, chain_posts(engine, chain, sizes))
    if flat is not final:
        engine.emit("reshape", [flat], final)


def elementwise(engine: Engine, chain: Chain) -> None:
    """One node for each function."""
    posts = posts_of(chain.node) or ()
    functions(engine, engine.of(argument_of(chain.node)), engine.of(chain.output), posts)


def functions(engine: Engine, source: gs.Tensor, output: gs.Variable, posts: Sequence[Post]) -> None:
    """Functions of one value, one after the other."""
    for number, post in enumerate(posts):
        target = output if number == len(posts) - 1 else engine.variable(shape_of(output))
        engine.emit("eltwise", [source], target, algorithm=post.name, alpha=post.alpha, beta=post.beta)
        source = target


def binary(engine: Engine, chain: Chain) -> None:
    """The operand of the result's shape comes first."""
    node, sizes = chain.node, shape_of(chain.output)
    first, second = (
        engine.reshaped(engine.of(tensor), _ranked(shape_of(tensor), len(sizes))) for tensor in node.inputs
    )
    if shape_of(first) != sizes:
        first, second = second, first
    posts = chain_posts(engine, chain, sizes)
    engine.emit("binary", [first, second], engine.of(chain.output), posts, algorithm=BINARY[qualified_op(node)])


def softmax(engine: Engine, chain: Chain) -> None:
    """Softmax and its logarithm."""
    node, rank = chain.node, len(shape_of(chain.output))
    name = "softmax" if node.op == "Softmax" else "logsoftmax"
    axis = axis_of(node, "axis", -1, rank)
    engine.emit("softmax", [engine.of(node.inputs[0])], engine.of(chain.output), algorithm=name, axis=axis)


def layer_normalization(engine: Engine, chain: Chain) -> None:
    """Lines of all axes from the given one on."""
    node, sizes = chain.node, shape_of(chain.output)
    length = prod(sizes[axis_of(node, "axis", -1, len(sizes)) :])
    flat = (prod(sizes) // length, length)
    shift = optional_input(node, 2)
    source = engine.reshaped(engine.of(node.inputs[0]), flat)
    scale = engine.reshaped(engine.of(node.inputs[1]), (length,))
    given = engine.constant(np.zeros(length)) if shift is None else engine.reshaped(engine.of(shift), (length,))
    final = engine.of(chain.output)
    made = final if flat == sizes else engine.variable(flat)
    epsilon = float(node.attrs.get("epsilon", 1e-5))
    engine.emit("layer_normalization", [source, scale, given], made, epsilon=epsilon)
    if made is not final:
        engine.emit("reshape", [made], final)


REDUCTIONS = {
    "ReduceL1": ("reduction_norm", 1.0),
    "ReduceL2": ("reduction_norm", 2.0),
    "ReduceMax": ("reduction_max", 0.0),
    "ReduceMean": ("reduction_mean", 0.0),
    "ReduceMin": ("reduction_min", 0.0),
    "ReduceProd": ("reduction_mul", 0.0),
    "ReduceSum": ("reduction_sum", 0.0),
    "ReduceSumSquare": ("reduction_power", 2.0),
}


def reduced_axes(node: gs.Node) -> list[int]:
    """The axes of a reduction; all where none are given."""
    rank, listed = len(shape_of(node.inputs[0])), constant_input(node, 1)
    axes = attribute_ints(node, "axes", []) if listed is None else [int(axis) for axis in listed.reshape(-1)]
    return sorted({axis % rank for axis in axes}) or list(range(rank))


def reduction(engine: Engine, chain: Chain) -> None:
    """oneDNN keeps the axes."""
    node, axes = chain.node, reduced_axes(chain.node)
    kept = [1 if axis in axes else size for axis, size in enumerate(shape_of(node.inputs[0]))]
    name, power = REDUCTIONS[qualified_op(node)]
    final = engine.of(chain.output)
    made = final if tuple(kept) == shape_of(final) else engine.variable(kept)
    engine.emit("reduction", [engine.of(node.inputs[0])], made, algorithm=name, power=power)
    if made is not final:
        engine.emit("reshape", [made], final)


def concat(engine: Engine, chain: Chain) -> None:
    """Along one axis."""
    axis = axis_of(chain.node, "axis", 0, len(shape_of(chain.output)))
    engine.emit("concat", [engine.of(tensor) for tensor in chain.node.inputs], engine.of(chain.output), axis=axis)


def view(engine: Engine, chain: Chain) -> None:
    """The same bytes in another shape."""
    engine.emit("reshape", [engine.of(chain.node.inputs[0])], engine.of(chain.output))


def transpose(engine: Engine, chain: Chain) -> None:
    """A view with other strides; elements move where a reader needs that."""
    rank = len(shape_of(result(chain.node)))
    order = attribute_ints(chain.node, "perm", list(reversed(range(rank))))
    engine.emit("transpose", [engine.of(chain.node.inputs[0])], engine.of(chain.output), order=order)


def _ranked(sizes: Sequence[int], rank: int) -> tuple[int, ...]:
    return (*[1] * (rank - len(sizes)), *sizes)
