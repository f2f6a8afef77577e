/* SPDX-License-Identifier: Apache-2.0 */
/* What all kernels for Arm Cortex-M share: requantisation, clips, and windows with padding. */
#ifndef MATCH_CORTEXM_H
#define MATCH_CORTEXM_H

#include <stdint.h>
#include <string.h>

/* Defined where functions are written in instructions of all cores (Thumb), or of those from Cortex-M3 on (Thumb-2);
 * MATCH_CORTEXM_PORTABLE forbids it. */
#if defined(__thumb__) && defined(__GNUC__) && !defined(MATCH_CORTEXM_PORTABLE)
#define MATCH_CORTEXM_THUMB
#if defined(__thumb2__)
#define MATCH_CORTEXM_THUMB2
#endif
#define MATCH_CORTEXM_NAKED __attribute__((naked, noinline, unused))
#define MATCH_CORTEXM_UNUSED __attribute__((unused))
/* A function that is not inlined. */
#define MATCH_CORTEXM_NOINLINE __attribute__((noinline))
/* Compilers know nothing of a pointer or a counter behind this: they keep it in a register of its own. */
#define MATCH_CORTEXM_OPAQUE(place) __asm__("" : "+r"(place))
#else
#define MATCH_CORTEXM_NOINLINE
#define MATCH_CORTEXM_OPAQUE(place) ((void)0)
#endif

/* Compilers find SSAT and USAT on cores with the DSP extension, but not after a shift. With Helium, vectors clip. */
static inline int32_t match_cortexm_clip(int32_t value, int32_t low, int32_t high)
{
#if defined(MATCH_CORTEXM_THUMB2)
    int32_t clipped;
    if (__builtin_constant_p((low == -128) && (high == 127)) && (low == -128) && (high == 127)) {
        __asm__("ssat %0, #8, %1" : "=r"(clipped) : "r"(value));
        return clipped;
    }
    if (__builtin_constant_p((low == 0) && (high == 255)) && (low == 0) && (high == 255)) {
        __asm__("usat %0, #8, %1" : "=r"(clipped) : "r"(value));
        return clipped;
    }
#endif
    return value < low ? low : value > high ? high : value;
}

#if defined(MATCH_CORTEXM_THUMB) && !defined(MATCH_CORTEXM_THUMB2)
/* The upper word of sum * multiplier + addend, from products of halves: cores without Thumb-2 have no longer ones. */
MATCH_CORTEXM_NAKED static int32_t match_cortexm_upper(
    MATCH_CORTEXM_UNUSED int32_t sum, MATCH_CORTEXM_UNUSED int32_t multiplier, MATCH_CORTEXM_UNUSED int64_t addend)
{
    __asm__(".syntax unified\n\t" /* compilers write for such cores in another one */
            "push {r4-r6, lr}\n\t"
            "uxth r4, r0\n\t"
            "asrs r0, r0, #16\n\t"
            "uxth r5, r1\n\t"
            "asrs r1, r1, #16\n\t"
            "mov r6, r4\n\t"
            "muls r6, r5, r6\n\t"
            "muls r4, r1, r4\n\t"
            "muls r5, r0, r5\n\t"
            "muls r0, r1, r0\n\t"
            "adds r2, r2, r6\n\t"
            "adcs r0, r3\n\t"
            "lsls r6, r4, #16\n\t"
            "asrs r4, r4, #16\n\t"
            "adds r2, r2, r6\n\t"
            "adcs r0, r4\n\t"
            "lsls r6, r5, #16\n\t"
            "asrs r5, r5, #16\n\t"
            "adds r2, r2, r6\n\t"
            "adcs r0, r5\n\t"
            "pop {r4-r6, pc}");
}
#else
static inline int32_t match_cortexm_upper(int32_t sum, int32_t multiplier, int64_t addend)
{
    return (int32_t)(((int64_t)sum * multiplier + addend) >> 32);
}
#endif

/* floor((sum * multiplier + addend) / 2^(32 + shift)). A shift of a negative value rounds down. */
static inline int32_t match_cortexm_scale(int32_t sum, int32_t multiplier, int64_t addend, int32_t shift)
{
    return match_cortexm_upper(sum, multiplier, addend) >> shift;
}

/* Four bytes at any address. */
static inline int32_t match_cortexm_word(const void *at)
{
    int32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* A part of an image with NHWC order: rows x columns positions from (first_row, first_column), which may lie outside;
 * positions outside get the value fill. All sizes are in positions, bytes is the size of one. */
static inline void match_cortexm_window(
    int8_t *to,
    const int8_t *image,
    int32_t height,
    int32_t width,
    int32_t bytes,
    int32_t first_row,
    int32_t first_column,
    int32_t rows,
    int32_t columns,
    int32_t fill)
{
    const int32_t last_column = first_column + columns;
    const int32_t from = first_column > 0 ? first_column : 0;
    const int32_t end = last_column < width ? last_column : width;
    const int32_t before = (from - first_column) * bytes;
    const int32_t inside = (end - from) * bytes;
    const int32_t after = (last_column - end) * bytes;
    for (int32_t row = first_row; row < first_row + rows; row++) {
        if ((row < 0) || (row >= height) || (inside <= 0)) {
            memset(to, fill, (size_t)(columns * bytes));
            to += columns * bytes;
        } else {
            memset(to, fill, (size_t)before);
            to += before;
            memcpy(to, &image[(row * width + from) * bytes], (size_t)inside);
            to += inside;
            memset(to, fill, (size_t)after);
            to += after;
        }
    }
}

#endif
