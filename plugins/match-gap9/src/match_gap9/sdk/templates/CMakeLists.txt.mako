# SPDX-License-Identifier: Apache-2.0
# ${name}
#
# With GAP9's SDK in the environment (GAP_SDK_HOME): an application for it, whose main is in ${applications[0]}.
# Without: a static library; add the SDK's include directories to the target.
#
# Names as public projects for SDK 5 use them: setup.cmake, setup_cmake, setupos and TARGET_NAME in
# fernandoFernandeSantos/gap9radsetup (benchmarks/MatMult), options of sdk.config in pulp-platform/Deeploy
# (DeeployTest/Platforms/GAP9).
#
#   cmake -B build${"".join(f" -D{library.variable}=..." for library in libraries)} -DCONFIG_PLATFORM_GVSOC=y
#   cmake --build build --target run
cmake_minimum_required(VERSION 3.16)

set(LIBRARY_SOURCES
% for file in library_sources:
    ${file}
% endfor
)

if(NOT EXISTS "$ENV{GAP_SDK_HOME}/utils/cmake/setup.cmake")
    project(${name} C)
    add_library(${name} STATIC <%text>${LIBRARY_SOURCES}</%text>)
    set_target_properties(${name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    # The same results with every compiler: products and sums are not fused.
    target_compile_options(${name} PRIVATE -ffp-contract=off)
    target_include_directories(${name} PUBLIC <%text>${CMAKE_CURRENT_SOURCE_DIR}</%text>)
    return()
endif()

# The SDK chooses the compiler, so it comes before the project.
set(TARGET_NAME ${name})
set(CONFIG_GAP_SDK_HOME $ENV{GAP_SDK_HOME})
include($ENV{GAP_SDK_HOME}/utils/cmake/setup.cmake)
if(COMMAND setup_cmake)
    setup_cmake()
endif()
project(${name} C ASM)

option(MATCH_PROFILE "count the cycles of each node" ON)
% for library in libraries:

# ${library.name}, ${library.repository}: the files are those of commit ${library.commit}.
set(${library.variable} "$ENV{${library.variable}}" CACHE PATH "directory of ${library.name}")
if(NOT EXISTS "<%text>${</%text>${library.variable}}/${library.probe}")
    message(FATAL_ERROR "${library.variable} is '<%text>${</%text>${library.variable}}': set it to a checkout of ${library.name} "
            "(${library.repository}, commit ${library.commit})")
endif()
set(${library.variable.removesuffix("_DIR")}_SOURCES
% for file in library.sources:
    <%text>${</%text>${library.variable}}/${file}
% endfor
)
# Their code has warnings, which the SDK makes errors.
set_source_files_properties(<%text>${</%text>${library.variable.removesuffix("_DIR")}_SOURCES}
                            PROPERTIES COMPILE_OPTIONS "-w")
% endfor

add_executable(${name}
% for file in (*sources, *applications):
    ${file}
% endfor
% for library in libraries:
    <%text>${</%text>${library.variable.removesuffix("_DIR")}_SOURCES}
% endfor
)
target_include_directories(${name} PRIVATE
    <%text>${CMAKE_CURRENT_SOURCE_DIR}</%text>
% for library in libraries:
% for include in library.includes:
    <%text>${</%text>${library.variable}}/${include}
% endfor
% endfor
)
# MATCH_GAP9_XPULP: the cores have XpulpV2 and the compiler its builtins.
target_compile_definitions(${name} PRIVATE NUM_CORES=8 MATCH_GAP9_XPULP)
if(MATCH_PROFILE)
    target_compile_definitions(${name} PRIVATE MATCH_PROFILE)
endif()
target_compile_options(${name} PRIVATE -O3 -ffp-contract=off)

setupos(${name})
