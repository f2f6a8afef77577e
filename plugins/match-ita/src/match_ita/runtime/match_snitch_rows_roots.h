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

/* floor(sqrt(value)) for 2^50 <= value < 2^52: the root of the upper 32 bits, then ten bits by one division (P.
 * Zimmermann, Karatsuba Square Root, INRIA RR-3805), which gives at most one too much. */
static inline uint32_t match_snitch_long_root(uint64_t value)
{
    const uint32_t top = (uint32_t)(value >> 20), middle = (uint32_t)(value >> 10) & 0x3FFu;
    const uint32_t root = match_snitch_root(top), rest = (top - root * root) << 10 | middle;
    const uint32_t digits = rest / (2u * root);
    const uint32_t left = (rest - digits * 2u * root) << 10 | ((uint32_t)value & 0x3FFu);
    return (root << 10) + digits - ((left < digits * digits) ? 1u : 0u);
}

/* floor((2^56 - 1) / divisor) for 2^25 <= divisor < 2^26: 15 bits by division, twice as many by one step of Newton, which
 * stays below by less than eight; all but one product modulo 2^32, as both differences are small. */
static inline uint32_t match_snitch_reciprocal(uint32_t divisor)
{
    const uint32_t first = UINT32_MAX / ((divisor >> 10) + 1u), error = 0u - first * divisor;
    uint32_t quotient = (first << 14) + (uint32_t)(((uint64_t)first * error) >> 28);
    for (uint32_t rest = UINT32_MAX - quotient * divisor; rest >= divisor; rest -= divisor) {
        quotient++;
    }
    return quotient;
}

#endif
