"""An ESP-IDF component: ``idf_component.yml``, a CMakeLists.txt that registers the sources, an example project.

Layout: ESP-IDF programming guide, "Build system", and the manifest format of the IDF component manager.
"""

from __future__ import annotations

from match_export.program import ExportProgram

_MANIFEST = """\
# SPDX-License-Identifier: Apache-2.0
version: "{release}"
description: {sentence}
license: Apache-2.0
dependencies:
  idf: ">=5.0"
examples:
  - path: examples/{name}
"""
_LISTS = """\
# SPDX-License-Identifier: Apache-2.0
idf_component_register(
    SRCS
        {sources}
    INCLUDE_DIRS "include"
    PRIV_INCLUDE_DIRS "src")
# The same results with every compiler: products and sums are not fused.
target_compile_options(${{COMPONENT_LIB}} PRIVATE -ffp-contract=off)
"""
_PROJECT = """\
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.16)
include($ENV{{IDF_PATH}}/tools/cmake/project.cmake)
project({name}_example)
"""
_MAIN_LISTS = '# SPDX-License-Identifier: Apache-2.0\nidf_component_register(SRCS "main.c" PRIV_REQUIRES {component})\n'
_MAIN_MANIFEST = """\
# SPDX-License-Identifier: Apache-2.0
dependencies:
  {component}:
    version: "*"
    override_path: "../../../"
"""


def esp_idf_package(program: ExportProgram) -> dict[str, bytes]:
    """The files by path. A component's name is that of its folder, which the example takes to be the program's."""
    sources = "\n        ".join(f'"src/{name}"' for name in program.sources)
    view = {"name": program.name, "component": program.name, "release": program.release, "sources": sources}
    example, start = f"examples/{program.name}", "void app_main(void)"
    body = program.example.replace("int main(void)", f"{start};\n\n{start}").replace("    return status;\n", "")
    texts = {
        "idf_component.yml": _MANIFEST,
        "CMakeLists.txt": _LISTS,
        f"{example}/CMakeLists.txt": _PROJECT,
        f"{example}/main/CMakeLists.txt": _MAIN_LISTS,
        f"{example}/main/idf_component.yml": _MAIN_MANIFEST,
    }
    files = {name: text.format(**view, sentence=program.sentence) for name, text in texts.items()}
    files[f"{example}/main/main.c"] = body
    return {**program.laid_out(), **{name: text.encode("utf-8") for name, text in files.items()}}
