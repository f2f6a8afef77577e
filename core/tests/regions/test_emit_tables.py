"""What a unit's runtime reads of a region is what the package put in: random shapes, types, constants and code."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from match_core.contract.candidate import Candidate
from match_core.contract.cost import Cost
from match_core.contract.element_types import c_type
from match_core.contract.hardware import Memory, Soc
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment, SolverStatus
from match_core.contract.model import Model
from match_core.contract.pattern import Pattern
from match_core.contract.program import Buffer, MemoryUse, Program, Task
from match_core.contract.structure import Match
from match_core.contract.unit_api import PlatformApi, RegionCode, RegionKernel, RegionRequest, RuntimeFile, UnitApi
from match_core.contract.workload import Dim, Workload
from match_core.emit.program_files import EmitRequest, ProgramEmitter
from match_core.lower.constants import ConstantPool
from match_core.lower.lower import lower
from match_core.lower.region_code import element_number
from match_core.run.compiler import SANITIZE, STRICT
from numpy.typing import NDArray

from tests.examples import examples

TYPES = ("float32", "float64", "float16", "int8", "uint8", "int16", "int32", "uint32", "int64", "bool")
HOME = "home"
SOC = Soc("chip", "a chip", "host", ("host", "probe"), (Memory(HOME, 2, 1 << 20),), (), HOME)
SOLVED = SolverStatus("none", "optimal", 0, 0)
HEADER = """#include "match_region.h"
int probe_load(const match_region_t *region, void **handle);
int probe_run(void *handle, const void *const *in, void *const *out, void *scratch);
void probe_unload(void *handle);
"""
#: Prints every field of a region as JSON, and behind it what a run receives; fills output n with bytes n + 1.
SOURCE = r"""
#include "probe.h"
#include <stdio.h>
#include <string.h>

static size_t bytes_of(const match_region_tensor_t *tensor)
{
    static const size_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8};
    size_t count = sizes[tensor->type];
    for (uint32_t n = 0u; n < tensor->rank; n++) {
        count *= tensor->dims[n];
    }
    return count;
}

static void print_bytes(const void *data, size_t count)
{
    putchar('"');
    for (size_t n = 0u; n < count; n++) {
        printf("%02x", ((const uint8_t *)data)[n]);
    }
    putchar('"');
}

static void print_tensors(const match_region_tensor_t *tensors, uint32_t count)
{
    putchar('[');
    for (uint32_t n = 0u; n < count; n++) {
        printf("%s[%u, [", (n > 0u) ? ", " : "", (unsigned)tensors[n].type);
        for (uint32_t d = 0u; d < tensors[n].rank; d++) {
            printf("%s%u", (d > 0u) ? ", " : "", (unsigned)tensors[n].dims[d]);
        }
        printf("], ");
        if (tensors[n].data == NULL) {
            printf("null");
        } else {
            print_bytes(tensors[n].data, bytes_of(&tensors[n]));
        }
        putchar(']');
    }
    putchar(']');
}

int probe_load(const match_region_t *region, void **handle)
{
    printf("{\"name\": \"%s\", \"code\": ", region->name);
    print_bytes(region->code, region->code_bytes);
    printf(", \"inputs\": ");
    print_tensors(region->inputs, region->inputs_count);
    printf(", \"outputs\": ");
    print_tensors(region->outputs, region->outputs_count);
    printf(", \"constants\": ");
    print_tensors(region->constants, region->constants_count);
    printf("}\n");
    *handle = (void *)(uintptr_t)region;
    return 0;
}

int probe_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const match_region_t *const region = handle;
    (void)scratch;
    printf("[");
    for (uint32_t n = 0u; n < region->inputs_count; n++) {
        printf("%s", (n > 0u) ? ", " : "");
        print_bytes(in[n], bytes_of(&region->inputs[n]));
    }
    printf("]\n");
    for (uint32_t n = 0u; n < region->outputs_count; n++) {
        memset(out[n], (int)(n + 1u), bytes_of(&region->outputs[n]));
    }
    return 0;
}

void probe_unload(void *handle)
{
    (void)handle;
}
"""


@dataclass(frozen=True)
class Drawn:
    """A region: values of its inputs and constants, (type, shape) of its outputs, and its code."""

    inputs: tuple[NDArray[np.generic], ...]
    constants: tuple[NDArray[np.generic], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    code: bytes


def arrays(least: int) -> st.SearchStrategy[NDArray[np.generic]]:
    shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=least, max_side=4)
    types = st.sampled_from(TYPES)
    return st.tuples(types, shapes, st.integers(0, 2**32 - 1)).map(lambda drawn: _values(*drawn))


def _values(kind: str, shape: tuple[int, ...], seed: int) -> NDArray[np.generic]:
    random = np.random.default_rng(seed)
    if kind == "bool":
        return np.asarray(random.integers(0, 2, shape), bool)
    values = random.integers(-100, 100, shape)
    return np.asarray(values / 8 if "float" in kind else np.abs(values), kind)


REGIONS = st.builds(
    Drawn,
    inputs=st.lists(arrays(1), max_size=3).map(tuple),
    constants=st.lists(arrays(0), max_size=3).map(tuple),
    outputs=st.lists(arrays(1).map(lambda a: (a.dtype.name, a.shape)), min_size=1, max_size=3).map(tuple),
    code=st.binary(max_size=40),
)


def _program(drawn: list[Drawn]) -> tuple[Model, tuple[Assignment, ...], Program]:
    """Each region as a task of its own, between graph inputs and graph outputs."""
    nodes, inputs, outputs, assignments = [], [], [], []
    for number, region in enumerate(drawn):
        read = [gs.Variable(f"x{number}_{n}", a.dtype, list(a.shape)) for n, a in enumerate(region.inputs)]
        kept = [gs.Constant(f"c{number}_{n}", a) for n, a in enumerate(region.constants)]
        made = [gs.Variable(f"y{number}_{n}", np.dtype(t), list(s)) for n, (t, s) in enumerate(region.outputs)]
        nodes.append(gs.Node("Probe", f"n{number}", inputs=[*kept, *read], outputs=made))
        inputs += read
        outputs += made
        workload = Workload("probe", (Dim("N", 1),), (), 0)
        pattern = Pattern("probe", "", None, (), lambda match, work=workload: work)  # type: ignore[misc]  # a default
        candidate = Candidate(number, "probe", pattern, Match((nodes[-1],), {}, tuple(made)), workload)
        assignments.append(Assignment(candidate, LoopSchedule((), (), (), 0, 0, None, (), Cost())))
    buffers = [Buffer(f"input_{n}", (t.name,), HOME, 0, 1, 0, 0, "input") for n, t in enumerate(inputs)]
    buffers += [Buffer(f"output_{n}", (t.name,), HOME, 0, 1, 0, 0, "output") for n, t in enumerate(outputs)]
    names = {tensor: buffer.name for buffer in buffers for tensor in buffer.tensors}
    tasks = tuple(
        Task(
            n,
            assignment,
            tuple(names[t.name] for t in node.inputs if isinstance(t, gs.Variable)),
            tuple(names[t.name] for t in node.outputs),
            (),
            0,
        )
        for n, (node, assignment) in enumerate(zip(nodes, assignments, strict=True))
    )
    memory = (MemoryUse(HOME, 0, 0, 1 << 20),)
    program = Program(SOC, tasks, tuple(buffers), memory, SOLVED, 0)
    return Model("net", gs.Graph(nodes, inputs, outputs)), tuple(assignments), program


def _api(drawn: list[Drawn]) -> UnitApi:
    def compiled(request: RegionRequest) -> RegionCode:
        region = drawn[int(request.region.nodes[0].name[1:])]
        constants = tuple(tensor.values for tensor in request.region.constants)
        return RegionCode("binary", region.code, "probe_load", "probe_run", "probe_unload", constants)

    runtime = (RuntimeFile("probe.h", HEADER), RuntimeFile("probe.c", SOURCE))
    return UnitApi(PlatformApi(), None, {"probe": RegionKernel(compiled)}, headers=("probe.h",), runtime=runtime)


def _main(model: Model, drawn: list[Drawn]) -> str:
    values = [array for region in drawn for array in region.inputs]
    lines = ['#include "net.h"', "static net_state_t state;"]
    for tensor, array in zip(model.graph.inputs, values, strict=True):
        content = ", ".join(map(str, array.tobytes()))
        lines.append(f"static _Alignas(8) const uint8_t bytes_{tensor.name}[] = {{{content}}};")
    for tensor in model.graph.outputs:
        size = int(np.prod(tensor.shape, dtype=np.int64))
        lines.append(f"static {c_type(tensor.dtype)} out_{tensor.name}[{size}];")
    ins = [f".{t.name} = (const void *)bytes_{t.name}" for t in model.graph.inputs] or [".unused = 0u"]
    outs = [f".{t.name} = out_{t.name}" for t in model.graph.outputs]
    lines += [
        "int main(void)",
        "{",
        "    const net_t ctx = {.state = &state};",
        f"    const net_inputs_t in = {{{', '.join(ins)}}};",
        f"    const net_outputs_t out = {{{', '.join(outs)}}};",
        "    if (net_init(&ctx) != NET_OK || net_run(&ctx, &in, &out) != NET_OK) {",
        "        return 1;",
        "    }",
    ]
    for region in range(len(drawn)):
        for number in range(len(drawn[region].outputs)):
            name = f"out_y{region}_{number}"
            check = f"((const uint8_t *){name})[n] != {number + 1}u"
            lines.append(f"    for (uint32_t n = 0u; n < sizeof {name}; n++) if ({check}) return 2;")
    return "\n".join([*lines, "    net_stop(&ctx);", "    return 0;", "}", ""])


def _ran(folder: Path, drawn: list[Drawn]) -> list[object]:
    """The lines that the probe prints."""
    model, assignments, program = _program(drawn)
    pool, apis = ConstantPool("net"), {"probe": _api(drawn)}
    lowered = lower("net", assignments, apis, pool, lambda a: str(a.candidate.match.nodes[0].name), SOC)
    request = EmitRequest(model, lambda a: "a */ region", program, lowered, pool, apis, "1")
    files = {file.name: file.content for file in ProgramEmitter(request).emit()}
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "main.c").write_text(_main(model, drawn))
    sources = [name for name in sorted(files) if name.endswith(".c") and "/" not in name]
    done = subprocess.run(
        ["cc", *STRICT, *SANITIZE, "-O0", *sources, "main.c", "-lm", "-o", "app"],
        cwd=folder, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([folder / "app"], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def _entry(array: NDArray[np.generic], *, data: bool) -> list[object]:
    return [element_number(array.dtype), list(array.shape), array.tobytes().hex() if data else None]


@settings(max_examples=examples(6), deadline=None, derandomize=True)
@given(st.lists(REGIONS, min_size=1, max_size=6))
def test_the_runtime_reads_what_was_put_in(drawn: list[Drawn]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = _ran(Path(folder), drawn)
    for number, region in enumerate(drawn):
        made = [np.zeros(shape, kind) for kind, shape in region.outputs]
        assert lines[number] == {
            "name": f"net_probe_{number:02d}",
            "code": region.code.hex(),
            "inputs": [_entry(array, data=False) for array in region.inputs],
            "outputs": [_entry(array, data=False) for array in made],
            "constants": [_entry(array, data=True) for array in region.constants],
        }
        assert lines[len(drawn) + number] == [array.tobytes().hex() for array in region.inputs]


def test_a_region_of_constants_only(tmp_path: Path) -> None:
    """No input: what computes nothing but constants is folded before, but a hand-made program may hold it."""
    scalar = np.array(2.5, np.float32)
    found = _ran(tmp_path, [Drawn((), (scalar,), (("float32", ()),), b"code")])
    assert found[0]["inputs"] == []  # type: ignore[call-overload, index]  # JSON
    assert found[0]["constants"] == [[1, [], scalar.tobytes().hex()]]  # type: ignore[call-overload, index]  # JSON
    assert found[1] == []
