"""Splits batches into single samples: units run spatial operators with batch size 1.

Every sample runs through a chain of operators on its own, from the tensor before the first spatial operator to the
first operator that reads all samples at once, such as a dense layer. So quantisers, activations and additions stay next
to their convolutions, and the activations of one sample at a time are alive. A pooling of floats that no convolution
feeds treats its samples as more channels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from match_core.load.samples import LAYERS, MOVES, POOLS, Samples
from match_core.load.static.bodies import constant_tensor

if TYPE_CHECKING:
    import onnx

#: With more samples the program would mostly be copies of one layer.
LARGEST_BATCH = 64
#: Elements of the largest constant whose values are read: axes, sizes and amounts of padding.
_SMALL = 16


def split_batches(
    proto: onnx.ModelProto, provenance: dict[str, tuple[str, ...]]
) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The model with batch size 1 in spatial operators. ``proto`` has inferred shapes; if the result is another model,
    its shapes must be inferred again."""
    import onnx

    writer = _Writer(proto)
    for node in proto.graph.node:
        writer.write(node)
    if not writer.origins:
        return proto, provenance
    for value in proto.graph.output:
        writer.whole(value.name)
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    del result.graph.node[:]
    del result.graph.value_info[:]
    result.graph.node.extend(writer.nodes)
    result.graph.initializer.extend(writer.constants)
    made = {name: provenance.get(source, (source,)) for name, source in writer.origins.items()}
    return result, {**provenance, **made}


class _Writer:
    """The new ``nodes``, the ``constants`` that they read, and the nodes' ``origins``. A tensor exists whole, as
    samples, or both; moves are written where they are read, for all samples or for each."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        import onnx

        graph = proto.graph
        given = [tensor for node in graph.node if (tensor := constant_tensor(node)) is not None]
        stored = {tensor.name: tensor for tensor in (*given, *graph.initializer)}
        self._sizes = {name: list(tensor.dims) for name, tensor in stored.items()} | {
            value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            for value in (*graph.input, *graph.value_info, *graph.output)
            if all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)
        }
        small = {name: onnx.numpy_helper.to_array(t) for name, t in stored.items() if np.prod(t.dims) <= _SMALL}
        self._samples = Samples(self._sizes, small)
        self._makers = {name: node for node in graph.node for name in node.output}
        self._taken = {*self._makers, *self._sizes, *(node.name for node in graph.node)}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.origins: dict[str, str] = {}
        self._single: dict[str, list[str]] = {}  # tensors that exist as samples
        self._apart: set[str] = set()  # those that do not exist whole
        self._late: set[str] = set()  # results of moves that read samples and are not written whole
        self._moved: set[str] = set()  # results of moves that read samples

    def write(self, node: onnx.NodeProto) -> None:
        """Write the node, or what replaces it."""
        reads = self._samples.inputs_of(node)
        batch = self._sizes[node.output[0]][0] if reads else 1
        if reads and batch <= LARGEST_BATCH and self._starts(node, reads):
            self._repeat(node, reads)
            self._apart.update(node.output)
        elif reads and node.op_type in MOVES and [i for i, n in enumerate(node.input) if self._is_single(n)] == [0]:
            self._moved.update(node.output)
            self._late.update(node.output)
        else:
            for name in node.input:
                self.whole(name)
            pooled = node.op_type in POOLS and len(self._sizes.get(node.input[0], [])) > 2
            if pooled and 1 < self._sizes[node.input[0]][0] <= LARGEST_BATCH and node.output[0] in self._sizes:
                self._pool(node)
            else:
                self.nodes.append(node)

    def whole(self, name: str) -> None:
        """Make the tensor exist whole."""
        moves = []
        while name in self._late:
            moves.append(self._makers[name])
            self._late.difference_update(moves[-1].output)
            name = moves[-1].input[0]
        if name in self._apart:
            self._apart.discard(name)
            self._add(self._makers[name], "Concat", self._single[name], [name], "concat", axis=0)
        self.nodes.extend(reversed(moves))

    def _starts(self, node: onnx.NodeProto, reads: tuple[int, ...]) -> bool:
        """Whether samples are treated one by one from here, or already were before."""
        source = node.input[reads[0]]
        if len(self._sizes[source]) < 3 or node.op_type in MOVES:
            return False
        maker = self._makers.get(source)
        quantised = node.op_type in POOLS and maker is not None and maker.op_type == "DequantizeLinear"
        return node.op_type in LAYERS or quantised or all(self._is_single(node.input[i]) for i in reads)

    def _is_single(self, name: str) -> bool:
        return name in self._single or name in self._moved

    def _singles(self, name: str, reader: onnx.NodeProto) -> list[str]:
        """The samples of a tensor: its moves are repeated, the tensor before them is split."""
        moves, wanted = [], name
        while name not in self._single:
            maker = self._makers.get(name)
            if maker is None or maker.op_type not in MOVES or not self._samples.inputs_of(maker):
                self._split(name, maker or reader)
                break
            moves.append(maker)
            name = maker.input[0]
        for move in reversed(moves):
            self._repeat(move, (0,))
        return self._single[wanted]

    def _split(self, name: str, source: onnx.NodeProto) -> None:
        self.whole(name)
        batch = self._sizes[name][0]
        self._single[name] = [self._fresh(f"{name}/{sample}") for sample in range(batch)]
        sizes = self._constant(f"{name}/ones", [1] * batch)
        self._add(source, "Split", [name, sizes], self._single[name], "split", axis=0)

    def _repeat(self, node: onnx.NodeProto, reads: tuple[int, ...]) -> None:
        import onnx

        given = {position: self._singles(node.input[position], node) for position in reads}
        for position, name in enumerate(node.input):
            if position not in reads:
                self.whole(name)
        one = {p: self._constant(f"{node.name}/one", size) for p, size in self._samples.one(node).items()}
        for output in node.output:
            self._single[output] = []
        for sample in range(self._sizes[node.output[0]][0]):
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.name = self._fresh(f"{node.name}/{sample}")
            self.origins[copy.name] = node.name
            for position, name in one.items():
                copy.input[position] = name
            for position, names in given.items():
                copy.input[position] = names[sample]
            for position, name in enumerate(node.output):
                copy.output[position] = self._fresh(f"{name}/{sample}")
                self._single[name].append(copy.output[position])
            self.nodes.append(copy)

    def _pool(self, node: onnx.NodeProto) -> None:
        """The samples as channels."""
        import onnx

        name, shape = node.name, self._sizes[node.input[0]]
        joined = self._constant(f"{name}/joined", [1, shape[0] * shape[1], *shape[2:]])
        whole = self._constant(f"{name}/whole", self._sizes[node.output[0]])
        pool = onnx.NodeProto()
        pool.CopyFrom(node)
        pool.input[0] = self._fresh(f"{name}/channels")
        self._add(node, "Reshape", [node.input[0], joined], [pool.input[0]], "join")
        self.nodes.append(pool)
        for position, result in enumerate(node.output):  # the indices of maxima also count through all samples
            if result:
                pool.output[position] = self._fresh(f"{name}/pooled_{position}")
                self._add(node, "Reshape", [pool.output[position], whole], [result], f"part_{position}")

    def _add(
        self, source: onnx.NodeProto, op: str, inputs: list[str], outputs: list[str], suffix: str, **attrs: Any
    ) -> None:
        import onnx

        name = self._fresh(f"{source.name}/{suffix}")
        self.nodes.append(onnx.helper.make_node(op, inputs, outputs, name, **attrs))
        self.origins[name] = source.name

    def _constant(self, name: str, values: list[int]) -> str:
        import onnx

        self.constants.append(onnx.numpy_helper.from_array(np.array(values, np.int64), self._fresh(name)))
        return self.constants[-1].name

    def _fresh(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name
