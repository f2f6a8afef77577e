"""Programs of a unit that rounds twice: a package with the pass, and an engine in C as gemmlowp defines it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_verify.verify import VerifyRequest, verify_model

from core.tests.plugin.conftest import site as site  # fake distributions on the path
from tests.end_to_end.test_moss import Int8Network

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site

PLUGIN = r'''
from match_core import (Any, AtomClaim, Const, Op, RegionClaims, RegionCode, RegionKernel, RegionLimits, RequantSpec,
                        RuntimeFile)
from match_quant.double import double_requantised, double_rounding, double_rule, doubled
from match_regions import RegionCost, atoms_in, region_pattern

SPEC = RequantSpec(32, True, 64, shift_max=31, activation_type="int8", rounding="double")
DENSE = double_requantised(Op("MatMulInteger", "dense", (Any("input"), Const("weight"))), "I8")
CLAIMS = RegionClaims(atoms=(AtomClaim("dense", DENSE, (double_rule(31),)),), limits=RegionLimits(nodes_max=2),
                      counts=lambda region: {"cycles": 10})
HEADER = """#include <stdint.h>
#include "match_region.h"
int twice_load(const match_region_t *region, void **handle);
int twice_run(void *handle, const void *const *in, void *const *out, void *scratch);
void twice_unload(void *handle);
"""
SOURCE = r"""#include "twice.h"
static int32_t high_mul(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;
    const int64_t nudge = (product >= 0) ? (INT64_C(1) << 30) : (1 - (INT64_C(1) << 30));
    return (int32_t)((product + nudge) / (INT64_C(1) << 31));
}
static int32_t divide(int32_t x, int32_t exponent)
{
    const int32_t mask = (int32_t)((INT64_C(1) << exponent) - 1), remainder = x & mask;
    const int32_t threshold = (mask >> 1) + ((x < 0) ? 1 : 0);
    return (x >> exponent) + ((remainder > threshold) ? 1 : 0);
}
int twice_load(const match_region_t *region, void **handle)
{
    *handle = (void *)(uintptr_t)region;
    return 0;
}
int twice_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const match_region_t *const region = handle;
    const int8_t *const x = in[0], *const weight = region->constants[0].data;
    const int32_t *const numbers = region->constants[1].data; /* zero, low, high, then multiplier, addend, shift */
    int8_t *const y = out[0];
    const uint32_t inputs = region->constants[0].dims[0], outputs = region->constants[0].dims[1];
    for (uint32_t k = 0u; k < outputs; k++) {
        const int32_t *const own = &numbers[3u + 3u * k];
        int32_t sum = own[1];
        for (uint32_t i = 0u; i < inputs; i++) {
            sum += x[i] * weight[i * outputs + k];
        }
        const int32_t value = divide(high_mul(sum, own[0]), own[2]) + numbers[0];
        y[k] = (int8_t)((value < numbers[1]) ? numbers[1] : (value > numbers[2]) ? numbers[2] : value);
    }
    (void)scratch;
    return 0;
}
void twice_unload(void *handle)
{
    (void)handle;
}
"""


def compiled(request):
    import numpy as np

    ((_, match),) = atoms_in(request.region, CLAIMS)
    weight = match.const("weight")
    found = doubled(match, weight.shape[1])
    columns = np.stack([found.multiplier, found.addend, found.shift], axis=1).reshape(-1)
    numbers = np.concatenate([[found.zero, found.low, found.high], columns]).astype(np.int32)
    return RegionCode("binary", b"twice", "twice_load", "twice_run", "twice_unload", (weight, numbers))


@hookimpl
def match_hardware():
    engine = Unit("twice", "an engine that rounds twice", requant=SPEC)
    return Hardware(units=(engine,), socs=(chip("twice_chip", "twice"),))


@hookimpl
def match_transforms(soc):
    return (double_rounding("twice", SPEC),) if "twice" in soc.units else ()


@hookimpl
def match_patterns(unit):
    return (region_pattern("twice_region", "dense layers", CLAIMS),) if unit.name == "twice" else ()


@hookimpl
def match_cost(soc, unit, pattern):
    return RegionCost("twice") if unit.name == "twice" else None


@hookimpl
def match_emit_api(soc, unit):
    if unit.name != "twice":
        return None
    files = (RuntimeFile("twice.h", HEADER), RuntimeFile("twice.c", SOURCE))
    return UnitApi(PlatformApi(), None, {"twice_region": RegionKernel(compiled)}, headers=("twice.h",), runtime=files)
'''


def _network(path: Path) -> Path:
    net = Int8Network(4)
    net.scales["x"] = 0.05
    a = net.layer("x", "a", (6, 4, 3, 3), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    flat = net.stored(net.add("Flatten", [net.real(a)], "flat"), "f", net.scales[a])
    b = net.layer(flat, "b", (384, 20))
    c = net.layer(b, "c", (20, 10), relu=False)
    onnx.save(net.model({"x": (1, 4, 8, 8)}, {c: (1, 10)}), path)
    return path


def test_the_engine_and_the_host_round_twice_bit_exact(site: Site, tmp_path: Path) -> None:
    site.plugin("twice", PLUGIN)
    plugins = site.load()
    result = verify_model(VerifyRequest(_network(tmp_path / "net.onnx"), "twice_chip", sanitize=True), plugins)
    assert result.ok and result.bit_exact and plugins.faults == ()
    patterns = [task.assignment.candidate.pattern.name for task in result.compilation.program.tasks]
    assert patterns.count("twice_region") == 2
    ops = [node.op for node in result.compilation.model.graph.nodes]
    assert ops.count("RequantDoubleI8") == 3 and "RequantI8" not in ops


def test_exact_layers_leave_the_engine(site: Site, tmp_path: Path) -> None:
    site.plugin("twice", PLUGIN)
    request = CompileRequest(_network(tmp_path / "net.onnx"), "twice_chip", cache=False, exact=("b_p",))
    made = build_program(request, site.load(), NullObserver())
    assert [node.op for node in made.model.graph.nodes].count("RequantI8") == 1
    assert [task.assignment.candidate.pattern.name for task in made.program.tasks].count("twice_region") == 1
