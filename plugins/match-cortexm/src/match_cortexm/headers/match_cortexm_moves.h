/* SPDX-License-Identifier: Apache-2.0 */
/* Transpositions of matrices of bytes, halfwords, words and double words. Sizes are arguments of functions that compilers
 * do not specialise, so the instructions of a call follow from the sizes alone. */
#ifndef MATCH_CORTEXM_MOVES_H
#define MATCH_CORTEXM_MOVES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#define MATCH_CORTEXM_OWN __attribute__((noipa, unused))
#elif defined(__GNUC__)
#define MATCH_CORTEXM_OWN __attribute__((noinline, unused))
#else
#define MATCH_CORTEXM_OWN
#endif

/* Ends a turn of a loop that must not become vectors: these fault on unaligned words, which compilers do not see. */
#if defined(__GNUC__)
#define MATCH_CORTEXM_TURN __asm__ volatile("" : : : "memory")
#else
#define MATCH_CORTEXM_TURN ((void)0)
#endif

/* Words at any address; on Armv6-M, which has none, at a multiple of four. */
#if defined(__ARM_ARCH_6M__) && defined(__GNUC__)
#define MATCH_CORTEXM_ALIGNED(AT) __builtin_assume_aligned(AT, 4)
#else
#define MATCH_CORTEXM_ALIGNED(AT) (AT)
#endif

static inline uint32_t match_cortexm_load(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, MATCH_CORTEXM_ALIGNED(at), sizeof word);
    return word;
}

static inline void match_cortexm_store(uint8_t *at, uint32_t word)
{
    memcpy(MATCH_CORTEXM_ALIGNED(at), &word, sizeof word);
}

/* Bytes [rows][columns] to [columns][rows]: blocks of four by four, then the rest of each strip, then the last rows. On
 * Armv6-M, all rows are the last ones if words are not at multiples of four. */
MATCH_CORTEXM_OWN static void match_cortexm_transpose_8(
    uint8_t *restrict to, const uint8_t *restrict from, int32_t rows, int32_t columns)
{
    const uint32_t even = 0x00ff00ffu;
    int32_t row = 0;
    bool words = true;
#if defined(__ARM_ARCH_6M__)
    words = (((uint32_t)rows | (uint32_t)columns | (uint32_t)(uintptr_t)to | (uint32_t)(uintptr_t)from) & 3u) == 0u;
#endif
    for (; words && (row + 4 <= rows); row += 4) {
        const uint8_t *a = &from[row * columns];
        uint8_t *out = &to[row];
        int32_t column = 0;
        for (; column + 4 <= columns; column += 4) {
            const uint32_t w0 = match_cortexm_load(a);
            const uint32_t w1 = match_cortexm_load(a + columns);
            const uint32_t w2 = match_cortexm_load(a + 2 * columns);
            const uint32_t w3 = match_cortexm_load(a + 3 * columns);
            const uint32_t e01 = (w0 & even) | ((w1 & even) << 8);
            const uint32_t o01 = ((w0 >> 8) & even) | (w1 & ~even);
            const uint32_t e23 = (w2 & even) | ((w3 & even) << 8);
            const uint32_t o23 = ((w2 >> 8) & even) | (w3 & ~even);
            match_cortexm_store(out, (e01 & 0xffffu) | (e23 << 16));
            match_cortexm_store(out + rows, (o01 & 0xffffu) | (o23 << 16));
            match_cortexm_store(out + 2 * rows, (e01 >> 16) | (e23 & 0xffff0000u));
            match_cortexm_store(out + 3 * rows, (o01 >> 16) | (o23 & 0xffff0000u));
            a += 4;
            out += 4 * rows;
            MATCH_CORTEXM_TURN;
        }
        for (; column < columns; column++) {
            const uint32_t low = a[0] | ((uint32_t)a[columns] << 8);
            match_cortexm_store(out, low | ((uint32_t)a[2 * columns] << 16) | ((uint32_t)a[3 * columns] << 24));
            a++;
            out += rows;
            MATCH_CORTEXM_TURN;
        }
    }
    for (; row < rows; row++) {
        const uint8_t *a = &from[row * columns];
        uint8_t *out = &to[row];
        int32_t column = 0;
        for (; column + 4 <= columns; column += 4) {
#if defined(__ARM_ARCH_6M__)
            out[0] = a[0];
            out[rows] = a[1];
            out[2 * rows] = a[2];
            out[3 * rows] = a[3];
#else
            const uint32_t word = match_cortexm_load(a);
            out[0] = (uint8_t)word;
            out[rows] = (uint8_t)(word >> 8);
            out[2 * rows] = (uint8_t)(word >> 16);
            out[3 * rows] = (uint8_t)(word >> 24);
#endif
            a += 4;
            out += 4 * rows;
            MATCH_CORTEXM_TURN;
        }
        for (; column < columns; column++) {
            *out = *a++;
            out += rows;
            MATCH_CORTEXM_TURN;
        }
    }
}

/* Halfwords [rows][columns] to [columns][rows]: blocks of two by four, then the rest of each strip, then the last row. */
MATCH_CORTEXM_OWN static void match_cortexm_transpose_16(
    uint16_t *restrict to, const uint16_t *restrict from, int32_t rows, int32_t columns)
{
    int32_t row = 0;
    for (; row + 2 <= rows; row += 2) {
        const uint8_t *a = (const uint8_t *)&from[row * columns];
        uint8_t *out = (uint8_t *)&to[row];
        int32_t column = 0;
        for (; column + 4 <= columns; column += 4) {
            const uint32_t w0 = match_cortexm_load(a);
            const uint32_t w1 = match_cortexm_load(a + 2 * columns);
            const uint32_t w2 = match_cortexm_load(a + 4);
            const uint32_t w3 = match_cortexm_load(a + 2 * columns + 4);
            match_cortexm_store(out, (w0 & 0xffffu) | (w1 << 16));
            match_cortexm_store(out + 2 * rows, (w0 >> 16) | (w1 & 0xffff0000u));
            match_cortexm_store(out + 4 * rows, (w2 & 0xffffu) | (w3 << 16));
            match_cortexm_store(out + 6 * rows, (w2 >> 16) | (w3 & 0xffff0000u));
            a += 8;
            out += 8 * rows;
            MATCH_CORTEXM_TURN;
        }
        const uint16_t *rest = (const uint16_t *)(const void *)a;
        for (; column < columns; column++) {
            match_cortexm_store(out, rest[0] | ((uint32_t)rest[columns] << 16));
            rest++;
            out += 2 * rows;
            MATCH_CORTEXM_TURN;
        }
    }
    if (row < rows) {
        const uint16_t *a = &from[row * columns];
        uint16_t *out = &to[row];
        for (int32_t column = 0; column < columns; column++) {
            *out = *a++;
            out += rows;
            MATCH_CORTEXM_TURN;
        }
    }
}

/* Elements of a size [rows][columns] to [columns][rows]. */
#define MATCH_CORTEXM_TRANSPOSE(BITS)                                                                                  \
    MATCH_CORTEXM_OWN static void match_cortexm_transpose_##BITS(                                                      \
        void *restrict to, const void *restrict from, int32_t rows, int32_t columns)                                   \
    {                                                                                                                  \
        const uint##BITS##_t *a = (const uint##BITS##_t *)from;                                                        \
        for (int32_t row = 0; row < rows; row++) {                                                                     \
            uint##BITS##_t *out = (uint##BITS##_t *)to + row;                                                          \
            for (int32_t column = 0; column < columns; column++) {                                                     \
                *out = *a++;                                                                                           \
                out += rows;                                                                                           \
                MATCH_CORTEXM_TURN;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }

MATCH_CORTEXM_TRANSPOSE(32)
MATCH_CORTEXM_TRANSPOSE(64)

/* The same in vectors of Helium: rows are read one after another and scattered, or columns are gathered and written one
 * after another. Elements of 8 and 16 bits of a vector are at most 9,362 apart. */
#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)

#include <arm_mve.h>

#define MATCH_CORTEXM_VECTORS(BITS, TYPE, LANE, LANES, LOAD, STORE, SHIFTED)                                           \
    MATCH_CORTEXM_OWN static void match_cortexm_scatter_##BITS(                                                        \
        TYPE *restrict to, const TYPE *restrict from, int32_t rows, int32_t columns)                                   \
    {                                                                                                                  \
        const uint##LANE##x##LANES##_t places =                                                                        \
            vmulq_n_u##LANE(vidupq_n_u##LANE(0, 1), (uint##LANE##_t)rows);                                             \
        for (int32_t row = 0; row < rows; row++) {                                                                     \
            TYPE *out = &to[row];                                                                                      \
            int32_t left = columns;                                                                                    \
            for (; left >= LANES; left -= LANES) {                                                                     \
                STORE##_scatter_##SHIFTED##offset_u##LANE(out, places, LOAD##_u##LANE(from));                          \
                from += LANES;                                                                                         \
                out += LANES * rows;                                                                                   \
            }                                                                                                          \
            if (left > 0) {                                                                                            \
                const mve_pred16_t lanes = vctp##LANE##q((uint32_t)left);                                              \
                STORE##_scatter_##SHIFTED##offset_p_u##LANE(out, places, LOAD##_z_u##LANE(from, lanes), lanes);        \
                from += left;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    MATCH_CORTEXM_OWN static void match_cortexm_gather_##BITS(                                                         \
        TYPE *restrict to, const TYPE *restrict from, int32_t rows, int32_t columns)                                   \
    {                                                                                                                  \
        const uint##LANE##x##LANES##_t places =                                                                        \
            vmulq_n_u##LANE(vidupq_n_u##LANE(0, 1), (uint##LANE##_t)columns);                                          \
        for (int32_t column = 0; column < columns; column++) {                                                         \
            const TYPE *a = &from[column];                                                                             \
            int32_t left = rows;                                                                                       \
            for (; left >= LANES; left -= LANES) {                                                                     \
                STORE##_u##LANE(to, LOAD##_gather_##SHIFTED##offset_u##LANE(a, places));                               \
                to += LANES;                                                                                           \
                a += LANES * columns;                                                                                  \
            }                                                                                                          \
            if (left > 0) {                                                                                            \
                const mve_pred16_t lanes = vctp##LANE##q((uint32_t)left);                                              \
                STORE##_p_u##LANE(to, LOAD##_gather_##SHIFTED##offset_z_u##LANE(a, places, lanes), lanes);             \
                to += left;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

MATCH_CORTEXM_VECTORS(8, uint8_t, 16, 8, vldrbq, vstrbq, )
MATCH_CORTEXM_VECTORS(16, uint16_t, 16, 8, vldrhq, vstrhq, shifted_)
MATCH_CORTEXM_VECTORS(32, uint32_t, 32, 4, vldrwq, vstrwq, shifted_)

#else

#define match_cortexm_scatter_8 match_cortexm_transpose_8
#define match_cortexm_scatter_16 match_cortexm_transpose_16
#define match_cortexm_scatter_32 match_cortexm_transpose_32
#define match_cortexm_gather_8 match_cortexm_transpose_8
#define match_cortexm_gather_16 match_cortexm_transpose_16
#define match_cortexm_gather_32 match_cortexm_transpose_32

#endif

#endif
