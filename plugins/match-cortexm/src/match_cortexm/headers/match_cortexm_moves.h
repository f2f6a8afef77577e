/* SPDX-License-Identifier: Apache-2.0 */
/* Transpositions of matrices of bytes, words and double words. Sizes are arguments of functions that compilers do not specialise, so
 * the instructions of a call follow from the sizes alone. */
#ifndef MATCH_CORTEXM_MOVES_H
#define MATCH_CORTEXM_MOVES_H

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

static inline uint32_t match_cortexm_load(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline void match_cortexm_store(uint8_t *at, uint32_t word)
{
    memcpy(at, &word, sizeof word);
}

/* Bytes [rows][columns] to [columns][rows]: blocks of four by four, then the rest of each strip, then the last rows. */
MATCH_CORTEXM_OWN static void match_cortexm_transpose_8(
    uint8_t *restrict to, const uint8_t *restrict from, int32_t rows, int32_t columns)
{
    const uint32_t even = 0x00ff00ffu;
    int32_t row = 0;
    for (; row + 4 <= rows; row += 4) {
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
            const uint32_t word = match_cortexm_load(a);
            out[0] = (uint8_t)word;
            out[rows] = (uint8_t)(word >> 8);
            out[2 * rows] = (uint8_t)(word >> 16);
            out[3 * rows] = (uint8_t)(word >> 24);
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

#endif
