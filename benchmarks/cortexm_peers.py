"""Programs that benchmarks/cortexm.py compares on emulated Cortex-M cores, each run by the same application."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.contract.runner import Place, RunResult
from match_core.emit.manifest import NAME
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_qemu import build, emulator
from match_verify.verify import reference_outputs
from numpy.typing import NDArray

from benchmarks.cmsisnn_forced import forced, library
from benchmarks.host_programs import EMX, emx_program

#: The C of emx-onnx-cgen has all intermediate tensors on the stack, weights as float32 among them.
EMX_STACK_BYTES = {"mps2-an386": 0x3E0000, "mps3-an547": 0xC00000}
Arrays = Mapping[str, NDArray[np.generic]]
OURS, PORTABLE, EMX_CGEN, CMSIS = "match", "match, portable C", "emx-onnx-cgen", "CMSIS-NN, by match-cmsisnn"


@dataclass(frozen=True, slots=True)
class Measured:
    """``ram_bytes``: arenas and variables, without the stack, inputs and outputs. ``differing``: outputs other than the
    integer graph's, of ``outputs``. ``note``: layers that the program's engine does not run."""

    result: RunResult
    ram_bytes: int
    differing: int
    outputs: int
    note: str = ""


def missing() -> dict[str, str]:
    """Programs that cannot be measured here, and why."""
    found = {} if EMX.exists() else {EMX_CGEN: f"there is no {EMX}: make build/emx/.stamp"}
    return found if library() else {**found, CMSIS: "CMSIS_NN_DIR is not set"}


def measure(
    program: str, model: Path, target: str, machine: str, inputs: Arrays, folder: Path, plugins: Plugins
) -> Measured:
    """One program on a machine."""
    place = Place(next(runner for runner in plugins.runners() if runner.name == "qemu"), machine)
    preset = None if program in (OURS, CMSIS) else "scalar"
    used = {OURS: target, CMSIS: f"{target}_cmsis_nn"}.get(program, "host")
    request = CompileRequest(model, used, folder, name="net", preset=preset, cache=False)
    if program == CMSIS:
        with forced():
            compiled = compile_model(request, plugins).compilation
            result = run_program(folder, inputs, plugins, place=place)
    else:
        compiled = compile_model(request, plugins).compilation
        if program == EMX_CGEN:
            _replace(folder, model)
        with _peer(EMX_STACK_BYTES[machine]) if program == EMX_CGEN else nullcontext():
            result = run_program(folder, inputs, plugins, place=place)
    expected = reference_outputs(compiled.model, inputs, len(next(iter(inputs.values()))))
    differing = sum(int((result.outputs[name] != expected[name]).sum()) for name in expected)
    arena = 0 if program == EMX_CGEN else compiled.program.memory[0].arena_bytes
    variables = result.sizes["data"] + result.sizes["bss"]
    others = [
        node for node in result.nodes if program == CMSIS and not node.unit.startswith("cmsis_nn") and node.cycles
    ]
    share = sum(node.cycles for node in others) / result.cycles_total if others else 0.0
    note = f"{len(others)} layer{'s' * (len(others) > 1)} on our kernels, {share:.0%}" if others else ""
    return Measured(result, arena + variables, differing, sum(v.size for v in expected.values()), note)


@contextmanager
def _peer(stack_bytes: int) -> Iterator[None]:
    """The emulator's runner gives a program a stack of this size, and lets the compiler make vectors of its floats."""
    kept = build.STACK_BYTES, emulator.portable_flags
    build.STACK_BYTES, emulator.portable_flags = stack_bytes, lambda processor: ()
    try:
        yield
    finally:
        build.STACK_BYTES, emulator.portable_flags = kept


def _replace(folder: Path, model: Path) -> None:
    """Put the C of emx-onnx-cgen into the place of the program's own, behind its functions."""
    document = json.loads((folder / NAME).read_text(encoding="utf-8"))
    for name in document["files"]:
        if name.endswith(".c"):
            (folder / name).unlink()
    (folder / "emx.c").write_bytes(emx_program(model, kept=True).sources[0].read_bytes())
    inputs, outputs = ([row["field"] for row in document[kind]] for kind in ("inputs", "outputs"))
    arguments = ", ".join(
        [*(f"(const void *)inputs->{field}" for field in inputs), *(f"outputs->{field}" for field in outputs)]
    )
    kinds = ", ".join(["const void *"] * len(inputs) + ["void *"] * len(outputs))
    lines = (
        '#include "net.h"',
        f"void emx({kinds});",
        "int net_init(const net_t *program) { (void)program; return NET_OK; }",
        "void net_stop(const net_t *program) { (void)program; }",
        "int net_run(const net_t *program, const net_inputs_t *inputs, const net_outputs_t *outputs)",
        f"{{ (void)program; emx({arguments}); return NET_OK; }}",
    )
    (folder / "net.c").write_text("\n".join(lines) + "\n", encoding="utf-8")
    kept = {name: digest for name, digest in document["files"].items() if not name.endswith(".c")}
    added = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("emx.c", "net.c")}
    (folder / NAME).write_text(json.dumps({**document, "files": {**kept, **added}, "nodes": []}), encoding="utf-8")
