"""Splits batches into single samples: units run spatial operators with batch size 1.

Pooling treats every channel separately, so samples become more channels. Other operators are repeated for each sample,
in quantised models also pooling: there the pass ``sample_by_sample`` (match-quant) extends the samples to their
neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx

#: Operators that treat every channel separately.
POOLS = frozenset(("MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"))
#: Operators where only the first input has a sample axis.
LAYERS = frozenset(("Conv", "ConvInteger", "QLinearConv", "ConvTranspose"))
LAYERS |= {"QLinearAveragePool", "QLinearGlobalAveragePool"}
#: With more samples the program would mostly be copies of one layer.
LARGEST_BATCH = 64


def split_batches(
    proto: onnx.ModelProto, provenance: dict[str, tuple[str, ...]]
) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The model with batch size 1 in spatial operators. ``proto`` has inferred shapes; if the result is another model,
    its shapes must be inferred again."""
    import onnx

    sizes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in (*proto.graph.input, *proto.graph.value_info, *proto.graph.output)
        if all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)
    }
    quantised = any(word in node.op_type for node in proto.graph.node for word in ("Quant", "QLinear", "Integer"))
    writer = _Writer(sizes, quantised)
    nodes: list[onnx.NodeProto] = []
    found: dict[str, tuple[str, ...]] = dict(provenance)
    for node in proto.graph.node:
        made = writer.rewritten(node)
        nodes += made
        found |= {new.name: provenance.get(node.name, (node.name,)) for new in made}
    if not writer.constants:
        return proto, provenance
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    del result.graph.node[:]
    del result.graph.value_info[:]
    result.graph.node.extend(nodes)
    result.graph.initializer.extend(writer.constants)
    return result, found


class _Writer:
    """``sizes`` of tensors by name; ``constants`` that the new nodes read."""

    def __init__(self, sizes: dict[str, list[int]], quantised: bool) -> None:
        self.sizes, self.quantised = sizes, quantised
        self.constants: list[onnx.TensorProto] = []

    def rewritten(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """The nodes that replace this one (the node itself if nothing changes)."""
        shape = self.sizes.get(node.input[0], []) if node.input else []
        out = self.sizes.get(node.output[0], [])
        if node.domain not in ("", "ai.onnx", "com.microsoft") or len(shape) < 3 or not 1 < shape[0] <= LARGEST_BATCH:
            return [node]
        if node.op_type in LAYERS or (node.op_type in POOLS and self.quantised and len(node.output) == 1):
            return self._repeated(node, shape)
        return self._pooled(node, shape, out) if node.op_type in POOLS and out else [node]

    def _constant(self, name: str, values: list[int]) -> str:
        import onnx

        self.constants.append(onnx.numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def _pooled(self, node: onnx.NodeProto, shape: list[int], out: list[int]) -> list[onnx.NodeProto]:
        import onnx

        name, make = node.name, onnx.helper.make_node
        joined = self._constant(f"{name}/joined", [1, shape[0] * shape[1], *shape[2:]])
        whole = self._constant(f"{name}/whole", out)
        pool = onnx.NodeProto()
        pool.CopyFrom(node)
        pool.input[0] = f"{name}/channels"
        parts = []
        for position, result in enumerate(node.output):  # the indices of maxima also count through all samples
            if result:
                pool.output[position] = f"{name}/pooled_{position}"
                parts.append(make("Reshape", [pool.output[position], whole], [result], f"{name}/part_{position}"))
        return [make("Reshape", [node.input[0], joined], [pool.input[0]], f"{name}/join"), pool, *parts]

    def _repeated(self, node: onnx.NodeProto, shape: list[int]) -> list[onnx.NodeProto]:
        import onnx

        name, make, batch = node.name, onnx.helper.make_node, range(shape[0])
        ones = self._constant(f"{name}/ones", [1] * shape[0])
        given, made = ([f"{name}/{word}_{sample}" for sample in batch] for word in ("sample", "result"))
        nodes = [make("Split", [node.input[0], ones], given, f"{name}/split", axis=0)]
        for sample in batch:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.name, copy.input[0], copy.output[0] = f"{name}/{sample}", given[sample], made[sample]
            nodes.append(copy)
        return [*nodes, make("Concat", made, [node.output[0]], f"{name}/concat", axis=0)]
