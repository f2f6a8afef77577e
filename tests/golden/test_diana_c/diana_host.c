/* SPDX-License-Identifier: Apache-2.0 */
/* diana: kernels of unit host, in place on l2; tasks with the same computation share a kernel. */
#include <stdint.h>
#include <string.h>
#include "match_runtime.h"
#include "diana_tasks.h"

/* floor(total / 2^(first + rest)), which has 32 bits, then clipped. The shift of a negative value is
 * arithmetic (gcc, clang), so it rounds down; the first one, of at most 32 places, need not be. */
static inline int8_t host_shift_clip_i8(int64_t total, int32_t first, int32_t rest, int32_t low, int32_t high)
{
    const int32_t value = (int32_t)(uint32_t)((uint64_t)total >> first) >> rest;
    return (int8_t)(value < low ? low : value > high ? high : value);
}

/* Convert of input (inserted) on host (host_convert)
 * N=768; 4052 cycles (modelled) */
/* 1x3x16x16 from plain to rows form */
DIANA_HOST_CODE_SECTION
static void diana_host_00_kernel(const int8_t *restrict input, int8_t *restrict output)
{
    for (int32_t j = 0; j < 3; j++) {
        MATCH_YIELD();
        for (int32_t k = 0; k < 16; k++) {
            for (int32_t l = 0; l < 4; l++) {
                uint32_t word;
                memcpy(&word, &input[j * 256 + k * 16 + 4 * l], sizeof(word));
                word = (word >> 24) | ((word >> 8) & 0xff00u) | ((word << 8) & 0xff0000u) | (word << 24);
                memcpy(&output[j * 256 + k * 16 + 4 * l], &word, sizeof(word));
            }
        }
    }
}

void diana_host_00(const void *input, void *output)
{
    diana_host_00_kernel(input, output);
}

/* Convert of conv21_requant_analog (inserted) on host (host_convert)
 * N=2048; 24596 cycles (modelled) */
/* 1x32x8x8 from channels to plain form */
DIANA_HOST_CODE_SECTION
static void diana_host_06_kernel(const int8_t *restrict input, int8_t *restrict output)
{
    for (int32_t j = 0; j < 32; j++) {
        MATCH_YIELD();
        for (int32_t k = 0; k < 8; k++) {
            for (int32_t l = 0; l < 8; l++) {
                output[j * 64 + k * 8 + l] = input[(k * 512 + l * 64 + j) ^ 3];
            }
        }
    }
}

void diana_host_06(const void *input, void *output)
{
    diana_host_06_kernel(input, output);
}

/* pool26 on host (host_conv_integer_requant)
 * N=32; 21204 cycles (modelled) */
/* ConvInteger, RequantI8: 32 to 32 channels, kernel 8x8, stride 8x8, 32 groups */
DIANA_HOST_CODE_SECTION
static void diana_host_07_kernel(
    const int8_t *restrict input,
    const int8_t *restrict weights,
    int8_t *restrict output,
    int32_t shift,
    int32_t multiplier,
    int64_t addend)
{
    for (int32_t g = 0; g < 32; g++) {
        MATCH_YIELD();
        int32_t s0 = 0;
        for (int32_t ky = 0; ky < 8; ky++) {
            for (int32_t kx = 0; kx < 8; kx++) {
                const int8_t *const a = &input[g * 64 + ky * 8 + kx];
                const int8_t *const b = &weights[g * 64 + ky * 8 + kx];
                const int32_t x0 = a[0];
                const int32_t w0 = b[0];
                s0 += x0 * w0;
            }
        }
        const int32_t sums[1][1] = {
            {s0},
        };
        const int32_t acc = sums[0][0];
        output[g] = host_shift_clip_i8((int64_t)acc * multiplier + addend, 31, shift, -128, 127);
    }
}

void diana_host_07(const void *input, void *output)
{
    diana_host_07_kernel(input, diana_07_weights, output, 0 /* shift */, 1593676592 /* multiplier */,
                         INT64_C(20401094660) /* addend */);
}
