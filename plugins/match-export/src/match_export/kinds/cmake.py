"""A CMake package: a library that ``find_package`` and ``add_subdirectory`` offer as ``match::NAME``."""

from __future__ import annotations

from match_export.program import ExportProgram

_LISTS = """\
# SPDX-License-Identifier: Apache-2.0
# {sentence}.
#   find_package({name} REQUIRED), or add_subdirectory, or FetchContent; then
#   target_link_libraries(application PRIVATE match::{name})
cmake_minimum_required(VERSION 3.13)
project({name} VERSION {release} LANGUAGES C)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

add_library({name} STATIC
    {sources}
)
add_library(match::{name} ALIAS {name})
set_target_properties({name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
# The same results with every compiler: products and sums are not fused.
target_compile_options({name} PRIVATE -ffp-contract=off)
target_include_directories({name}
    PUBLIC $<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}/include> $<INSTALL_INTERFACE:${{CMAKE_INSTALL_INCLUDEDIR}}>
    PRIVATE src)

install(TARGETS {name} EXPORT {name}Targets ARCHIVE DESTINATION ${{CMAKE_INSTALL_LIBDIR}})
install(DIRECTORY include/ DESTINATION ${{CMAKE_INSTALL_INCLUDEDIR}})
install(EXPORT {name}Targets FILE {name}Config.cmake NAMESPACE match::
    DESTINATION ${{CMAKE_INSTALL_LIBDIR}}/cmake/{name})
write_basic_package_version_file({name}ConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${{CMAKE_CURRENT_BINARY_DIR}}/{name}ConfigVersion.cmake
    DESTINATION ${{CMAKE_INSTALL_LIBDIR}}/cmake/{name})
"""
_EXAMPLE = """\
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.13)
project({name}_example LANGUAGES C)
find_package({name} {release} REQUIRED)
add_executable({name}_example main.c)
set_target_properties({name}_example PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_link_libraries({name}_example PRIVATE match::{name})
"""


def cmake_package(program: ExportProgram) -> dict[str, bytes]:
    """The files by path."""
    sources = "\n    ".join(f"src/{name}" for name in program.sources)
    view = {"name": program.name, "release": program.release, "sentence": program.sentence, "sources": sources}
    files = {"CMakeLists.txt": _LISTS.format(**view)}
    if program.example:
        files |= {"example/CMakeLists.txt": _EXAMPLE.format(**view), "example/main.c": program.example}
    return {**program.laid_out(), **{name: text.encode("utf-8") for name, text in files.items()}}
