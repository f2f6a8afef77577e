/* driver.c - calls one kernel with sizes from the command line, on one core that stands for the whole team:
 * driver CALLS KERNEL OY OX K C FY FX PAD. PAD pixels of padding stand left and right.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "match_carfield_half_kernels.h"
#include "start.h"

#define JOIN(a, b) a##b
#define KERNEL_OF(unit, name) JOIN(unit, name)
#define KERNEL(name) KERNEL_OF(COUNTED_UNIT, name)

void COUNTED_TEAM(void (*entry)(void *), const void *tile);
void COUNTED_TEAM(void (*entry)(void *), const void *tile) { entry((void *)(uintptr_t)tile); }

enum { KERNEL_LETTER, OY, OX, K, C, FY, FX, PAD, SIZES };

static uint64_t input[1 << 15], weight[1 << 15], constant[1 << 10], output[1 << 15];

static void call(char kernel, const uint32_t *s)
{
#ifndef MATCH_CARFIELD_FLOAT32
    const match_half_softmax_t softmax = {.input = input, .output = output, .r = s[OY], .c = s[C]};
    const match_half_layernorm_t norm = {
        .input = input, .scale = constant, .bias = constant, .output = output, .r = s[OY], .c = s[C],
        .epsilon_bits = 0x3727C5AC,
    };
    const match_half_gelu_t gelu = {.input = input, .output = output, .y = 1, .x = 1, .c = s[C]};
    switch (kernel) {
        case 's': KERNEL(softmax)(&softmax); break;
        case 'n': KERNEL(layernorm)(&norm); break;
        case 'g': KERNEL(gelu)(&gelu); break;
        default: break;
    }
#endif
    const match_half_conv2d_t conv = {
        .input = input, .weight = weight, .mul = constant, .add = constant, .output = output, .oy = s[OY], .ox = s[OX],
        .k = s[K], .c = s[C], .fy = s[FY], .fx = s[FX], .input_y = s[OY] + s[FY] - 1u,
        .input_x = s[OX] + s[FX] - 1u - 2u * s[PAD],
        .input_x_pad_before = s[PAD], .input_x_pad_after = s[PAD],
        .stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1,
    };
    const match_half_depthwise2d_t depthwise = {
        .input = input, .weight = weight, .mul = constant, .add = constant, .output = output, .oy = s[OY], .ox = s[OX],
        .k = s[K], .fy = s[FY], .fx = s[FX], .input_y = s[OY] + s[FY] - 1u,
        .input_x = s[OX] + s[FX] - 1u - 2u * s[PAD],
        .input_x_pad_before = s[PAD], .input_x_pad_after = s[PAD],
        .stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1,
    };
    const match_half_pool2d_t pool = {
        .input = input, .output = output, .oy = s[OY], .ox = s[OX], .c = s[K], .fy = s[FY], .fx = s[FX],
        .input_y = s[OY] + s[FY] - 1u,
        .input_x = s[OX] + s[FX] - 1u - 2u * s[PAD],
        .input_x_pad_before = s[PAD], .input_x_pad_after = s[PAD], .stride_y = 1, .stride_x = 1,
        .average = kernel == 'v', .scale_bits = 0x3000,
    };
    const match_half_add_t add = {.input_a = input, .input_b = weight, .output = output, .y = 1, .x = 1, .c = s[K]};
    const match_half_transpose_t transpose = {.input = input, .output = output, .r = s[K], .c = s[C]};
    switch (kernel) {
        case 'c': KERNEL(conv2d)(&conv); break;
        case 'd': KERNEL(depthwise2d)(&depthwise); break;
        case 'v':
        case 'm': KERNEL(pool2d)(&pool); break;
        case 'a': KERNEL(add)(&add); break;
        case 't': KERNEL(transpose)(&transpose); break;
        default: break;
    }
}

__attribute__((used)) int run(char **arguments)
{
    uint32_t sizes[SIZES] = {0u};
    for (uint32_t i = OY; i < SIZES; i++) {
        sizes[i] = number_of(arguments[2u + i]);
    }
    for (uint32_t i = number_of(arguments[1]); i > 0u; i--) {
        call(arguments[2][0], sizes);
    }
    return 0;
}
