"""Samples of a batch stay apart between the layers that compute them one by one.

The loader repeats convolutions and poolings for each sample, between a Split and a Concat. Here the operators between
such layers are repeated as well, so that quantisers, activations and additions stay next to their layer, units take all
of them, and the activations of one sample at a time are alive. Samples join before an operator that reads all of them
at once, such as a dense layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.reader import producer, shape_of

from match_quant.samples import MOVES, one_sample, sample_inputs

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Repeat what stands between layers of single samples."""
    splits = [node for node in model.graph.nodes if _parts_samples(node)]
    if not splits:
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    batches = _Batches(editor)
    for node in list(editor.graph.nodes):
        batches.visit(node)
    return editor.finish()


def _parts_samples(node: gs.Node) -> bool:
    """Whether it is a Split into single samples."""
    split = node.op == "Split" and int(node.attrs.get("axis", 0)) == 0 and len(node.outputs) > 1
    return split and all(shape_of(output)[:1] == (1,) for output in node.outputs)


class _Batches:
    """The samples of tensors, by id."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._samples: dict[int, list[gs.Tensor]] = {}
        self._moved: set[int] = set()  # results of moves of such tensors, which are repeated when samples are read

    def visit(self, node: gs.Node) -> None:
        """Repeat the node, record its samples, or leave it."""
        parts = [shape_of(tensor)[:1] == (1,) for tensor in node.inputs if not tensor.is_empty()]
        if node.op == "Concat" and node.attrs.get("axis") == 0 and len(parts) > 1 and all(parts):
            self._samples[id(node.outputs[0])] = list(node.inputs)
        elif _parts_samples(node):
            for part, sample in zip(node.outputs, self._apart(node.inputs[0]), strict=True):
                if part is not sample:
                    self._editor.replace(part, sample)
        else:
            self._follow(node, sample_inputs(node))

    def _follow(self, node: gs.Node, reads: tuple[int, ...]) -> None:
        if not reads or not all(self._is_apart(node.inputs[position]) for position in reads):
            return
        if node.op in MOVES and node.op != "Cast":
            self._moved.update(id(output) for output in node.outputs)
        elif len(shape_of(node.inputs[reads[0]])) > 2:
            self._repeat(node, reads)
            for old in list(node.outputs):
                samples = self._samples[id(old)]
                origin, attrs = self._editor.origin(node), {"axis": 0}
                name = f"{node.name}_joined"
                whole = self._editor.node(
                    "Concat", samples, old.dtype, old.shape, name=name, origin=origin, attrs=attrs
                )
                self._samples[id(whole)] = samples
                self._editor.replace(old, whole)

    def _is_apart(self, tensor: gs.Tensor) -> bool:
        return id(tensor) in self._samples or id(tensor) in self._moved

    def _apart(self, tensor: gs.Tensor) -> list[gs.Tensor]:
        """The samples of a tensor: moves before it are repeated, the tensor before them is split."""
        moves, start = [], tensor
        while id(start) not in self._samples:
            maker = producer(start)
            if maker is None or maker.op not in MOVES or not sample_inputs(maker):
                self._samples[id(start)] = self._split(start)
                break
            moves.append(maker)
            start = maker.inputs[0]
        for move in reversed(moves):
            self._repeat(move, (0,))
        return self._samples[id(tensor)]

    def _split(self, tensor: gs.Tensor) -> list[gs.Tensor]:
        for reader in tensor.outputs:
            if _parts_samples(reader):
                return list(reader.outputs)
        batch, *rest = shape_of(tensor)
        sizes = self._editor.constant(f"{tensor.name}_ones", np.ones(batch, np.int64))
        samples = [self._editor.variable(f"{tensor.name}_sample", tensor.dtype, (1, *rest)) for _ in range(batch)]
        makers = tensor.inputs or tensor.outputs
        name, origin = f"{tensor.name}_split", self._editor.origin(*makers[:1])
        self._editor.add("Split", [tensor, sizes], samples, name=name, origin=origin, attrs={"axis": 0})
        return samples

    def _repeat(self, node: gs.Node, reads: tuple[int, ...]) -> None:
        given = {position: self._apart(node.inputs[position]) for position in reads}
        stated, editor = one_sample(node), self._editor
        inputs = list(node.inputs)
        if stated is not None:
            inputs[stated[0]] = editor.constant(f"{node.name}_one", np.array(stated[1], np.int64))
        for output in node.outputs:
            self._samples[id(output)] = []
        for sample in range(shape_of(node.inputs[reads[0]])[0]):
            for position, samples in given.items():
                inputs[position] = samples[sample]
            results = []
            for output in node.outputs:
                results.append(editor.variable(f"{output.name}_sample", output.dtype, (1, *shape_of(output)[1:])))
                self._samples[id(output)].append(results[-1])
            op = f"{node.domain}::{node.op}" if node.domain else node.op
            editor.add(op, inputs, results, name=node.name, origin=editor.origin(node), attrs=dict(node.attrs))


SAMPLE_BY_SAMPLE = Pass(
    "sample_by_sample",
    Phase.CLEAN,
    run,
    "operators between layers that compute the samples of a batch one by one do so too",
    after=("constant_nodes", "fold_constants", "remove_identities"),
    before=("explicit_geometry",),
)
