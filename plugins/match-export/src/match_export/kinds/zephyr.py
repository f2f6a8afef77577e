"""A Zephyr module: ``zephyr/module.yml`` names the folder of CMakeLists.txt and the Kconfig file.

Layout: Zephyr Project documentation, "Modules (External projects)" and "Sample definition".
"""

from __future__ import annotations

from match_export.program import ExportProgram

_MODULE = """\
# SPDX-License-Identifier: Apache-2.0
# {sentence}.
name: {name}
build:
  cmake: .
  kconfig: Kconfig
samples:
  - samples
"""
_KCONFIG = """\
# SPDX-License-Identifier: Apache-2.0

config MATCH_{guard}
	bool "{sentence}"
"""
_LISTS = """\
# SPDX-License-Identifier: Apache-2.0
if(CONFIG_MATCH_{guard})
  zephyr_include_directories(include)
  zephyr_library()
  zephyr_library_sources(
    {sources}
  )
  zephyr_library_include_directories(src)
  # The same results with every compiler: products and sums are not fused.
  zephyr_library_compile_options(-ffp-contract=off)
endif()
"""
_SAMPLE_LISTS = """\
# SPDX-License-Identifier: Apache-2.0
# west build -b BOARD samples/{name} -- -DZEPHYR_EXTRA_MODULES=$PWD
cmake_minimum_required(VERSION 3.20.0)
find_package(Zephyr REQUIRED HINTS $ENV{{ZEPHYR_BASE}})
project({name}_sample)
target_sources(app PRIVATE src/main.c)
"""
_SAMPLE = """\
# SPDX-License-Identifier: Apache-2.0
sample:
  name: {name}
  description: {sentence}
tests:
  sample.match.{name}:
    build_only: true
"""
_CONFIG = "CONFIG_MATCH_{guard}=y\nCONFIG_MAIN_STACK_SIZE={stack}\n"
#: Stack of the sample's thread: the program's bound (docs/emitted-c.md) and room for the system.
_STACK_BYTES = 8192


def zephyr_package(program: ExportProgram) -> dict[str, bytes]:
    """The files by path."""
    sources = "\n    ".join(f"src/{name}" for name in program.sources)
    view = {"name": program.name, "guard": program.name.upper(), "sentence": program.sentence, "sources": sources}
    sample = f"samples/{program.name}"
    texts = {
        "zephyr/module.yml": _MODULE,
        "Kconfig": _KCONFIG,
        "CMakeLists.txt": _LISTS,
        f"{sample}/CMakeLists.txt": _SAMPLE_LISTS,
        f"{sample}/sample.yaml": _SAMPLE,
        f"{sample}/prj.conf": _CONFIG,
    }
    files = {name: text.format(**view, stack=_STACK_BYTES).encode("utf-8") for name, text in texts.items()}
    return {**program.laid_out(), **files, f"{sample}/src/main.c": program.example.encode("utf-8")}
