"""The C that products ship: results do not depend on flags, compilers take it without a warning, long loops yield, the
stack has a bound, and what MISRA C:2012 says of it is known (docs/misra.md)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program

from tests.docs.pages import DOCS, text_of
from tests.end_to_end.diana_models import readable
from tests.end_to_end.models import QdqBuilder
from tests.float_models import exported_network
from tests.stack import stack_depth

STRICT = (
    *("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Wstrict-prototypes"),
    *("-Wmissing-prototypes", "-Wcast-qual", "-Werror"),
)
CORTEX_M4 = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
CORTEX_M55 = ("arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mfloat-abi=hard", "-mfpu=auto")
#: Programs whose kernels are written for a core, and its compiler.
CORES = {"m4": CORTEX_M4, "m55": CORTEX_M55}
RV32 = ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs")
FUSED = re.compile(r"\bv?fn?m(?:add|sub|a|s)\b|\bvfn?m(?:add|sub)[0-9a-z]*\b|\bvfn?m[as]\.f(?:32|64)\b")
ELEMENTS = 3 * 16 * 16


def _compiled(name: str, folder: Path, plugins: Plugins) -> Path:
    model = folder / f"{name}.onnx"
    options: dict[str, object] = {}
    if name == "floats":
        onnx.save(exported_network(), str(model))
        options = {"dims": (("batch", 1),)}
    elif name == "diana":
        readable(model)
    else:
        QdqBuilder(3, 4, 12, 12).conv(8, 3).conv(8, 3, group=8).conv(4, 1).save(model)
    target = {"integers": "host", "floats": "host", "m4": "stm32l4r5", "m55": "corstone300"}.get(name, name)
    compile_model(CompileRequest(model, target, folder / name, **options), plugins)  # type: ignore[arg-type]
    return folder / name


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("shipped")
    return {name: _compiled(name, folder, plugins) for name in ("integers", "floats", "gap9", "diana", *CORES)}


def _own(program: Path, pattern: str = "*.c") -> list[Path]:
    return sorted(program.glob(pattern))


def _compile(command: tuple[str, ...], source: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, *flags, f"-I{source.parent}", "-c", str(source), "-o", os.devnull],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


# ---- bits do not depend on flags ---------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-ffinite-math-only", "-funsafe-math-optimizations"])
def test_fast_math_is_refused(flag: str, programs: Mapping[str, Path]) -> None:
    done = _compile(("cc", "-std=c11"), programs["floats"] / "floats_host.c", flag)
    assert done.returncode != 0 and "changes this program's results" in done.stderr


def test_excess_precision_is_refused(programs: Mapping[str, Path]) -> None:
    command = ("cc", "-std=c11", "-m32", "-mfpmath=387", "-mno-sse", "-ffreestanding")
    done = _compile(command, programs["floats"] / "floats_host.c")
    assert done.returncode != 0 and "-msse2 -mfpmath=sse" in done.stderr


def _assembly(text: str, source: Path, *command: str) -> str:
    """What the compiler makes of the ``text`` of ``source``."""
    options = ["-O3", f"-I{source.parent}", "-x", "c", "-S", "-", "-o", "-"]
    return subprocess.run([*command, *options], input=text, capture_output=True, text=True, check=True).stdout


def _without_pragma(source: Path, *command: str) -> str:
    header = (source.parent / "match_float.h").read_text(encoding="utf-8")
    bare = re.sub(r"#pragma GCC optimize\(.*\)", "", header)
    text = source.read_text(encoding="utf-8")
    return _assembly(text.replace('#include "match_float.h"', bare), source, *command)


@pytest.mark.parametrize("dialect", [("-std=gnu11",), ("-std=c11", "-ffp-contract=fast")], ids=["gnu", "asked"])
@pytest.mark.parametrize("target", [("cc", "-mfma", "-mavx2"), CORTEX_M4], ids=["x86", "m4"])
def test_products_and_sums_are_not_fused(
    target: tuple[str, ...], dialect: tuple[str, ...], programs: Mapping[str, Path]
) -> None:
    """Also where the compiler would fuse them by default, or is told to."""
    if shutil.which(target[0]) is None:
        pytest.skip(f"{target[0]} is not on this machine")
    source = programs["floats"] / "floats_host.c"
    assert not FUSED.findall(_assembly(source.read_text(encoding="utf-8"), source, *target, *dialect))
    fused = _without_pragma(source, *target, *dialect)
    assert FUSED.findall(fused), "without the pragma the compiler fuses them: the test can fail"


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m3", "cortex-m23"])
def test_the_pragma_costs_no_instruction(core: str, programs: Mapping[str, Path]) -> None:
    """For Thumb-1, gcc's pragma brings a scheduler back that its back end leaves out."""
    command = ("arm-none-eabi-gcc", f"-mcpu={core}", "-mthumb", "-std=c11", "-ffp-contract=off")
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not on this machine")
    source = programs["floats"] / "floats_host.c"
    found = _assembly(source.read_text(encoding="utf-8"), source, *command), _without_pragma(source, *command)
    instructions = [re.findall(r"^\t[a-z].*", text, re.MULTILINE) for text in found]
    assert instructions[0] == instructions[1]


def test_outputs_are_equal_with_every_flag(programs: Mapping[str, Path], plugins: Plugins, tmp_path: Path) -> None:
    program = programs["floats"]
    image = np.random.default_rng(5).normal(size=(1, 3, 16, 16)).astype(np.float32)
    (expected,) = run_program(program, {"image": image}, plugins).outputs.values()
    text = (program / "example" / "main.c").read_text(encoding="utf-8")
    values = ", ".join(map(str, (float(value) for value in image.reshape(-1))))
    text = re.sub(r"(static float image\[\w+\]);", rf"\1 = {{{values}}};", text)
    text = text.replace("    return status;", "    fwrite(scores, sizeof scores, 1u, stdout);\n    return status;")
    (tmp_path / "main.c").write_text(f"#include <stdio.h>\n{text}", encoding="utf-8")
    for flags in (("-O2",), ("-O3", "-mfma", "-std=gnu11", "-ffp-contract=fast"), ("-O0",)):
        sources = [*map(str, _own(program)), str(tmp_path / "main.c")]
        command = ["cc", *flags, f"-I{program}", *sources, "-lm", "-o", str(tmp_path / "app")]
        subprocess.run(command, check=True)
        done = subprocess.run([tmp_path / "app"], capture_output=True, check=True)
        assert done.stdout == np.ascontiguousarray(expected).tobytes(), flags


def test_build_files_ask_for_standard_c(programs: Mapping[str, Path]) -> None:
    for program in programs.values():
        text = (program / "CMakeLists.txt").read_text(encoding="utf-8")
        assert "C_EXTENSIONS OFF" in text and "-ffp-contract=off" in text
        for path in (program / "Makefile", *_own(program, "*.mk")):
            text = path.read_text(encoding="utf-8")
            assert "-ffp-contract=off" in text, path.name


# ---- readable, and taken by every compiler ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["integers", "floats", *CORES])
def test_all_files_of_the_folder_build(name: str, programs: Mapping[str, Path], tmp_path: Path) -> None:
    """``*.c`` is the library; the example is beside it. No warning, as C11; headers are included by C++17. Kernels of a
    core build for any machine, and those of its instructions by its compiler."""
    program = programs[name]
    if shutil.which(CORES.get(name, ("cc",))[0]) is not None:
        for source in _own(program):
            done = _compile((*CORES.get(name, ("cc",)), "-ffp-contract=off", *STRICT), source, "-O3")
            assert done.returncode == 0, done.stderr
    for source in (*_own(program), program / "example" / "main.c"):
        done = _compile(("cc", *STRICT), source, "-O2", f"-I{program}")
        assert done.returncode == 0, done.stderr
    objects = [str(path) for path in _own(program)]
    application = [str(program / "example" / "main.c"), f"-I{program}", "-lm", "-o", str(tmp_path / "app")]
    subprocess.run(["cc", "-std=c11", *objects, *application], check=True)
    assert subprocess.run([tmp_path / "app"], check=False).returncode == 0
    header = f'#include "{name}.h"\nint main() {{ return {name.upper()}_OK; }}\n'
    command = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{program}", "-x", "c++", "-fsyntax-only", "-"]
    done = subprocess.run(command, input=header, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_files_state_their_licence_and_have_short_lines(programs: Mapping[str, Path]) -> None:
    for program in programs.values():
        for path in sorted(path for path in program.rglob("*") if path.is_file()):
            if path.suffix in (".json", ".onnx", ".bin"):
                continue
            text = path.read_text(encoding="utf-8")
            assert "SPDX-License-Identifier: Apache-2.0" in text, path
            if path.suffix in (".c", ".h") and path.name.startswith(program.name):
                assert max(map(len, text.splitlines())) <= 120, path


def test_parameters_are_named_after_what_they_are(programs: Mapping[str, Path]) -> None:
    text = (programs["integers"] / "integers_host.c").read_text(encoding="utf-8")
    heads = re.findall(r"^static void \w+_kernel\(([^)]*)\)", text, flags=re.MULTILINE)
    names = {name for head in heads for name in re.findall(r"(\w+)(?:,|$)", head.strip())}
    assert {"input", "output", "weights", "multipliers", "addends", "shift"} <= names
    assert not [name for name in names if re.fullmatch(r"(in|out|arg)\d+", name)]
    for name in ("integers", *CORES):
        for path in sorted(programs[name].rglob("*.[ch]")):
            assert "math.h" not in path.read_text(encoding="utf-8"), f"nothing in {path.name} needs it"


def test_no_header_of_a_twin_is_shipped(programs: Mapping[str, Path]) -> None:
    """No file of a program includes what only a twin has, or has its name."""
    for program in programs.values():
        for path in sorted(program.rglob("*.[ch]")):
            text = path.read_text(encoding="utf-8")
            assert "twin" not in path.name and not re.findall(r"#include\s+[<\"]\w*twin\w*", text), path


def test_the_header_states_what_an_application_needs(programs: Mapping[str, Path]) -> None:
    program = programs["integers"]
    text = (program / "integers.h").read_text(encoding="utf-8")
    document = json.loads((program / "match.lock.json").read_text(encoding="utf-8"))
    macros = dict(re.findall(r"^#define INTEGERS_(\w+) (.+?)(?: /\*.*)?$", text, flags=re.MULTILINE))
    assert macros["MODEL_SHA256"] == f'"{document["source"]["sha256"]}"' and macros["VERSION"] == '"0.1.0"'
    assert len(macros["PROGRAM_SHA256"]) == 66
    assert (macros["IN_INPUT_ELEMENTS"], macros["IN_INPUT_BYTES"], macros["IN_INPUT_TYPE"]) == ("576u", "576u", "3")
    assert macros["IN_INPUT_SHAPE"] == "{1u, 4u, 12u, 12u}" and macros["IN_INPUT_RANK"] == "4u"
    assert float(macros["IN_INPUT_SCALE"].rstrip("f")) > 0 and "IN_INPUT_ZERO_POINT" in macros
    assert [name for name in macros if name.startswith("OUT_") and name.endswith("_SCALE")]
    assert macros["RAM_BYTES"] == f"{document['arenas'][0]['size_bytes']}u"


@pytest.mark.parametrize("build", [("-O2", "-DNDEBUG"), ("-O0",)], ids=["release", "debug"])
def test_wrong_addresses_are_errors_in_every_build(
    build: tuple[str, ...], programs: Mapping[str, Path], tmp_path: Path
) -> None:
    """Nothing is read or written: an arena, a state or a tensor that is not aligned, or is not there."""
    program = programs["floats"]
    text = (program / "example" / "main.c").read_text(encoding="utf-8")
    body = text[text.index("    const floats_t ctx") : text.index("    int status")]
    turns = [
        ("FLOATS_OK", ""),
        ("FLOATS_ERROR_ARGUMENT", ".image = image", ".image = (float *)(void *)((uint8_t *)image + 1)"),
        ("FLOATS_ERROR_ARGUMENT", ".scores = scores", ".scores = (float *)(void *)((uint8_t *)scores + 2)"),
        ("FLOATS_ERROR_ARGUMENT", ".scores = scores", ".scores = NULL"),
        ("FLOATS_ERROR_ARENA", ".ram = ram", ".ram = ram + 1"),
        ("FLOATS_ERROR_ARENA", ".ram = ram", ".ram = NULL"),
        ("FLOATS_ERROR_ARENA", ".state = &state", ".state = (floats_state_t *)(void *)((uint8_t *)&state + 1)"),
        ("FLOATS_ERROR_ARENA", ".state = &state", ".state = NULL"),
    ]
    calls = ""
    for number, (wanted, *change) in enumerate(turns):
        changed = body.replace(*change) if len(change) == 2 else body
        call = f"    if (floats_run(&ctx, &in, &out) != {wanted}) {{\n        return {number + 1};\n    }}\n"
        calls += f"    {{\n{changed}{call}    }}\n"
    start = f"{body}    if (floats_init(&ctx) != FLOATS_OK) {{\n        return 99;\n    }}\n"
    head = text[: text.index("int main(void)")]
    (tmp_path / "main.c").write_text(
        f"#include <stddef.h>\n{head}int main(void)\n{{\n{start}{calls}    return 0;\n}}\n", encoding="utf-8"
    )
    sources = [*map(str, _own(program)), str(tmp_path / "main.c")]
    command = ["cc", "-std=c11", *build, f"-I{program}", *sources, "-lm", "-o", str(tmp_path / "app")]
    subprocess.run(command, check=True)
    assert subprocess.run([tmp_path / "app"], check=False).returncode == 0, "the number of the turn in the list"


# ---- yields, stack ------------------------------------------------------------------------------------------------


def test_long_loops_and_waits_yield(programs: Mapping[str, Path], tmp_path: Path) -> None:
    """MATCH_YIELD runs between tasks and inside of long kernels; it may cancel."""
    program = programs["integers"]
    (tmp_path / "port.h").write_text("void app_yield(void);\n#define MATCH_YIELD() app_yield()\n", encoding="utf-8")
    text = (program / "example" / "main.c").read_text(encoding="utf-8")
    text = text.replace("    int status =", "    shared = &ctx;\n    int status =")
    text = text.replace(
        "int main(void)",
        "static const integers_t *shared;\nstatic unsigned yields, limit;\n\nint main(int argc, char **argv)",
    )
    text = text.replace(
        "{\n    const integers_t", "{\n    (void)argv;\n    limit = (argc > 1) ? 3u : ~0u;\n    const integers_t", 1
    )
    text = text.replace("    return status;", '    printf("%u %d", yields, status);\n    return 0;')
    text += "\nvoid app_yield(void)\n{\n    yields++;\n    if (yields == limit) {\n        (void)integers_cancel(shared);\n    }\n}\n"  # noqa: E501
    (tmp_path / "main.c").write_text(f"#include <stdio.h>\nvoid app_yield(void);\n{text}", encoding="utf-8")
    flags = ["-std=c11", '-DMATCH_SYNC_HEADER="port.h"', f"-I{program}", f"-I{tmp_path}"]
    sources = [*map(str, _own(program)), str(tmp_path / "main.c")]
    subprocess.run(["cc", *flags, *sources, "-lm", "-o", str(tmp_path / "app")], check=True)

    def ran(*arguments: str) -> list[int]:
        done = subprocess.run([tmp_path / "app", *arguments], capture_output=True, text=True, check=True)
        return [int(number) for number in done.stdout.split()]

    yields, status = ran()
    tasks = sum(node["emitted"] for node in json.loads((program / "match.lock.json").read_text())["nodes"])
    assert status == 0 and yields > 2 * tasks
    assert ran("cancel")[1] == -6


@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", [("cc",), CORTEX_M4, RV32], ids=["x86", "m4", "rv32"])
@pytest.mark.parametrize("name", ["integers", "floats", "core"])
def test_the_stack_bound_holds(
    name: str, compiler: tuple[str, ...], level: str, programs: Mapping[str, Path], tmp_path: Path
) -> None:
    """The deepest path that gcc states is at most what the header states; kernels of a core on this core."""
    if name == "core":
        name, compiler = {CORTEX_M4: ("m4", CORTEX_M4), ("cc",): ("m55", CORTEX_M55)}.get(compiler, ("m4", ("cc",)))
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not on this machine")
    program, graphs = programs[name], []
    for source in _own(program):
        made = tmp_path / f"{source.stem}.o"
        flags = ["-std=c11", level, "-fcallgraph-info=su", f"-I{program}"]
        subprocess.run([*compiler, *flags, "-c", str(source), "-o", str(made)], check=True, cwd=tmp_path)
        graphs.append((tmp_path / f"{source.stem}.ci").read_text(encoding="utf-8"))
    bound = re.search(r"_STACK_BYTES (\d+)u", (program / f"{name}.h").read_text(encoding="utf-8"))
    assert bound is not None
    found = stack_depth(graphs, f"{name}_run")
    assert found.size_bytes <= int(bound[1]), found


def test_make_states_the_stack(programs: Mapping[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(programs["integers"], tmp_path / "program")
    done = subprocess.run(["make", "-s", "stack"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+ bytes at most$", done.stdout, flags=re.MULTILINE)


# ---- weights as a blob ------------------------------------------------------------------------------------------


def test_constants_are_loaded_at_run_time(programs: Mapping[str, Path], plugins: Plugins, tmp_path: Path) -> None:
    """The recipe of docs/emitted-c.md: a section for constants, cut out as a file, loaded before init."""
    program = programs["integers"]
    section = '-DINTEGERS_CONST_SECTION=__attribute__((section(".network")))'
    objects = []
    for source in _own(program):
        objects.append(str(tmp_path / f"{source.stem}.o"))
        command = ["cc", "-std=c11", "-O1", section, f"-I{program}", "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    image = np.random.default_rng(6).integers(-128, 128, (1, 4, 12, 12)).astype(np.int8)
    (expected,) = run_program(program, {"input": image}, plugins).outputs.values()
    header = (program / "integers.h").read_text(encoding="utf-8")
    field = re.findall(r"^    int8_t \*(\w+);", header, flags=re.MULTILINE)[0]
    values = ", ".join(map(str, image.reshape(-1).tolist()))
    text = (program / "example" / "main.c").read_text(encoding="utf-8")
    text = re.sub(r"(static int8_t input\[\w+\]);", rf"\1 = {{{values}}};", text)
    load = '    FILE *const file = fopen("network.bin", "rb");\n'
    load += "    (void)!fread(__start_network, (size_t)(__stop_network - __start_network), 1u, file);"
    declared = "extern char __start_network[], __stop_network[];\n\nint main(void)\n{\n"
    text = text.replace("int main(void)\n{", declared + load)
    text = text.replace("    return status;", f"    fwrite({field}, sizeof {field}, 1u, stdout);\n    return status;")
    (tmp_path / "main.c").write_text(f"#include <stdio.h>\n{text}", encoding="utf-8")
    subprocess.run(["ld", "-r", *objects, "-o", "whole.o"], check=True, cwd=tmp_path)
    cut = ["objcopy", "-O", "binary", "--only-section=.network", "--set-section-flags=.network=alloc,load,contents"]
    subprocess.run([*cut, "whole.o", "network.bin"], check=True, cwd=tmp_path)
    # In the program the section is memory that is written, and empty: the file's content comes later.
    zeros = ["objcopy", "--set-section-flags=.network=alloc,data", "--rename-section=.network=network", "whole.o"]
    subprocess.run(zeros, check=True, cwd=tmp_path)
    (tmp_path / "zero").write_bytes(bytes((tmp_path / "network.bin").stat().st_size))
    subprocess.run(["objcopy", "--update-section=network=zero", "whole.o"], check=True, cwd=tmp_path)
    command = ["cc", "-std=c11", f"-I{program}", "main.c", "whole.o", "-lm", "-o", "app"]
    subprocess.run(command, check=True, cwd=tmp_path)
    done = subprocess.run(["./app"], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == np.ascontiguousarray(expected).tobytes()
    (tmp_path / "network.bin").write_bytes(bytes((tmp_path / "network.bin").stat().st_size))
    assert subprocess.run(["./app"], cwd=tmp_path, capture_output=True, check=True).stdout != done.stdout


# ---- MISRA C:2012 -------------------------------------------------------------------------------------------------


def _deviations() -> set[str]:
    return set(re.findall(r"^\| ([0-9]+\.[0-9]+) \|", text_of(DOCS / "misra.md"), flags=re.MULTILINE))


@pytest.mark.parametrize("name", ["integers", "floats", "diana", *CORES])
def test_every_finding_of_misra_is_a_listed_deviation(name: str, programs: Mapping[str, Path]) -> None:
    if shutil.which("cppcheck") is None:
        if os.environ.get("CI"):
            pytest.fail("cppcheck is not installed: .ci/run installs it")
        pytest.skip("cppcheck is not installed")
    program = programs[name]
    sources = [path.name for path in _own(program) if not path.name.endswith("_weights.c")]
    command = [
        "cppcheck",
        "--addon=misra",
        "--std=c11",
        "--quiet",
        "--template={file}:{line}: {id}",
        "-I.",
        "-D__GNUC__=12",
    ]
    done = subprocess.run([*command, *sources], cwd=program, capture_output=True, text=True, check=False)
    found = {match[2]: match[0] for match in re.finditer(r"^(\S+): misra-c2012-([0-9.]+)$", done.stderr, re.MULTILINE)}
    assert found, done.stderr
    assert not {rule: place for rule, place in found.items() if rule not in _deviations()}
    errors = [line for line in done.stderr.splitlines() if "misra" not in line and "preprocessorError" not in line]
    assert not errors
