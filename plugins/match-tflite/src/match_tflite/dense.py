"""Matrix products."""

from __future__ import annotations

from match_tflite.call import Call
from match_tflite.convolutions import bias_of
from match_tflite.faults import damaged


def fully_connected(call: Call) -> None:
    """FULLY_CONNECTED: rows with as many elements as the weights read, in the plain order."""
    weights, result = call.input(1), call.output()
    if weights.rank != 2 or not weights.shape[1] or call.input(0).size % weights.shape[1]:
        raise damaged(call.where, f"its weights have shape {list(weights.shape)[:8]} for {call.input(0).size} inputs")
    if call.option("WeightsFormat", 0):
        raise call.refuse("its weights are shuffled for a specific processor", "convert the network again")
    columns, depth = weights.shape
    rows = call.input(0).size // depth
    x = call.graph.read_flat(call.index(0))
    if call.input(0).shape != (rows, depth):
        x = call.graph.reshape(x, [rows, depth])
    inputs = [call.dequantised(x, call.input(0)), call.weights(1, channel=0), *bias_of(call, 2)]
    product = call.quantised(call.activated(call.node("Gemm", inputs, transB=1)), result)
    call.give(product if result.shape == (rows, columns) else call.reshaped(product, rows * columns))


def batch_matmul(call: Call) -> None:
    """BATCH_MATMUL; an operand may be transposed."""
    operands = [_operand(call, 0, "AdjX"), _operand(call, 1, "AdjY")]
    call.give_real(call.node("MatMul", operands))


def _operand(call: Call, position: int, transposed: str) -> str:
    rank = call.input(position).rank
    if rank < 2:
        raise damaged(call.where, f"operand {position} has {rank} axes")
    order = list(range(rank))
    if call.option(transposed):
        order[-2:] = order[:-3:-1]
    if call.graph.known(call.index(position)) is not None:
        return call.weights(position, tuple(order))
    stored = call.stored(position)
    if call.option(transposed):
        stored = call.node("Transpose", [stored], perm=order)
    return call.dequantised(stored, call.input(position))
