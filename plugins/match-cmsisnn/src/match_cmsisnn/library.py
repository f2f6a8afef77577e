"""The library's C: files of the user's own copy, which programs include in files of their own.

Nothing of the library is part of this package. A program has one C file for each group of functions that it calls; the
compiler finds the library's files below the folder that the environment variable CMSIS_NN_DIR names.
"""

from __future__ import annotations

from functools import lru_cache

from match_core.contract.unit_api import RuntimeFile

#: The folders that the compiler searches: for C, and for headers.
FOLDERS = ("CMSIS_NN_DIR", "CMSIS_NN_DIR/Include")
HEADER = "arm_nnfunctions.h"
_CONVOLUTION, _SUPPORT, _DENSE = "ConvolutionFunctions", "NNSupportFunctions", "FullyConnectedFunctions"
#: Group -> files below Source, without their ending.
GROUPS: dict[str, tuple[str, ...]] = {
    "convolve": (
        *(f"{_CONVOLUTION}/arm_convolve_{name}" for name in ("wrapper_s8", "s8", "1x1_s8", "1x1_s8_fast", "1_x_n_s8")),
        f"{_CONVOLUTION}/arm_nn_mat_mult_kernel_s8_s16",
        f"{_CONVOLUTION}/arm_nn_mat_mult_kernel_row_offset_s8_s16",
        f"{_CONVOLUTION}/arm_nn_mat_mult_s8",
        *(f"{_SUPPORT}/arm_nn_mat_mul{name}_s8" for name in ("t_nt_t", "_core_1x", "_core_4x")),
        f"{_SUPPORT}/arm_s8_to_s16_unordered_with_offset",
    ),
    "shared": (f"{_CONVOLUTION}/arm_convolve_get_buffer_sizes_s8", f"{_SUPPORT}/arm_q7_to_q15_with_offset"),
    "depthwise": (
        *(f"{_CONVOLUTION}/arm_depthwise_conv_{name}" for name in ("wrapper_s8", "s8", "s8_opt", "3x3_s8")),
        f"{_CONVOLUTION}/arm_depthwise_conv_get_buffer_sizes_s8",
        f"{_CONVOLUTION}/arm_nn_depthwise_conv_s8_core",
        *(f"{_SUPPORT}/arm_nn_depthwise_conv_nt_t_{name}" for name in ("padded_s8", "s8")),
        "TransposeFunctions/arm_transpose_s8",
    ),
    "fully_connected": (
        *(f"{_DENSE}/arm_fully_connected_{name}" for name in ("wrapper_s8", "s8", "per_channel_s8")),
        *(f"{_SUPPORT}/arm_nn_vec_mat_mult_t_{name}" for name in ("s8", "per_ch_s8")),
    ),
    "average": ("PoolingFunctions/arm_avgpool_s8", "PoolingFunctions/arm_avgpool_get_buffer_sizes_s8"),
    "maximum": ("PoolingFunctions/arm_max_pool_s8",),
    "add": ("BasicMathFunctions/arm_elementwise_add_s8",),
}
#: Groups that another one calls; the second ones on cores with Helium only, where some depthwise convolutions become
#: others.
_CALLED = {"convolve": (("shared",), ()), "depthwise": (("shared",), ("convolve",))}


@lru_cache(maxsize=16)
def library_files(group: str, helium: bool) -> tuple[RuntimeFile, ...]:
    """The C files of a program that calls a group of functions."""
    always, with_helium = _CALLED.get(group, ((), ()))
    return tuple(_file(name) for name in (group, *always, *(with_helium if helium else ())))


def _file(group: str) -> RuntimeFile:
    lines = (
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* Functions of CMSIS-NN that this program calls, from your own copy (CMSIS_NN_DIR). Every result is rounded",
        " * once, as in the network's integer graph. */",
        "#define CMSIS_NN_USE_SINGLE_ROUNDING",
        *(f"#include <Source/{name}.c>" for name in GROUPS[group]),
    )
    return RuntimeFile(f"match_cmsisnn_{group}.c", "\n".join(lines) + "\n")
