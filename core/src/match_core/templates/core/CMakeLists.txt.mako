# SPDX-License-Identifier: Apache-2.0
# ${name}: a static library; add the SDK's include directories to the target.
cmake_minimum_required(VERSION 3.13)
project(${name} C)
add_library(${name} STATIC
% for file in c_files:
    ${file}
% endfor
)
set_target_properties(${name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
# The same results with every compiler: products and sums are not fused.
target_compile_options(${name} PRIVATE -ffp-contract=off)
target_include_directories(${name} PUBLIC <%text>${CMAKE_CURRENT_SOURCE_DIR}</%text>)
% for variable, slash, rest in (folder.partition("/") for folder in folders):
target_include_directories(${name} SYSTEM PUBLIC "$ENV{${variable}}${slash}${rest}")
% endfor
% if libraries:
target_link_libraries(${name} PUBLIC ${" ".join(libraries)})
% endif
