"""The Spatz kernels as RISC-V vector code: run by QEMU with binary32, compiled with binary16.

QEMU 7.2 has no vectors of binary16, so the same source runs with binary32 and is compared with its portable form.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.carfield_counts.build import SPATZ

from .half_library import RUNTIME, write_headers
from .vector_tools import needs

pytestmark = [
    pytest.mark.spatz,
    needs("qemu-riscv64"),
]

SOURCE = RUNTIME / "match_carfield_half_spatz.c"
DRIVER = Path(__file__).with_name("spatz_driver.c")
COMPILER = (sys.executable, "-m", "ziglang", "cc", "-target", "riscv64-freestanding", "-std=c11", "-mcmodel=medium")
#: Spatz takes no vectors that a compiler finds by itself: they may need masks.
FLAGS = ("-O2", "-g0", "-fno-vectorize", "-fno-slp-vectorize", "-ffp-contract=off", "-fno-math-errno")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")

#: What of RVV these kernels may use: all of it is in pulp-platform/spatz hw/ip/spatz/src/spatz_decoder.sv.
DECODED = {
    *("vsetvli", "vsetivli", "vsetvl", "vle16.v", "vse16.v", "vlse16.v", "vfmacc.vf", "vfmacc.vv", "vfmadd.vv"),
    *("vfmadd.vf", "vfmul.vf", "vfadd.vv", "vfmax.vv", "vfmax.vf", "vfmv.v.f", "vmv.v.i", "vmv.v.x"),
}


def run(command: list[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr.decode()}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("spatz")
    write_headers(made)
    (made / "string.h").write_text("#include <stddef.h>\n#define memcpy __builtin_memcpy\n")
    return made


def test_vectors_give_what_portable_code_gives(folder: Path) -> None:
    sources = (str(SOURCE), str(DRIVER), f"-I{folder}", f"-I{RUNTIME}", "-DMATCH_CARFIELD_FLOAT32")
    vectors, host = folder / "vectors.elf", folder / "portable.elf"
    run([*COMPILER, f"-mcpu={SPATZ.cpu}", *FLAGS, "-nostdlib", "-static", *sources, "-o", str(vectors)])
    (folder / "string.h").unlink()
    run(["gcc", "-std=c11", "-O2", *sources, "-o", str(host)])
    expected = run([str(host)])
    assert len(expected) > 1_000_000
    assert run([*SPATZ.emulator, str(vectors)]) == expected


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3", "-Os"])
def test_binary16_needs_only_what_spatz_decodes(folder: Path, level: str) -> None:
    (folder / "string.h").write_text("#include <stddef.h>\n#define memcpy __builtin_memcpy\n")
    output = folder / "spatz.s"
    cpu = "-mcpu=generic_rv64+m+a+f+d+v+zfh+zvfh"
    flags = (*FLAGS, level, *WARNINGS, "-Wno-unused-command-line-argument")
    run([*COMPILER, cpu, *flags, "-S", f"-I{folder}", f"-I{RUNTIME}", str(SOURCE), "-o", str(output)])
    text = output.read_text()
    found = set(re.findall(r"^\s+(v[a-z0-9.]+)\s", text, re.MULTILINE))
    assert {"vfmacc.vf", "vfmacc.vv", "vle16.v", "vlse16.v"} <= found
    assert found <= DECODED, found - DECODED
    assert "v0.t" not in text
