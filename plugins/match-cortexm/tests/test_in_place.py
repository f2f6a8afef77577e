"""Kernels overwrite their inputs, and layers run in stripes where RAM is short: the same bits with less memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import InfeasibleError
from match_core.lower.overlap import overwritten
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from benchmarks.cortexm_net import Net
from tests.conftest import ROOT
from tests.end_to_end.models import QdqBuilder

TARGETS = ("stm32l4r5", "corstone300")
DEMO = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"


def run(model: Path, target: str, memory: int | None = None) -> VerifyResult:
    """The program on the twin under sanitizers."""
    sizes = () if memory is None else (("ram", memory),)
    return verify_model(VerifyRequest(model, target, sanitize=True, memory=sizes, cache=False), Plugins.load())


def arena(result: VerifyResult) -> int:
    """Bytes of activations."""
    program = result.compilation.program
    return next(use.arena_bytes for use in program.memory if use.memory == program.soc.home)


def chain(folder: Path) -> Path:
    """Layers of every kind with odd sizes: windows that leave the image, strides, more and fewer channels."""
    net = QdqBuilder(5, 8, 11, 9).conv(12, 1).conv(12, 3).conv(12, 3, group=12).conv(20, 1)
    net = net.conv(20, 3, stride=2, group=20).conv(20, 3, pad=0).max_pool(2, 1).conv(15, 1).max_pool(2, 1).conv(7, 1)
    return net.save(folder / "chain.onnx")


@pytest.mark.parametrize("target", TARGETS)
def test_layers_overwrite_their_inputs(target: str, tmp_path: Path) -> None:
    result = run(chain(tmp_path), target)
    assert result.ok
    program = result.compilation.program
    assert len(overwritten(program)) >= 4
    largest = 11 * 9 * 20
    assert arena(result) < largest + 11 * 9 * 12, "without overlaps, two neighbouring tensors live together"


def test_a_distance_that_is_too_short_computes_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The distances are needed: with half of them, the twin finds other outputs."""
    from match_cortexm.kernels import overlap

    def half(y, x, columns):
        return real(y, x, columns) + x.size

    real = overlap._first_read
    monkeypatch.setattr(overlap, "_first_read", half)
    assert not run(chain(tmp_path), TARGETS[0]).computed


@pytest.mark.parametrize("target", [TARGETS[0], pytest.param(TARGETS[1], marks=pytest.mark.slow)])
def test_less_ram_costs_instructions(target: str) -> None:
    """ResNet8 needs two of its largest tensors instead of three; in 9/10 of that, its largest layers run in stripes."""
    plain = run(DEMO, target)
    tasks = plain.compilation.program.tasks
    first = next(task for task in tasks if task.assignment.candidate.pattern.name == "cortexm_add")
    assert first.index in overwritten(plain.compilation.program)
    most = max(b.size_bytes for b in plain.compilation.program.buffers if b.kind == "activation")
    assert 2 * most <= arena(plain) < 2.2 * most
    needed = next(use.used_bytes for use in plain.compilation.program.memory if use.memory == "ram")
    small = run(DEMO, target, needed * 9 // 10)
    assert small.ok
    names = [node.name for task in small.compilation.program.tasks for node in task.assignment.candidate.match.nodes]
    assert any("_kept" in name for name in names)
    cycles = [result.compilation.program.predicted_cycles for result in (plain, small)]
    assert cycles[0] < cycles[1] < 1.01 * cycles[0], "rows at borders of stripes are kept, not computed twice"
    with pytest.raises(InfeasibleError) as caught:
        run(DEMO, target, needed // 3)
    assert caught.value.code == "MATCH-M001" and "in stripes" in caught.value.why


def test_kernels_without_scratch_are_tried_before_a_network_is_refused(tmp_path: Path) -> None:
    """The kernel of computed matrices packs one of them; the portable one does not, and takes more instructions. Of two
    products, the one that exceeds the memory changes."""
    net = Net(np.random.default_rng(3), quantised=True)
    for size in (24, 40):
        net.result(net.add("MatMul", net.source(1, 1, size, size), net.source(1, 1, size, size)))
    path = tmp_path / "products.onnx"
    onnx.save(net.model(), path)
    plain = run(path, TARGETS[0])
    needed = next(use.used_bytes for use in plain.compilation.program.memory if use.memory == "ram")
    callers = needed - arena(plain)
    small = run(path, TARGETS[0], callers + 28 * 24)
    assert plain.ok and small.ok
    kinds = [sorted(a.candidate.pattern.name for a in made.compilation.mapping.assignments) for made in (plain, small)]
    # The host has two patterns for the product and its requantisation, with the same kernel.
    portable = kinds[1][-1]
    assert kinds == [["cortexm_matmul"] * 2, ["cortexm_matmul", portable]] and portable.startswith("host_")
    with pytest.raises(InfeasibleError) as caught:
        run(path, TARGETS[0], callers - 1)
    assert caught.value.code == "MATCH-M001"
