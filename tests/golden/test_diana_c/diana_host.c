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
static void diana_host_00_kernel(const int8_t *restrict in0, int8_t *restrict out0)
{
    for (int32_t j = 0; j < 3; j++) {
        for (int32_t k = 0; k < 16; k++) {
            for (int32_t l = 0; l < 4; l++) {
                uint32_t word;
                memcpy(&word, &in0[j * 256 + k * 16 + 4 * l], sizeof(word));
                word = (word >> 24) | ((word >> 8) & 0xff00u) | ((word << 8) & 0xff0000u) | (word << 24);
                memcpy(&out0[j * 256 + k * 16 + 4 * l], &word, sizeof(word));
            }
        }
    }
}

void diana_host_00(const void *in0, void *out0)
{
    diana_host_00_kernel(in0, out0);
}

/* Convert of conv21_requant_analog (inserted) on host (host_convert)
 * N=2048; 24596 cycles (modelled) */
/* 1x32x8x8 from channels to plain form */
DIANA_HOST_CODE_SECTION
static void diana_host_06_kernel(const int8_t *restrict in0, int8_t *restrict out0)
{
    for (int32_t j = 0; j < 32; j++) {
        for (int32_t k = 0; k < 8; k++) {
            for (int32_t l = 0; l < 8; l++) {
                out0[j * 64 + k * 8 + l] = in0[(k * 512 + l * 64 + j) ^ 3];
            }
        }
    }
}

void diana_host_06(const void *in0, void *out0)
{
    diana_host_06_kernel(in0, out0);
}

/* pool26 on host (host_conv_integer_requant)
 * N=32; 21204 cycles (modelled) */
/* ConvInteger, RequantI8: 32 to 32 channels, kernel 8x8, stride 8x8, 32 groups */
DIANA_HOST_CODE_SECTION
static void diana_host_07_kernel(
    const int8_t *restrict in0,
    const int8_t *restrict in1,
    int8_t *restrict out0,
    int32_t arg0,
    int32_t arg1,
    int64_t arg2)
{
    for (int32_t g = 0; g < 32; g++) {
        int32_t s0 = 0;
        for (int32_t ky = 0; ky < 8; ky++) {
            for (int32_t kx = 0; kx < 8; kx++) {
                const int8_t *const a = &in0[g * 64 + ky * 8 + kx];
                const int8_t *const b = &in1[g * 64 + ky * 8 + kx];
                const int32_t x0 = a[0];
                const int32_t w0 = b[0];
                s0 += x0 * w0;
            }
        }
        const int32_t sums[1][1] = {
            {s0},
        };
        const int32_t acc = sums[0][0];
        out0[g] = host_shift_clip_i8((int64_t)acc * arg1 + arg2, 31, arg0, -128, 127);
    }
}

void diana_host_07(const void *in0, void *out0)
{
    diana_host_07_kernel(in0, diana_07_1, out0, 0, 1593676592, INT64_C(20401094660));
}
