/* match_snitch_rows_roots.h - square roots and reciprocals of one row, on cores without 64-bit division.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_ROWS_ROOTS_H
#define MATCH_SNITCH_ROWS_ROOTS_H

#include <stdint.h>

/* floor(sqrt(value)), bit by bit. */
static inline uint32_t match_snitch_root(uint32_t value)
{
    uint32_t root = 0u, rest = value;
    for (uint32_t bit = 1u << 30; bit != 0u; bit >>= 2) {
        const uint32_t trial = root + bit;
        root >>= 1;
        if (rest >= trial) {
            rest -= trial;
            root += bit;
        }
    }
    return root;
}

static inline uint32_t match_snitch_high(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32);
}

/* 2^46 / sqrt(top) for top >= 2^30, to 2^-26 of it: a line for each power of two, then steps of Newton, y * (3 - top *
 * y^2) / 2, each of which squares the error. Divisions would take a bit a cycle. */
static inline uint32_t match_snitch_inverse_root(uint32_t top)
{
    uint32_t y = (top >> 31) ? 1883773000u - (top >> 3) - (top >> 4) : 2705829000u - (top >> 1) - (top >> 4);
    for (uint32_t step = 0u; step < 3u; step++) {
        const uint32_t product = match_snitch_high(match_snitch_high(y, y), top);
        y = match_snitch_high(y, ((3u << 28) - product) << 2) << 1;
    }
    return y;
}

typedef struct {
    uint32_t root, reciprocal;
} match_snitch_root_t;

/* floor(sqrt(value)) for 2^50 <= value < 2^52, and floor((2^56 - 1) / root). Both begin with the same estimate and are
 * brought to the exact integer by what is left, which small differences allow modulo 2^32. */
static inline match_snitch_root_t match_snitch_long_root(uint64_t value)
{
    const uint32_t top = (uint32_t)(value >> 20), inverse = match_snitch_inverse_root(top);
    uint32_t root = match_snitch_high(top, inverse) >> 4;
    int32_t rest = (int32_t)((uint32_t)value - root * root);
    for (; rest < 0; root--) {
        rest += (int32_t)(2u * root - 1u);
    }
    for (; rest > (int32_t)(2u * root); root++) {
        rest -= (int32_t)(2u * root + 1u);
    }
    const int64_t error = (int64_t)((1ull << 56) - (uint64_t)inverse * root);
    uint32_t quotient = inverse + (uint32_t)((int32_t)(((int64_t)(int32_t)(error >> 4) * (int64_t)(inverse >> 1)) >> 32) >> 19);
    rest = (int32_t)(UINT32_MAX - quotient * root);
    for (; rest < 0; quotient--) {
        rest += (int32_t)root;
    }
    for (; rest >= (int32_t)root; quotient++) {
        rest -= (int32_t)root;
    }
    return (match_snitch_root_t){root, quotient};
}

#endif
