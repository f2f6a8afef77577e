"""The lower bound of constants, and that no program uses less memory than MATCH-M001 says that any needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from match_beyond.constants import BYTES_MIN, least_constants
from match_beyond.network import Network
from match_beyond.search import least_bytes
from match_core.contract.errors import InfeasibleError
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

from benchmarks.large_networks import NetworkBuilder
from benchmarks.memory_sweep import asked

HOMES = {"host": "ram", "diana": "l2", "ita": "l2", "gap9": "l2", "carfield": "l2"}


def _saved(path: Path, seed: int = 5) -> Path:
    """Two convolutions whose weights are most of what they need, of 16 and 32 channels."""
    builder = NetworkBuilder(seed, (8, 6, 6))
    return builder.save(path, builder.conv(builder.conv(builder.input, 16, 3), 32, 3))


WEIGHTS_BYTES = 8 * 16 * 9 + 16 * 32 * 9


@pytest.mark.parametrize("target", HOMES)
def test_no_program_uses_less_than_the_bound(tmp_path: Path, target: str) -> None:
    model = _saved(tmp_path / "model.onnx")
    request = asked(model, target, HOMES[target])
    bound, reason = least_bytes(request, Network.of(request.model, request.mapping, request.overlaps))
    program = compile_model(CompileRequest(model, target), Plugins.load(), NullObserver()).compilation.program
    used = next(use.used_bytes for use in program.memory if use.memory == HOMES[target])
    assert bound <= used
    assert (f"constants need at least {least_constants(request)} bytes" in reason) == (least_constants(request) > 0)


@pytest.mark.parametrize(("target", "least"), [("host", WEIGHTS_BYTES), ("ita", WEIGHTS_BYTES), ("gap9", 0)])
def test_weights_count_unless_a_unit_may_have_them_elsewhere(tmp_path: Path, target: str, least: int) -> None:
    assert least_constants(asked(_saved(tmp_path / "model.onnx"), target, HOMES[target])) == least


def test_the_least_candidate_of_each_node_counts(tmp_path: Path) -> None:
    """On DIANA, the analog core has ternary weights, so that the bound is below the weights."""
    assert 0 < least_constants(asked(_saved(tmp_path / "model.onnx"), "diana", HOMES["diana"])) <= WEIGHTS_BYTES


def test_equal_weights_do_not_count(tmp_path: Path) -> None:
    request = asked(_saved(tmp_path / "model.onnx"), "host", HOMES["host"])
    nodes = {node.name: node for candidate in request.candidates for node in candidate.match.nodes}
    weights = [
        t for node in nodes.values() for t in node.inputs if getattr(t, "values", np.zeros(0)).nbytes > BYTES_MIN
    ]
    first, second = sorted({t.name: t for t in weights}.values(), key=lambda t: t.values.nbytes)
    assert least_constants(request) == first.values.nbytes + second.values.nbytes
    second.values = first.values
    assert least_constants(request) == 0


def test_the_message_proves_that_constants_do_not_fit(tmp_path: Path) -> None:
    model, have = _saved(tmp_path / "model.onnx"), WEIGHTS_BYTES
    with pytest.raises(InfeasibleError) as caught:
        compile_model(CompileRequest(model, "ita", memory=(("l2", have),)), Plugins.load(), NullObserver())
    assert f"constants need at least {have} bytes" in caught.value.why
