"""Stand-ins for GAP9's SDKs: the files that an application's build includes, which build against the twin's headers
with the host's compiler instead. They show that the emitted build files name everything that a program needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from match_core.run.build import RUNTIME
from match_core.run.merge import merge
from match_gap9.emit import unit_api

#: Flags of the SDK's compiler that a host's compiler has too (public listing of gcc_flags.cmake, SDK 5.21).
SDK_FLAGS = "-funsigned-char -fcommon -Wall -Wextra -Werror"
#: What the XpulpV2 compiler has built in.
BUILTIN = """#include <stdint.h>
typedef uint8_t stand_in_unsigned __attribute__((vector_size(4)));
typedef int8_t stand_in_signed __attribute__((vector_size(4)));
static inline uint32_t __builtin_pulp_clipu_r(int32_t value, int32_t bound)
{
    return (uint32_t)(value < 0 ? 0 : value > bound ? bound : value);
}
static inline int32_t __builtin_pulp_sdotusp4(stand_in_unsigned a, stand_in_signed b, int32_t sum)
{
    for (int i = 0; i < 4; i++) { sum += (int32_t)a[i] * b[i]; }
    return sum;
}
"""
#: The open SDK's PMSIS has no team that runs beside its controller; the twin's are hidden.
TEAM = ("pi_team_config_offload", "pi_team_offload_preset", "pi_team_offload_wait")
#: Flash, file system and default devices, which the twin does not have: files of the working directory.
BSP = """#pragma once
#include <stdio.h>
#include "pmsis.h"
struct pi_default_flash_conf { int unused; };
struct pi_fs_conf { struct pi_device *flash; };
struct pi_readfs_conf { struct pi_fs_conf fs; };
typedef FILE pi_fs_file_t;
static inline void pi_default_flash_conf_init(struct pi_default_flash_conf *conf) { conf->unused = 0; }
static inline int pi_flash_open(struct pi_device *flash) { return flash == NULL; }
static inline void pi_flash_close(struct pi_device *flash) { (void)flash; }
static inline void pi_readfs_conf_init(struct pi_readfs_conf *conf) { conf->fs.flash = NULL; }
static inline int pi_fs_mount(struct pi_device *fs) { return fs == NULL; }
static inline void pi_fs_unmount(struct pi_device *fs) { (void)fs; }
static inline pi_fs_file_t *pi_fs_open(struct pi_device *fs, const char *file, int flags)
{
    return ((fs != NULL) && (flags == 0)) ? fopen(file, "rb") : NULL;
}
static inline int32_t pi_fs_read(pi_fs_file_t *file, void *buffer, uint32_t size)
{
    return (int32_t)fread(buffer, 1u, size, file);
}
"""
SETUP_CMAKE = """# CMAKE_C_STANDARD and warnings as the SDK's; no cross compiler.
macro(setup_cmake)
    set(CMAKE_C_STANDARD 11)
    set(CMAKE_C_FLAGS "{flags}")
endmacro()
function(setupos target)
    target_compile_options(${{target}} PRIVATE -include {root}/builtin.h)
    target_include_directories(${{target}} PRIVATE {root}/include)
    target_link_libraries(${{target}} PRIVATE {twin} m)
endfunction()
"""
PMSIS_RULES = """# Builds and runs $(APP).
all:
\t$(CC) {flags} $(APP_CFLAGS) -include {root}/builtin.h $(APP_INC:%=-I%) -I{root}/include \
$(filter-out -w,$(APP_SRCS)) {twin} $(APP_LDFLAGS) -lm -o $(APP).elf
run:
\t./$(APP).elf
"""
#: The sources that the libraries have at the commits that build files name.
PULP_NN = (
    *("add", "avgpool", "conv_Co_parallel", "conv_HoWo_parallel", "conv_Ho_parallel", "depthwise_3x3_s1"),
    *("depthwise_generic", "depthwise_generic_less_4_weights", "linear", "linear_out_32", "matmul", "maxpool"),
    *("pointwise_Co_parallel", "pointwise_HoWo_parallel", "pointwise_Ho_parallel", "utils"),
)
PULP_NNX = (
    *("ne16/bsp/ne16_pulp_bsp.c", "ne16/hal/ne16.c", "ne16/hal/ne16_task.c", "src/pulp_nnx_ne16.c"),
    *("util/hwpe.c", "util/pulp_nnx_util.c"),
)


@dataclass(frozen=True)
class StandIn:
    """``gap_sdk``, ``pulp_sdk``: what GAP_SDK_HOME and RULES_DIR point to; ``pulp_nn``, ``pulp_nnx``: the libraries."""

    gap_sdk: Path
    pulp_sdk: Path
    pulp_nn: Path
    pulp_nnx: Path


def make_stand_in(root: Path, compile_twin: object) -> StandIn:
    """Write everything below ``root``. ``compile_twin``: (sources, include folder, archive) -> None."""
    sources = _write_twin(root / "twin")
    archive = root / "libtwin.a"
    compile_twin(sources, root / "twin", archive)  # type: ignore[operator]
    _write_bsp(root / "twin")
    for name, text in (("gap", ""), ("pulp", _hiding_pmsis())):
        _write_headers(root / name, root / "twin", text)
    setup = SETUP_CMAKE.format(root=root / "gap", twin=archive, flags=SDK_FLAGS)
    rules = PMSIS_RULES.format(root=root / "pulp", twin=archive, flags="-Wall -Wextra -Werror")
    _write(root / "gap/utils/cmake/setup.cmake", setup)
    _write(root / "pulp/rules/pmsis_rules.mk", rules)
    for name in PULP_NN:
        _write(root / f"pulp-nn/32bit/src/pulp_nn_{name}.c", f"int stand_in_pulp_nn_{name};\n")
    for path in PULP_NNX:
        _write(root / "pulp-nnx" / path, f"int stand_in_{Path(path).stem};\n")
    return StandIn(root / "gap", root / "pulp/rules", root / "pulp-nn", root / "pulp-nnx")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_twin(folder: Path) -> list[Path]:
    """The twin's files; the sources of it that an application needs."""
    twin = merge({unit: unit_api(unit) for unit in ("cluster", "ne16")}).twin
    for file in (*twin.headers, *twin.sources):
        _write(folder / file.name, file.text)
    runtime = sorted(path for path in RUNTIME.iterdir() if path.suffix in (".h", ".c"))
    for path in runtime:
        shutil.copyfile(path, folder / path.name)
    return [folder / name for name in sorted(path.name for path in folder.glob("*.c"))]


def _write_bsp(folder: Path) -> None:
    for name in ("bsp.h", "flash.h", "fs.h", "fs/readfs.h"):
        _write(folder / "bsp" / name, BSP)


def _hiding_pmsis() -> str:
    hidden = "".join(f"#define {name} stand_in_{name}\n" for name in TEAM)
    return hidden + '#include_next "pmsis.h"\n' + "".join(f"#undef {name}\n" for name in TEAM)


def _write_headers(root: Path, twin: Path, pmsis: str) -> None:
    """Twin headers below ``include``, behind ``pmsis`` in front of the twin's where that is not empty."""
    headers: Iterable[Path] = sorted(path for path in twin.rglob("*.h"))
    for path in headers:
        target = root / "include" / path.relative_to(twin)
        _write(target, path.read_text(encoding="utf-8"))
    if pmsis:
        (root / "include/pmsis.h").rename(root / "include/twin_pmsis.h")
        _write(root / "include/pmsis.h", pmsis.replace('#include_next "pmsis.h"', '#include "twin_pmsis.h"'))
    _write(root / "builtin.h", BUILTIN)
