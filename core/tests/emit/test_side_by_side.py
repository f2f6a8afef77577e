"""Emitted programs of units side by side: what they compute, and that nothing hangs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from match_core.contract.program import Program
from match_core.run.compiler import SANITIZE, STRICT

from core.tests.emit import layer_program as lp
from core.tests.emit.side_program import JOBS, chain, emit, expected, random_jobs

THREADS = ("-fsanitize=thread", "-fPIE", "-g1", "-O1")
LIMITS = ("-DSIDE_WAIT_LIMIT=fake_wait_limit", "-DAGAIN_WAIT_LIMIT=fake_wait_limit")
#: Ways to run, and how many outputs each prints.
WAYS = {"one": 3, "two": 3, "array": 1, "other": 1, "swap": 1, "poll": 1}


def literals(name: str, content: bytes) -> str:
    return f"static const uint8_t {name}[] = {{{','.join(map(str, content))}}};\n"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs of the same model, and an application."""
    folder = tmp_path_factory.mktemp("side")
    for name in ("side", "again"):
        for file in emit(name):
            (folder / file.name).parent.mkdir(exist_ok=True)
            (folder / file.name).write_bytes(file.content)
    (folder / "side_main.c").write_text((lp.HERE / "side_main.c").read_text())
    image, x = (folder / "side_store.bin").read_bytes(), chain()[1]
    size = expected(x).nbytes
    data = f"#define OUTPUT_BYTES {size}u\n{literals('side_image', image)}{literals('side_x', x.tobytes())}"
    (folder / "side_data.h").write_text(data)
    return folder


def build(folder: Path, executable: str, checks: tuple[str, ...]) -> Path:
    parts = ("", "_array", "_host", "_other", "_weights")
    program = [f"{name}{part}.c" for name in ("side", "again") for part in parts]
    objects = []
    for source in (*program, "side_main.c", "fake_unit.c", "fake_queues.c"):
        flags = STRICT if source in program else ("-std=c11",)
        objects.append(f"{executable}_{source}.o")
        command = ["cc", *flags, *checks, *LIMITS, "-c", source, "-o", objects[-1]]
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    subprocess.run(["cc", *checks, *objects, "-lm", "-pthread", "-o", executable], cwd=folder, check=True)
    return folder / executable


@pytest.fixture(scope="module")
def sanitized(sources: Path) -> Path:
    return build(sources, "sanitized", SANITIZE)


@pytest.fixture(scope="module")
def threaded(sources: Path) -> Path:
    return build(sources, "threaded", THREADS)


def start(executable: Path, way: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(executable), way], check=False, capture_output=True, text=True, timeout=120)


def run(executable: Path, way: str) -> None:
    """Every output must be the expected one."""
    done = start(executable, way)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = expected(chain()[1])
    outputs = [np.frombuffer(bytes.fromhex(line), np.uint8) for line in done.stdout.splitlines()]
    assert len(outputs) == WAYS[way]
    for output in outputs:
        np.testing.assert_array_equal(output.reshape(wanted.shape), wanted)


@pytest.mark.parametrize("way", list(WAYS))
def test_runs_end_with_the_right_result(way: str, sanitized: Path) -> None:
    run(sanitized, way)


@pytest.mark.parametrize("way", ["one", "two"])
def test_counters_alone_order_what_units_do(way: str, threaded: Path) -> None:
    """The thread sanitizer sees no two accesses that nothing orders."""
    run(threaded, way)


RANDOM_MAIN = """
#include <stdio.h>
#include "{name}.h"
#include "fake_unit.h"

void run_{name}(const uint8_t *x);
void run_{name}(const uint8_t *x)
{{
    static _Alignas(16) uint8_t near[{guard}_NEAR_BYTES], home[{guard}_HOME_BYTES], out[{size}];
    static {name}_state_t state;
    const {name}_t ctx = {{.near = near, .home = home, .state = &state}};
    const {name}_inputs_t in = {{x}};
    const {name}_outputs_t outputs = {{out}};
    int status = {name}_init(&ctx);
    if (status == 0) {{
        status = {name}_run(&ctx, &in, &outputs);
    }}
    for (unsigned i = 0; status == 0 && i < sizeof out; i++) {{
        printf("%02x", out[i]);
    }}
    printf("\\n");
    {name}_stop(&ctx);
}}
"""


def test_operators_divided_by_chance(tmp_path: Path) -> None:
    random, names = np.random.default_rng(21), [f"net{number}" for number in range(6)]
    _, x = chain()
    jobs = [random_jobs(random) for _ in names]
    assert {job.share[0] for some in jobs for job in some if job.share} == {"K", "OY", "OX"}
    sources = ["main.c", "fake_unit.c", "fake_queues.c"]
    for name, some in zip(names, jobs, strict=True):
        for file in emit(name, jobs=some):
            (tmp_path / file.name).parent.mkdir(exist_ok=True)
            (tmp_path / file.name).write_bytes(file.content)
        main = RANDOM_MAIN.format(name=name, guard=name.upper(), size=expected(x).nbytes)
        (tmp_path / f"run_{name}.c").write_text(main)
        sources += [path.name for path in tmp_path.glob(f"{name}*.c")] + [f"run_{name}.c"]
    calls = [f"void run_{name}(const uint8_t *x);" for name in names]
    calls += ["int main(void)", "{", *(f"    run_{name}(x);" for name in names), "    return 0;", "}", ""]
    (tmp_path / "main.c").write_text("\n".join(["#include <stdint.h>", literals("x", x.tobytes()), *calls]))
    limits = [f"-D{name.upper()}_WAIT_LIMIT=fake_wait_limit" for name in names]
    command = ["cc", "-std=c11", *SANITIZE, *limits, *sources, "-lm", "-pthread", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./program"], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [expected(x).tobytes().hex()] * len(names)


def test_counters_without_order_are_found(sources: Path) -> None:
    """The test before can fail: without release order the thread sanitizer complains."""
    relaxed = "-DMATCH_STORE(counter,value)=atomic_store_explicit((counter),(value),memory_order_relaxed)"
    done = start(build(sources, "relaxed", (*THREADS, relaxed)), "one")
    assert done.returncode != 0 and "data race" in done.stderr


def test_manifest(sources: Path) -> None:
    document = json.loads((sources / "match.lock.json").read_text())
    assert document["queues"][1] == {"name": "array", "kind": "unit", "tasks": [1, 3, 5]}
    node = document["nodes"][4]
    assert (node["queue"], node["needs"], node["start_cycles"], node["cycles"]) == ("other", {"link": 2}, 400, 90)
    assert node["share"] == {"dim": "K", "first": 2, "size": 4}
    assert "share" not in document["nodes"][5] and len(document["nodes"]) == len(JOBS)
    assert document["swap"] == {"memory": "store", "field": "store_swap", "size_bytes": 512, "alignment_bytes": 16}
    assert document["swaps"][1]["target"] == "y0_back"
    assert document["signalling"]["wake_cycles"] == 20
    assert document["state_bytes"] == 4 * 128 + 128
    images = document["images"]
    assert images["array"] == ["again_array.c", "fake_queues.c", "fake_unit.c"]
    assert "again_array.c" not in images["host"] and "again_weights.c" in images["host"]


def test_state_has_the_stated_size(sources: Path) -> None:
    check = '#include "again.h"\n_Static_assert(sizeof(again_state_t) == 640 && sizeof(void *) == 8, "size");\n'
    done = subprocess.run(["cc", "-x", "c", "-fsyntax-only", "-"], cwd=sources, input=check, text=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("bits", ["-m32", "-m64"])
def test_host_and_unit_of_other_widths_see_the_same_state(bits: str, sources: Path) -> None:
    """Host and unit are separate images here: no pointers to code, addresses of 32 bits."""
    places = {"queue[3].done": 448, "base[4]": 528, "store": 536, "status": 552}
    text = '#include "side.h"\n#include <stddef.h>\n' + "".join(
        f'_Static_assert(offsetof(side_state_t, {field}) == {place}, "{field}");\n' for field, place in places.items()
    )
    flags = [bits, "-ffreestanding", "-DMATCH_ADDRESS=uint32_t", "-DMATCH_LOOP(name)=NULL", "-fsyntax-only"]
    done = subprocess.run(
        ["cc", "-std=c11", *flags, "-x", "c", "-"], cwd=sources, input=text, text=True, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    for source in ("side.c", "side_array.c"):
        command = ["cc", *STRICT, "-DMATCH_ADDRESS=uint32_t", "-DMATCH_LOOP(name)=NULL", "-fsyntax-only", source]
        done = subprocess.run(command, cwd=sources, text=True, check=False, capture_output=True)
        assert done.returncode == 0, done.stderr


def test_images_need_nothing_of_each_other_but_constants(sources: Path) -> None:
    """Linked for itself, a unit's image lacks only constants, which the host's image has; the host lacks no code."""
    images = json.loads((sources / "match.lock.json").read_text())["images"]
    undefined, defined = {}, {}
    for image, files in images.items():
        command = ["cc", "-std=c11", "-DMATCH_LOOP(name)=NULL", "-nostdlib", "-r", *files, "-o", f"{image}.image"]
        subprocess.run(command, cwd=sources, check=True)
        done = subprocess.run(["nm", "-P", f"{image}.image"], cwd=sources, check=True, capture_output=True, text=True)
        symbols = [line.split()[:2] for line in done.stdout.splitlines()]
        undefined[image] = {name for name, kind in symbols if kind == "U" and name.startswith("again_")}
        defined[image] = {name for name, kind in symbols if kind in "Rr"}
    assert undefined["host"] == set()
    for unit in ("array", "other"):
        assert undefined[unit] and undefined[unit] <= defined["host"]


def test_applications_in_cpp(sources: Path) -> None:
    text = '#include "side.h"\nstatic_assert(sizeof(side_state_t) == 640 && alignof(side_state_t) == 64, "size");\n'
    command = ["c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-fsyntax-only", "-"]
    done = subprocess.run(command, cwd=sources, input=text, text=True, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_lines_are_short(sources: Path) -> None:
    files = [*sources.glob("side*.[ch]"), sources / "match_runtime.h", sources / "example" / "main.c"]
    for path in files:
        if path.name != "side_data.h":
            assert all(len(line) <= 120 for line in path.read_text().splitlines()), path.name


def _queues(program: Program, **tasks: tuple[int, ...]) -> Program:
    """The program with other tasks in some queues."""
    queues = tuple(replace(queue, tasks=tasks.get(queue.name, queue.tasks)) for queue in program.queues)
    return replace(program, queues=queues)


def _needing(program: Program, queue: str) -> Program:
    first, *others = program.tasks
    return replace(program, tasks=(replace(first, needs=((queue, 1),)), *others))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (partial(_queues, array=(1, 3), other=(2, 4, 5)), r"queue other has tasks of other units: \['array'\]"),
        (partial(_queues, host=(0, 1), array=(3,)), r"queue host has tasks of other units: \['array'\]"),
        (partial(_needing, queue="idle"), r"needs tasks of queues that have none: \['idle'\]"),
        (partial(_queues, array=(1,) * 70_000), r"queues \['array'\] have more than 65535 tasks"),
        (lambda p: replace(p, tasks=tuple(replace(t, buffers_in=()) for t in p.tasks)), "tensor 'x' is in none"),
    ],
)
def test_programs_that_cannot_be_right_are_refused(change: Callable[[Program], Program], words: str) -> None:
    with pytest.raises((ValueError, KeyError), match=words):
        emit("side", change)


def test_same_input_gives_same_bytes() -> None:
    assert emit("side") == emit("side")
