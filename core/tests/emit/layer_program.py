"""A C program made of emitted layers, naive kernels and plain copies: executes schedules for real."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.emit.api import Kernel, KernelInterface, MemoryApi
from match_core.emit.interfaces import ADD, CONV2D, context_header
from match_core.emit.layer import LayerWriter
from match_core.emit.layer_facts import Layer, LayerRequest
from match_core.emit.templates import Templates
from match_core.schedule.loops import LoopSchedule
from match_core.schedule.workload import Axis, Dim, Operand, Workload
from numpy.typing import NDArray

MEMORY = MemoryApi("in_1d", "in_2d", "in_3d", "out_1d", "out_2d", "out_3d", "wait_all")
NEAR_BYTES = 1 << 16

#: Copies are recorded and happen at the wait: a kernel that runs before its data arrived sees poison.
SUPPORT = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "match_runtime.h"
#include "match_conv2d.h"
#include "match_add.h"

typedef struct { uint8_t *to; const uint8_t *from; uint32_t bytes; } copy_t;
static copy_t queue[4096];
static uint32_t queued;
static void put(uint8_t *to, const uint8_t *from, uint32_t bytes, int poison) {
    queue[queued++] = (copy_t){to, from, bytes};
    if (poison) { memset(to, 0xA5, bytes); }
}
static void wait_all(void) {
    for (uint32_t i = 0; i < queued; i++) { memcpy(queue[i].to, queue[i].from, queue[i].bytes); }
    queued = 0;
}
static void in_3d(void *n, const void *f, uint32_t p, uint32_t r, uint32_t b, uint32_t rs, uint32_t ps) {
    for (uint32_t i = 0; i < p; i++) for (uint32_t j = 0; j < r; j++)
        put((uint8_t *)n + (i * r + j) * b, (const uint8_t *)f + i * ps + j * rs, b, 1);
}
static void in_2d(void *n, const void *f, uint32_t r, uint32_t b, uint32_t rs) { in_3d(n, f, 1, r, b, rs, 0); }
static void in_1d(void *n, const void *f, uint32_t b) { in_3d(n, f, 1, 1, b, 0, 0); }
static void out_3d(void *f, const void *n, uint32_t p, uint32_t r, uint32_t b, uint32_t rs, uint32_t ps) {
    for (uint32_t i = 0; i < p; i++) for (uint32_t j = 0; j < r; j++)
        put((uint8_t *)f + i * ps + j * rs, (const uint8_t *)n + (i * r + j) * b, b, 0);
}
static void out_2d(void *f, const void *n, uint32_t r, uint32_t b, uint32_t rs) { out_3d(f, n, 1, r, b, rs, 0); }
static void out_1d(void *f, const void *n, uint32_t b) { out_3d(f, n, 1, 1, b, 0, 0); }
static uint8_t clip(int64_t v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v); }
static void conv(const match_conv2d_t *t) {
    const uint8_t *in = t->input; const int8_t *w = t->weight; uint8_t *out = t->output;
    const int32_t *m = t->multiplier, *a = t->addend;
    for (uint32_t y = 0; y < t->oy; y++) for (uint32_t x = 0; x < t->ox; x++) for (uint32_t k = 0; k < t->k; k++) {
        int64_t sum = 0;
        for (uint32_t fy = 0; fy < t->fy; fy++) for (uint32_t fx = 0; fx < t->fx; fx++) {
            const int64_t iy = (int64_t)y * t->stride_y + fy - t->input_y_pad_before;
            const int64_t ix = (int64_t)x * t->stride_x + fx - t->input_x_pad_before;
            const int inside = iy >= 0 && ix >= 0 && iy < t->input_y && ix < t->input_x;
            for (uint32_t c = 0; c < t->c; c++) {
                const int32_t v = inside ? in[((uint32_t)iy * t->input_x + (uint32_t)ix) * t->c + c] : t->pad_value;
                sum += v * w[((k * t->fy + fy) * t->fx + fx) * t->c + c];
            }
        }
        out[(y * t->ox + x) * t->k + k] = clip((sum * m[k] + a[k]) >> t->shift);
    }
}
static void add(const match_add_t *t) {
    const uint8_t *a = t->input_a, *b = t->input_b; uint8_t *out = t->output;
    for (uint32_t i = 0; i < t->y * t->x * t->c; i++)
        out[i] = clip(((int64_t)a[i] * t->multiplier_a + (int64_t)b[i] * t->multiplier_b + t->addend) >> t->shift);
}
static uint8_t near_memory[65536];
"""


@dataclass(frozen=True)
class Case:
    """A workload with its schedule and operands in far memory (bytes), and the expected output."""

    workload: Workload
    schedule: LoopSchedule
    operands: dict[str, NDArray[np.generic]]
    expected: NDArray[np.uint8]


def kernel(interface: KernelInterface) -> Kernel:
    return Kernel(interface, launch={"conv2d": "conv", "add": "add"}[interface.kind], wait="", pack=lambda m, w: {})


def layer_text(name: str, case: Case) -> str:
    """The emitted C of a case's layer."""
    interface = {"conv2d": CONV2D, "add": ADD}[case.workload.kind]
    inputs = {operand: f"task->in[{position}]" for position, operand in enumerate(case.operands)}
    sources = {**inputs, "output": "task->out[0]"}
    request = LayerRequest(name, case.workload, case.schedule, kernel(interface), MEMORY, "home", sources)
    return LayerWriter(Layer(request)).write()


def write_program(cases: list[Case], folder: Path) -> None:
    """``program.c`` and what it includes; it prints the outputs of all cases in hexadecimal, one line each."""
    for interface in (CONV2D, ADD):
        header = context_header(interface)
        (folder / header.name).write_text(header.text)
    (folder / "match_runtime.h").write_text(Templates().render("match_runtime.h.mako", {}))
    parts = [SUPPORT]
    for number, case in enumerate(cases):
        parts.append(layer_text(f"layer_{number}", case))
        size = case.expected.size
        lines = [f"static void run_{number}(void) {{", f"    static uint8_t output[{size}];"]
        inputs = []
        for name, values in case.operands.items():
            text = ",".join(map(str, np.ascontiguousarray(values).view(np.uint8).reshape(-1)))
            lines.append(f"    static _Alignas(8) const uint8_t {name}[] = {{{text}}};")
            inputs.append(name)
        lines.append(f"    const void *const in[] = {{{', '.join(inputs)}}};")
        lines.append("    void *const out[] = {output};")
        lines.append("    match_task_t task = {.near = near_memory, .in = in, .out = out};")
        lines += [f"    layer_{number}(&task);", '    if (queued) { printf("missing wait"); }']
        lines.append(f'    for (uint32_t i = 0; i < {size}u; i++) {{ printf("%02x", output[i]); }}')
        lines += ['    printf("\\n");', "}"]
        parts.append("\n".join(lines))
    calls = "\n".join(f"    run_{number}();" for number in range(len(cases)))
    parts.append(f"int main(void) {{\n{calls}\n    return 0;\n}}\n")
    (folder / "program.c").write_text("\n".join(parts))


def run_program(folder: Path) -> list[NDArray[np.uint8]]:
    """Compile under sanitizers, run, and read the outputs."""
    flags = ["-std=c11", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra"]
    subprocess.run(["cc", *flags, "program.c", "-o", "program"], cwd=folder, check=True)
    done = subprocess.run(["./program"], cwd=folder, check=True, capture_output=True, text=True)
    return [np.frombuffer(bytes.fromhex(line), np.uint8) for line in done.stdout.splitlines()]


Drawn = tuple[Workload, dict[str, NDArray[np.generic]], NDArray[np.uint8]]


def conv_case_workload(random: np.random.Generator) -> Drawn:
    """A random convolution: workload, operands and expected output (H, W, K)."""
    c, k, fy, fx = (int(random.integers(1, high)) for high in (6, 9, 4, 4))
    sy, sx = (int(random.integers(1, 4)) for _ in range(2))
    height, width = int(random.integers(fy, 14)), int(random.integers(fx, 14))
    top, left = int(random.integers(0, fy)), int(random.integers(0, fx))
    bottom, right = int(random.integers(0, fy)), int(random.integers(0, fx))
    oy, ox = (height + top + bottom - fy) // sy + 1, (width + left + right - fx) // sx + 1
    pad = int(random.integers(0, 256))
    x = random.integers(0, 256, (height, width, c)).astype(np.uint8)
    w = random.integers(-128, 128, (k, fy, fx, c)).astype(np.int8)
    m = random.integers(1, 500, k).astype(np.int32)
    a = random.integers(-(2**20), 2**20, k).astype(np.int32)
    padded = np.pad(x, ((top, bottom), (left, right), (0, 0)), constant_values=pad).astype(np.int64)
    expected = np.zeros((oy, ox, k), np.uint8)
    for y in range(oy):
        for q in range(ox):
            window = padded[y * sy : y * sy + fy, q * sx : q * sx + fx]
            sums = (w.astype(np.int64) * window).sum(axis=(1, 2, 3))
            expected[y, q] = np.clip((sums * m + a) >> 16, 0, 255)
    per_k = Axis("k", k, (("K", 1),))
    workload = Workload(
        kind="conv2d",
        dims=(
            Dim("K", k),
            Dim("C", c, tileable=False),
            Dim("OY", oy),
            Dim("OX", ox),
            Dim("FY", fy, tileable=False),
            Dim("FX", fx, tileable=False),
        ),
        operands=(
            Operand(
                "input",
                "input",
                (
                    Axis("y", height, (("OY", sy), ("FY", 1)), top),
                    Axis("x", width, (("OX", sx), ("FX", 1)), left),
                    Axis("c", c, (("C", 1),)),
                ),
            ),
            Operand("weight", "constant", (per_k, Axis("tap", fy * fx * c))),
            Operand("multiplier", "constant", (per_k,), 32),
            Operand("addend", "constant", (per_k,), 32),
            Operand("output", "output", (Axis("y", oy, (("OY", 1),)), Axis("x", ox, (("OX", 1),)), per_k)),
        ),
        macs=k * c * oy * ox * fy * fx,
        geometry=(("stride_y", sy), ("stride_x", sx), ("shift", 16), ("pad_value", pad), ("weight_bits", 8)),
    )
    return workload, {"input": x, "weight": w, "multiplier": m, "addend": a}, expected


def add_case_workload(random: np.random.Generator) -> Drawn:
    """A random element-wise sum."""
    shape = tuple(int(size) for size in random.integers(1, 12, 3))
    a, b = (random.integers(0, 256, shape).astype(np.uint8) for _ in range(2))
    expected = np.clip((a.astype(np.int64) * 300 + b.astype(np.int64) * 700 - 9000) >> 10, 0, 255).astype(np.uint8)
    axes = tuple(Axis(name.lower(), size, ((name, 1),)) for name, size in zip("YXC", shape, strict=True))
    workload = Workload(
        kind="add",
        dims=tuple(Dim(name, size) for name, size in zip("YXC", shape, strict=True)),
        operands=(
            Operand("input_a", "input", axes),
            Operand("input_b", "input", axes),
            Operand("output", "output", axes),
        ),
        macs=0,
        geometry=(("multiplier_a", 300), ("multiplier_b", 700), ("addend", -9000), ("shift", 10)),
    )
    return workload, {"input_a": a, "input_b": b}, expected
