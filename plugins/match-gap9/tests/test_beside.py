"""Cluster and NE16 side by side: what the package says about it, what it costs, and programs that use it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from match_core import Kernel, Soc
from match_core.contract.errors import ToolError
from match_core.deploy.compile_options import adapted_soc
from match_core.plugin.facade import Plugins
from match_gap9 import formulas
from match_gap9.constants import values
from match_gap9.cost import cost_model
from match_gap9.emit import unit_api
from match_gap9.hardware import CLUSTER, NE16, hardware
from match_gap9.ne16 import formulas as ne16_formulas
from match_gap9.wide import formulas as wide_formulas
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper, save

from tests.end_to_end.models import QdqBuilder
from tests.envelope import opened
from tests.forked import match

TIMING = values()


@pytest.fixture(scope="module")
def soc() -> Soc:
    return hardware().socs[0]


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load()


# ---- the Soc and the units' interfaces -----------------------------------------------------------------------------


def test_parts_of_l1_do_not_overlap_and_shrink_with_it(soc: Soc) -> None:
    for size in (114 * 1024, 8_000):
        beside = replace(adapted_soc(soc, None, (("l1", size),)), mode="concurrent")
        (first, room), (second, rest) = beside.part_of(CLUSTER), beside.part_of(NE16)
        assert first == 0 and room <= second and second % 16 == 0
        assert second + rest <= size
        assert min(room, rest) >= size // 2 - 16
    assert soc.part_of(NE16) == (0, 114 * 1024)


def test_only_programs_with_units_side_by_side_have_loops() -> None:
    for unit in ("cluster", "ne16"):
        alone, beside = unit_api(unit), unit_api(unit, mode="concurrent")
        assert alone.queue is None and alone.store is not None
        assert beside.queue is not None and beside.store is None and beside.swap is None
        names = [{file.name for file in api.runtime} for api in (alone, beside)]
        assert names[1] - names[0] == {"match_gap9_beside.c", "match_gap9_beside.h"}
        waits = {kernel.wait for kernel in beside.kernels.values() if isinstance(kernel, Kernel)}
        assert "match_gap9_team_wait" not in waits


# ---- cost ------------------------------------------------------------------------------------------------------------


def test_kernels_that_core_0_leads_differ_from_offloaded_ones_in_what_is_around_them() -> None:
    offloaded = formulas.team_launch(TIMING) + int(formulas.team_kernel(TIMING, 2))
    led = formulas.led_launch(TIMING) + int(formulas.led_kernel(TIMING, 2))
    assert offloaded - led == (
        TIMING["team_offload_cycles"]
        + TIMING["team_start_cycles"]
        - TIMING["team_lead_cycles"]
        - 2 * TIMING["team_barrier_cycles"]
    )


@pytest.mark.parametrize(("unit", "pattern"), [("cluster", "conv2d"), ("ne16", "conv3x3"), ("ne16", "conv3x3_wide")])
def test_models_say_in_which_program_they_hold(unit: str, pattern: str) -> None:
    alone, beside = cost_model(unit, pattern), cost_model(unit, pattern, mode="concurrent")
    assert alone.name != beside.name  # the schedule cache tells them apart
    assert alone.overlap == "all"
    assert beside.overlap == ("all" if pattern == "conv3x3" else "data")


def test_the_controller_alone_requantises_eight_times_as_long_as_the_team() -> None:
    sizes = {"out_y": 30, "out_x": 30, "k_out": 32, "k_in": 16, "stride": 1, "weight_bits": 8, "shift": 40}
    team = int(wide_formulas.ne16_wide(TIMING, "conv1x1", **sizes))
    alone = int(wide_formulas.ne16_wide(TIMING, "conv1x1", **sizes, alone=True))
    assert 6 * team < alone < 8 * team


def test_launch_and_rest_of_stride_2_are_all_its_jobs() -> None:
    y = np.array([1, 2, 3, 8, 9])
    sizes = {"out_y": y, "out_x": np.full_like(y, 4), "k_out": 32, "k_in": 64}
    rest = ne16_formulas.ne16_stride2_rest(TIMING, "conv3x3", **sizes)
    total = ne16_formulas.ne16_layer(TIMING, "conv3x3", stride=2, **sizes)
    one = ne16_formulas.ne16_layer(TIMING, "conv3x3", stride=2, out_y=1, out_x=1, k_out=32, k_in=64)
    job = int(one) - TIMING["ne16_program_cycles"]
    assert (rest >= job - TIMING["ne16_program_cycles"]).all()
    assert (rest < total).all()


# ---- programs ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shares of a convolution, a depthwise one, stride 2, and a pointwise one."""
    builder = QdqBuilder(40, 16, 18, 18).conv(32, 3).conv(32, 3, group=32).conv(32, 3, stride=2).conv(16, 1)
    return builder.save(tmp_path_factory.mktemp("beside") / "beside.onnx")


MODES = ("eager", "lazy", "lazy:cluster", "lazy:ne16", "threads:3")


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_gives_the_same_bytes(plugins: Plugins, network: Path, mode: str) -> None:
    request = VerifyRequest(
        network, "gap9", precision="fast", execution="concurrent", mode=mode, sanitize=mode == "eager"
    )
    result = verify_model(request, plugins)
    assert result.bit_exact
    used = {task.queue for task in result.compilation.program.tasks if task.queue}
    assert used >= {"cluster", "ne16"}


@pytest.mark.parametrize("unit", ["cluster", "ne16"])
def test_a_unit_that_never_begins_ends_the_run_with_an_error(plugins: Plugins, network: Path, unit: str) -> None:
    request = VerifyRequest(network, "gap9", precision="fast", execution="concurrent", mode=f"hang:{unit}")
    with pytest.raises(ToolError) as error:
        verify_model(request, plugins)
    assert "run returned -3" in error.value.why  # ERROR_TIMEOUT


@pytest.mark.parametrize("preset", ["as-published", pytest.param("engine", marks=pytest.mark.slow)])
def test_side_by_side_is_faster_and_as_predicted(plugins: Plugins, network: Path, preset: str) -> None:
    request = VerifyRequest(network, "gap9", precision="fast", preset=preset)
    result = verify_model(request, plugins)
    before = verify_model(replace(request, execution="sequential"), plugins)
    assert result.bit_exact and before.bit_exact
    assert result.compilation.program.queues and not before.compilation.program.queues
    assert result.run.cycles_total < before.run.cycles_total
    predicted = result.compilation.program.predicted_cycles
    # Both sides queue on one channel of the DMA, which the prediction leaves out.
    assert 0.9 * predicted < result.run.cycles_total < 1.25 * predicted


def test_a_gain_within_the_uncertainty_is_declined(network: Path, tmp_path: Path) -> None:
    """Nothing of concurrent programs is measured: the simpler program is compiled, unless the user wants the other."""
    options = (network, "-t", "gap9", "--precision", "fast", "--json")
    plain = opened(match(["compile", *options, "-o", tmp_path / "plain"]).stdout)
    assert plain["queues"] == [] and plain["declined_cycles"] < plain["predicted_cycles"]
    assert plain["uncertainty"] == 0.1
    done = match(["compile", *options, "-o", tmp_path / "both", "--concurrent"])
    both = opened(done.stdout)
    assert both["predicted_cycles"] == plain["declined_cycles"] and both["uncertainty"] == 0.25
    assert match(["verify", *options, "--concurrent"]).returncode == 0
    assert match(["fit", *options, "--concurrent", "--budget", "l2=1M"]).returncode == 0


def test_a_concurrent_program_whose_host_computes_everything_needs_no_port(plugins: Plugins, tmp_path: Path) -> None:
    # No unit's files are part of it, so nothing defines match_port_wait.
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in "xy"]
    nodes = [helper.make_node("Tanh", ["x"], ["t"]), helper.make_node("Sin", ["t"], ["y"])]
    graph = helper.make_graph(nodes, "alone", value[:1], value[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "alone.onnx")
    request = VerifyRequest(model=tmp_path / "alone.onnx", target="gap9", execution="concurrent")
    result = verify_model(request, plugins)
    assert result.ok and result.compilation.program.queues
