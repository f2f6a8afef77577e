"""The upper word of a 64-bit product is the integer definition's at the ends of 32 bits: on cores that have no longer
products than those of halves (Thumb), on those that have (Thumb-2), and in portable C."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from match_cortexm.headers import SHARED, header

from .test_kernels import needs_emulator

LEAST, MOST = -(1 << 31), (1 << 31) - 1
#: Ends of 32 bits and of halves, and numbers whose halves carry.
NUMBERS = (LEAST, LEAST + 1, -0x10001, -0x10000, -0xFFFF, -0x8000, -1, 0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x18000)
NUMBERS += (0x7FFF8000, 0x55555555, 1 << 30, MOST - 1, MOST)
SHIFTS = (0, 1, 15, 30, 31)
PROGRAM = """
#include <stdint.h>
#include "match_cortexm.h"
static const struct {{ int32_t sum, multiplier; int64_t addend; int32_t shift, wanted; }} cases[] = {{
{cases}
}};
static volatile int32_t shift_at_run;
static int wrong(void)
{{
    int count = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {{
        shift_at_run = cases[i].shift;
        const int32_t found =
            match_cortexm_scale(cases[i].sum, cases[i].multiplier, cases[i].addend, shift_at_run);
        count += found != cases[i].wanted;
    }}
    return count;
}}
"""
#: Semihosting writes a text (4) and ends the emulator (0x18, the application's exit).
BARE = """
static void ask(int32_t what, const void *with)
{
    register int32_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
static void reset(void)
{
    ask(4, wrong() == 0 ? "all equal" : "different");
    ask(0x18, (const void *)0x20026);
}
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {(void *)0x20010000, (void *)reset};
"""
HOSTED = "int main(void) { return wrong() != 0; }\n"


def _cases() -> list[tuple[int, int, int, int, int]]:
    """Sum, multiplier, addend, shift and result: addends of 0, the half that rounds to the nearest, those with which
    the total is a result or one less (ties of that half are such), and those that reach the ends of 64 bits."""
    found = []
    for total, factor, shift in itertools.product(NUMBERS, NUMBERS, SHIFTS):
        product, half = total * factor, 1 << (31 + shift)
        ties = [(result << (32 + shift)) - product - less for result in (-3, 0, 1) for less in (0, 1)]
        for addend in (0, half, *ties, (1 << 63) - 1 - max(0, product), -(1 << 63) - min(0, product)):
            if -(1 << 63) <= addend < 1 << 63 and -(1 << 63) <= product + addend < 1 << 63:
                found.append((total, factor, addend, shift, (product + addend) >> (32 + shift)))
    return found


def _program(folder: Path, end: str) -> Path:
    (folder / "match_cortexm.h").write_text(header(SHARED).text, encoding="utf-8")
    lines = [
        f"{{INT64_C({s}), INT64_C({m}), (int64_t)UINT64_C({b % (1 << 64)}), {n}, INT64_C({w})}},"
        for s, m, b, n, w in _cases()
    ]
    path = folder / "upper.c"
    path.write_text(PROGRAM.format(cases="\n".join(lines)) + end, encoding="utf-8")
    return path


def test_cases_hold_ties_and_the_ends_of_64_bits() -> None:
    cases = _cases()
    assert len(cases) > 5_000
    totals = {total * factor + addend for total, factor, addend, _, _ in cases}
    assert {(1 << 63) - 1, -(1 << 63)} <= totals
    assert any(LEAST in case[:2] and MOST in case[:2] for case in cases)
    assert all(LEAST <= wanted <= MOST for *_, wanted in cases)


def test_portable(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or "gcc"
    sanitized = "-fsanitize=undefined", "-fno-sanitize-recover=all"
    program = _program(tmp_path, HOSTED)
    subprocess.run([compiler, "-O2", *sanitized, str(program), "-o", str(tmp_path / "upper")], check=True)
    subprocess.run([str(tmp_path / "upper")], check=True)


@needs_emulator
@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("processor", ["cortex-m0plus", "cortex-m3"])
def test_on_the_emulator(processor: str, level: str, tmp_path: Path) -> None:
    program, image = _program(tmp_path, BARE), tmp_path / "upper.elf"
    places = "-Wl,--section-start=.vectors=0", "-Wl,-Ttext=0x1000", "-Wl,-Tbss=0x20000000", "-Wl,-e,reset"
    options = f"-mcpu={processor}", "-mthumb", level, "-ffreestanding", "-nostartfiles", *places
    subprocess.run(["arm-none-eabi-gcc", *options, str(program), "-o", str(image)], check=True)
    machine = "-M", "mps2-an385", "-nographic", "-semihosting-config", "enable=on,target=native", "-kernel", str(image)
    done = subprocess.run(["qemu-system-arm", *machine], capture_output=True, text=True, timeout=60, check=False)
    assert "all equal" in done.stdout + done.stderr
