"""Which layers become analog: recognised from their weights, where it pays, and never forced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from analog_graphs import candidates, context
from analog_networks import Conv, Network, integer_graph, ternary
from match_core import Model
from match_diana.passes.analog import ANALOG
from match_diana.passes.analog_scales import ANALOG_SCALES
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

#: Results use most of the range, as calibration makes it.
SCALE = 1 / 12


def eight_bit(k: int, c: int, seed: int) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-127, 128, (k, c, 3, 3)).astype(np.int8)


def network(*behind: Conv) -> Network:
    """Layers behind one with weights of 8 bits that makes 64 channels. Whatever makes the last tensor, the host
    converts it for what is outside."""
    return Network((Conv(eight_bit(64, 3, 0), 1 / 292), *behind))


def analog_names(model: Model) -> list[str]:
    """Names of the convolutions that the analog array can run."""
    names = [candidate.match.nodes for candidate in candidates(model).legal]
    return sorted(model.provenance[node.name][0] for nodes in names for node in nodes if node.op == "ConvInteger")


def test_one_size_for_the_layer(tmp_path: Path) -> None:
    path = network(*(Conv(ternary(64, 64, seed), SCALE) for seed in (1, 2))).save(tmp_path / "m.onnx")
    model = integer_graph(path)
    assert len(candidates(model).legal) == 2
    assert any("2 of 2 ternary layers" in note for note in model.notes)
    cells = [node.inputs[1].values for node in model.graph.nodes if node.op == "ConvInteger"]
    assert [set(np.unique(values)) <= {-1, 0, 1} for values in cells] == [False, True, True]


def test_one_size_for_each_channel(tmp_path: Path) -> None:
    scales = np.linspace(1 / 20, 1 / 12, 64).astype(np.float32)
    wide = ternary(64, 64, 2) * np.arange(60, 124, dtype=np.int8)[:, None, None, None]
    layers = (Conv(ternary(64, 64, 1), scales), Conv(wide, 1 / 1200))
    model = integer_graph(network(*layers).save(tmp_path / "m.onnx"))
    assert len(candidates(model).legal) == 2


def test_unequal_padding_stays(tmp_path: Path) -> None:
    """The digital array would need kernels of side 5 for it."""
    layers = (Conv(ternary(64, 64, 1), SCALE, halved=True), Conv(ternary(64, 64, 2), SCALE))
    model = integer_graph(network(*layers).save(tmp_path / "m.onnx"))
    assert len(candidates(model).legal) == 2
    assert [node.attrs["kernel_shape"] for node in model.graph.nodes if node.op == "ConvInteger"] == [[3, 3]] * 3


def test_other_weights_stay(tmp_path: Path) -> None:
    almost = ternary(64, 64, 1, size=2)
    almost[3, 2, 1, 0] = 1
    path = network(*(Conv(almost, SCALE / 2) for _ in range(2))).save(tmp_path / "m.onnx")
    assert same_graph(integer_graph(path), integer_graph(path, "diana_analog_scales", "diana_analog"))


def test_integers_that_the_source_spells_out_keep_their_values(tmp_path: Path) -> None:
    """Between 7-bit tensors the layers could become analog, which would change results."""
    path = network(*(Conv(ternary(64, 64, seed), SCALE) for seed in (1, 2))).save(tmp_path / "m.onnx")
    cut = integer_graph(path, "diana_analog")  # 7 bits, still digital
    assert not same_graph(ANALOG.run(cut, context()), cut)
    spelt = replace(cut, integer_source=True)
    assert ANALOG.run(spelt, context()) is spelt
    assert ANALOG_SCALES.run(spelt, context()) is spelt


def test_switched_off(tmp_path: Path) -> None:
    path = network(*(Conv(ternary(64, 64, seed), SCALE) for seed in (1, 2))).save(tmp_path / "m.onnx")
    off = integer_graph(path, "diana_analog_scales")
    assert same_graph(off, integer_graph(path, "diana_analog_scales", "diana_analog"))
    assert not candidates(off).legal


def test_layers_between_digital_ones_stay(tmp_path: Path) -> None:
    """The digital array does not read what the analog one writes: converting 16 x 16 x 64 bytes takes longer than two
    layers gain."""
    layers = (*(Conv(ternary(64, 64, seed), SCALE) for seed in (1, 2)), Conv(eight_bit(16, 64, 9), 1 / 8192))
    model = integer_graph(network(*layers).save(tmp_path / "m.onnx"))
    assert not candidates(model).legal
    notes = [note for note in model.notes if "modelled cycles" in note]
    assert len(notes) == 2 and all("would cost" in note for note in notes)


def test_tensors_that_cannot_change_stay(tmp_path: Path) -> None:
    """Inputs and outputs of the graph have the scales that the model gives them."""
    ends = Network(tuple(Conv(ternary(64, 64, seed), SCALE) for seed in (1, 2, 3)), inside=False)
    model = integer_graph(ends.save(tmp_path / "m.onnx"))
    assert sum("cannot have the 7 bits" in note for note in model.notes) == 2


def test_large_offsets_stay(tmp_path: Path) -> None:
    """An addend of 8 bits holds an offset of 64 steps only if multipliers have few bits."""
    layers = tuple(Conv(ternary(64, 64, seed), 4 * SCALE, relu=False, bias=4.0) for seed in (1, 2))
    model = integer_graph(network(*layers).save(tmp_path / "m.onnx"))
    assert sum("is allowed" in note for note in model.notes) == 2
    assert not candidates(model).legal


@pytest.mark.parametrize("relu", [True, False])
def test_results_are_near(tmp_path: Path, relu: bool) -> None:
    """Against the same network without the analog array: some per cent of the spread."""
    layers = tuple(Conv(ternary(64, 64, seed), SCALE, relu) for seed in (1, 2))
    path = network(*layers).save(tmp_path / "m.onnx")
    x = np.random.default_rng(4).normal(0, 1, (1, 3, 16, 16)).astype(np.float32)
    near, plain = (
        ReferenceRunner(integer_graph(path, *without)).run({"x": x})["y"] for without in ((), ("diana_analog_scales",))
    )
    error = np.sqrt(np.square(near - plain).mean())
    assert 0 < error < 0.25 * plain.std()


def same_graph(first: Model, second: Model) -> bool:
    """Whether two graphs have the same operators and constants."""
    a, b = ([_described(node) for node in model.graph.nodes] for model in (first, second))
    return a == b


def _described(node: object) -> tuple[object, ...]:
    import onnx_graphsurgeon as gs

    assert isinstance(node, gs.Node)
    constants = [t.values.tobytes() for t in node.inputs if isinstance(t, gs.Constant)]
    return node.op, node.name, constants
