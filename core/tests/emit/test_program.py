"""A whole program whose constants are partly streamed: its files, its blob, and what it computes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.candidate import Candidate
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment, SolverStatus
from match_core.contract.mapping import Mapping as UnitMapping
from match_core.contract.model import Model
from match_core.contract.pattern import Pattern
from match_core.contract.program import Buffer, MemoryUse, Program, Task
from match_core.contract.sources import SourceFile
from match_core.contract.structure import Match
from match_core.contract.unit_api import Kernel, PlatformApi, RuntimeFile, TwinApi, UnitApi
from match_core.contract.workload import Workload
from match_core.emit.manifest import manifest
from match_core.emit.program_files import EmitRequest, ProgramEmitter
from match_core.lower.constants import ConstantPool
from match_core.lower.lower import lower
from match_core.run.build import build
from match_core.run.compiler import SANITIZE, STRICT, BuildOptions
from match_core.run.execute import run_twin
from numpy.typing import NDArray

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import SOC, Where, faults, hand_schedule
from core.tests.emit.workloads import INTERFACES, Problem, Window, conv2d_of

SOLVED = SolverStatus("none", "optimal", 0, 0)
#: How each layer's constants travel: streamed and double buffered, partly resident, all resident.
PLANS: tuple[tuple[list[tuple[str, int]], dict[str, Where], dict[str, Where]], ...] = (
    ([("K", 2), ("OY", 4)], {"weight": (1, 2), "input": (2, 2), "output": (2, 2)}, {"weight": (1, 2)}),
    ([("OY", 3)], {"weight": (0, 1), "input": (1, 2), "output": (1, 2)}, {"weight": (0, 1), "addend": (0, 1)}),
    ([], {}, {}),
)


def chain() -> tuple[list[Problem], NDArray[np.uint8]]:
    """Three convolutions, each on the result of the one before, and the first input."""
    random, problems = np.random.default_rng(9), []
    same = Window(9, 3, 1, 1, 1)
    for channels in (5, 6, 3):
        problem = conv2d_of(random, channels, {5: 4, 6: 5, 3: 6}[channels], same, same)
        problems.append(problem)
    return problems, np.asarray(problems[0].operands["input"], np.uint8)


def api(problems: list[Problem]) -> UnitApi:
    """The fake unit; the pattern of layer n is ``conv<n>``."""
    files = {name: (lp.HERE / name).read_text() for name in ("fake_unit.h", "fake_unit.c")}

    def kernel(problem: Problem) -> Kernel:
        constants = {name: values for name, values in problem.operands.items() if name != "input"}
        return Kernel(INTERFACES["conv2d"], "conv2d_launch", "kernel_wait", pack=lambda match, workload: constants)

    others = {kind: Kernel(i, "", "", pack=lambda match, workload: {}) for kind, i in INTERFACES.items()}
    return UnitApi(
        platform=PlatformApi("fake_start", "fake_stop", "fake_call"),
        memory=lp.MEMORY,
        kernels={**others, **{f"conv{number}": kernel(problem) for number, problem in enumerate(problems)}},
        headers=("fake_unit.h",),
        twin=TwinApi(
            headers=(RuntimeFile("fake_unit.h", files["fake_unit.h"]),),
            sources=(RuntimeFile("fake_unit.c", files["fake_unit.c"]),),
            load_store="fake_load_store({data}, {bytes})",
        ),
        store=lp.STORE,
    )


def schedules(problems: list[Problem]) -> list[LoopSchedule]:
    found = []
    for problem, (cuts, near, stage) in zip(problems, PLANS, strict=True):
        schedule = hand_schedule(problem.workload, cuts, near, stage)
        assert faults(problem.workload, schedule) == ()
        found.append(schedule)
    return found


def _workload(problem: Problem, match: Match) -> Workload:
    return problem.workload


def model_of(name: str, problems: list[Problem]) -> tuple[Model, tuple[Assignment, ...]]:
    tensors = [gs.Variable("x", np.uint8, problems[0].operands["input"].shape)]
    nodes, assignments = [], []
    for number, (problem, schedule) in enumerate(zip(problems, schedules(problems), strict=True)):
        tensors.append(gs.Variable(f"y{number}", np.uint8, problem.expected.shape))
        nodes.append(gs.Node("Conv", f"conv{number}", inputs=[tensors[-2]], outputs=[tensors[-1]]))
        pattern = Pattern(f"conv{number}", "", None, (), partial(_workload, problem))
        match = Match((nodes[-1],), {"input": tensors[-2]})
        assignments.append(Assignment(Candidate(number, "array", pattern, match, problem.workload), schedule))
    return Model(name, gs.Graph(nodes, [tensors[0]], [tensors[-1]])), tuple(assignments)


def program_of(assignments: tuple[Assignment, ...], pool: ConstantPool) -> Program:
    """Activations and staging areas one behind the other."""
    buffers = [
        Buffer("input_0", ("x",), "home", 0, 1, 0, 0, "input"),
        Buffer("output_0", ("y2",), "home", 0, 1, 2, 2, "output"),
    ]
    offset = 0
    for index, assignment in enumerate(assignments):
        if index < 2:
            buffers.append(Buffer(f"a{index}", (f"y{index}",), "home", offset, 1024, index, index + 1))
            offset += 1024
        size = assignment.schedule.bytes_in("home")
        if size:
            buffers.append(Buffer(f"scratch_{index}", (), "home", offset, size, index, index, "scratch"))
            offset += size
    near = max(assignment.schedule.bytes_in("near") for assignment in assignments)
    memory = (
        MemoryUse("near", near, 0, 1 << 20),
        MemoryUse("home", offset, pool.size_bytes, 1 << 20),
        MemoryUse("store", 0, len(pool.image), 1 << 20),
    )
    tasks = tuple(Task(index, assignment, (), (), (), 0) for index, assignment in enumerate(assignments))
    return Program(SOC, tasks, tuple(buffers), memory, SOLVED, 0)


def title(assignment: Assignment) -> str:
    return assignment.candidate.pattern.name


def emit(name: str) -> tuple[SourceFile, ...]:
    """All files of the program."""
    problems, _ = chain()
    model, assignments = model_of(name, problems)
    apis, pool = {"array": api(problems)}, ConstantPool(name)
    lowered = lower(name, assignments, apis, pool, title, SOC)
    program = program_of(assignments, pool)
    emitter = ProgramEmitter(EmitRequest(model, title, program, lowered, pool, apis, "1"))
    files = emitter.emit()
    return (*files, manifest(emitter, UnitMapping(assignments, SOLVED), files, {}, {}))


def write(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    for file in emit(name):
        (folder / file.name).parent.mkdir(exist_ok=True)
        (folder / file.name).write_bytes(file.content)


def expected() -> NDArray[np.uint8]:
    """What the chain computes: each layer on the result of the one before."""
    problems, x = chain()
    for problem in problems:
        geometry = problem.workload.parameters
        padded = np.pad(x, ((1, 1), (1, 1), (0, 0)), constant_values=geometry["pad_value"]).astype(np.int64)
        w, m, a = (problem.operands[key].astype(np.int64) for key in ("weight", "multiplier", "addend"))
        sums = np.stack([[(w * padded[y : y + 3, q : q + 3]).sum(axis=(1, 2, 3)) for q in range(9)] for y in range(9)])
        x = np.clip((sums * m + a) >> 16, 0, 255).astype(np.uint8)
    return x


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_streamed_constants_reach_their_kernels(mode: str, tmp_path: Path) -> None:
    problems, x = chain()
    write(tmp_path / "program", "chain")
    document = json.loads((tmp_path / "program" / "match.lock.json").read_text())
    apis = {"array": api(problems)}
    executable = build(tmp_path / "program", tmp_path / "work", apis, "host", BuildOptions(sanitize=True))
    result = run_twin(executable, document, {"x": np.stack([x, x])}, tmp_path / "work", mode)
    np.testing.assert_array_equal(result.outputs["y2"], np.stack([expected()] * 2))


def test_blob_and_manifest(tmp_path: Path) -> None:
    files: Mapping[str, bytes] = {file.name: file.content for file in emit("chain")}
    problems, _ = chain()
    document = json.loads(files["match.lock.json"])
    blob = files["chain_store.bin"]
    assert document["stores"] == [
        {"memory": "store", "field": "store", "file": "chain_store.bin", "size_bytes": len(blob), "alignment_bytes": 16}
    ]
    streamed = [problems[0].operands["weight"], problems[1].operands["weight"], problems[1].operands["addend"]]
    weights = files["chain_weights.c"].decode()
    for values in streamed:
        place = blob.find(values.tobytes())
        assert place >= 0 and place % 16 == 0
    assert "chain_00_weight" not in weights and "chain_01_addend" not in weights and "chain_01_multiplier" in weights
    assert document["memory"]["store"]["constant_bytes"] == len(blob)
    assert document["nodes"][0]["steps"] == schedules(problems)[0].steps
    assert {"operand": "weight", "memory": "home", "buffers": 2, "size_bytes": 80} in document["nodes"][0]["buffers"]
    assert "two buffers for input, weight, output; streamed weight;" in files["chain_array.c"].decode()
    assert set(document["files"]) == set(files) - {"match.lock.json"}
    texts = [content.decode() for name, content in files.items() if name.endswith((".c", ".h"))]
    assert max(len(line) for text in texts for line in text.splitlines()) <= 120


def test_two_programs_in_one_application(tmp_path: Path) -> None:
    """Every symbol has the program's prefix: two programs link, and example applications compile."""
    for name in ("first", "second"):
        write(tmp_path, name)
    for name in ("fake_unit.h", "fake_unit.c"):
        (tmp_path / name).write_text((lp.HERE / name).read_text())
    units = [f"{name}{part}.c" for name in ("first", "second") for part in ("", "_array", "_weights")]
    for name in (*units, "example/main.c"):
        subprocess.run(["cc", *STRICT, "-I.", "-c", name], cwd=tmp_path, check=True)
    subprocess.run(["cc", "-w", "-c", "fake_unit.c"], cwd=tmp_path, check=True)
    (tmp_path / "store.c").write_text(
        '#include "fake_unit.h"\nuint32_t load_store(void);\nuint32_t load_store(void) { return 0x10000000u; }\n'
    )
    subprocess.run(["cc", "-c", "store.c"], cwd=tmp_path, check=True)
    objects = [name.replace(".c", ".o") for name in (*units, "main.c", "fake_unit.c", "store.c")]
    subprocess.run(["cc", *objects, "-lm", "-o", "both"], cwd=tmp_path, check=True)
    symbols = subprocess.run(
        ["nm", "-g", *[u.replace(".c", ".o") for u in units]], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    defined = [line.split()[2] for line in symbols.stdout.splitlines() if len(line.split()) == 3]
    assert defined and all(name.startswith(("first", "second")) for name in defined)


STEPS = """
#include "chain.h"
#include "fake_unit.h"
#include "data.h"
#include <stdio.h>
#include <stdlib.h>

static _Alignas(16) uint8_t near[CHAIN_NEAR_BYTES], home[CHAIN_HOME_BYTES];
static uint8_t out[OUTPUT_BYTES];

static void expect(int found, int wanted)
{
    if (found != wanted) {
        printf("%d, not %d\\n", found, wanted);
        exit(3);
    }
}

int main(void)
{
    static chain_state_t state;
    const chain_t none = {near, home, fake_load_store(image, sizeof image), NULL};
    const chain_t ctx = {near, home, none.store, &state};
    const chain_inputs_t in = {x};
    const chain_outputs_t outputs = {out};
    const chain_t shifted = {near + 1, home, none.store, &state};
    const chain_inputs_t no_input = {NULL};
    expect(chain_init(NULL), CHAIN_ERROR_ARGUMENT);
    expect(chain_init(&none), CHAIN_ERROR_ARENA);
    expect(chain_init(&shifted), CHAIN_ERROR_ARENA);
    /* before init, and after an init that failed */
    for (int failed = 0; failed < 2; failed++) {
        expect(chain_run(&ctx, &in, &outputs), CHAIN_ERROR_STATE);
        expect(chain_start(&ctx, &in, &outputs), CHAIN_ERROR_STATE);
        expect(chain_poll(&ctx), CHAIN_ERROR_STATE);
        expect(chain_wait(&ctx), CHAIN_ERROR_STATE);
        expect(chain_cancel(&ctx), CHAIN_ERROR_STATE);
        chain_stop(&ctx);
        fake_failing_start = 1;
        expect(chain_init(&ctx), CHAIN_ERROR_UNIT);
        fake_failing_start = 0;
    }
    expect(fake_starts, 0);
    chain_stop(NULL);
    expect(chain_init(&ctx), CHAIN_OK);
    expect(chain_init(&ctx), CHAIN_OK);
    expect(fake_starts, 1);
    expect(chain_run(NULL, &in, &outputs), CHAIN_ERROR_ARGUMENT);
    expect(chain_run(&shifted, &in, &outputs), CHAIN_ERROR_ARENA);
    expect(chain_run(&ctx, NULL, &outputs), CHAIN_ERROR_ARGUMENT);
    expect(chain_run(&ctx, &in, NULL), CHAIN_ERROR_ARGUMENT);
    expect(chain_run(&ctx, &no_input, &outputs), CHAIN_ERROR_ARGUMENT);
    expect(chain_start(&ctx, &in, &outputs), CHAIN_OK);
    expect(chain_poll(&ctx), CHAIN_BUSY);
    expect(chain_cancel(&ctx), CHAIN_OK);
    expect(chain_wait(&ctx), CHAIN_CANCELLED);
    expect(chain_poll(&ctx), CHAIN_CANCELLED);
    expect(chain_start(&ctx, &in, &outputs), CHAIN_OK);
    expect(chain_start(&ctx, &in, &outputs), CHAIN_ERROR_UNIT);
    expect(chain_poll(&ctx), CHAIN_BUSY);
    expect(chain_poll(&ctx), CHAIN_BUSY);
    expect(chain_poll(&ctx), CHAIN_OK);
    expect(chain_poll(&ctx), CHAIN_OK);
    for (unsigned i = 0; i < sizeof out; i++) {
        printf("%02x", out[i]);
    }
    expect(chain_wait(&ctx), CHAIN_OK);
    chain_stop(&ctx);
    expect(fake_starts, 0);
    return chain_run(&ctx, &in, &outputs) != CHAIN_ERROR_STATE;
}
"""


def test_an_application_runs_task_by_task(tmp_path: Path) -> None:
    write(tmp_path, "chain")
    for name in ("fake_unit.h", "fake_unit.c"):
        (tmp_path / name).write_text((lp.HERE / name).read_text())
    image, x = (tmp_path / "chain_store.bin").read_bytes(), chain()[1].tobytes()
    arrays = [f"static const uint8_t {n}[] = {{{','.join(map(str, c))}}};" for n, c in (("image", image), ("x", x))]
    (tmp_path / "data.h").write_text("\n".join([f"#define OUTPUT_BYTES {expected().nbytes}", *arrays]))
    (tmp_path / "steps.c").write_text(STEPS)
    sources = ["chain.c", "chain_array.c", "chain_weights.c", "steps.c", "fake_unit.c"]
    subprocess.run(["cc", "-std=c11", *SANITIZE, *sources, "-lm", "-o", "steps"], cwd=tmp_path, check=True)
    done = subprocess.run(["./steps"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, expected().tobytes().hex())


def test_same_input_gives_same_bytes() -> None:
    assert emit("chain") == emit("chain")
