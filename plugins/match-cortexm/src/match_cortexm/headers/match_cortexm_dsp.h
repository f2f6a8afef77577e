/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 8-bit values on cores with the DSP extension: two multiply-accumulates for each SMLAD.
 *
 * SXTB16 takes bytes 0 and 2 of a word, SXTB16 with ROR #8 bytes 1 and 3. Weights are stored for this: 16 bytes for four
 * outputs (a, b, c, d) and four values, in the order a0 b0 a2 b2, c0 d0 c2 d2, a1 b1 a3 b3, c1 d1 c3 d3. So each word of
 * weights gives pairs for two outputs.
 *
 * Compilers spill registers if they order the instructions of a step themselves, so it is one piece of assembly. Builds
 * without optimisation, and other compilers, use the C. */
#ifndef MATCH_CORTEXM_DSP_H
#define MATCH_CORTEXM_DSP_H

#include "match_cortexm.h"

#include <stdint.h>

/* The same in C: adds the products of four values, int8 or uint8, with the weights of four outputs. */
#define MATCH_CORTEXM_SUMS(SUMS, VALUES, WEIGHTS, OFFSET, SIGNED)                                                      \
    for (int match_k = 0; match_k < 4; match_k++) {                                                                    \
        const int32_t match_value = (SIGNED) ? (VALUES)[(OFFSET) + match_k] : (uint8_t)(VALUES)[(OFFSET) + match_k];   \
        for (int match_o = 0; match_o < 4; match_o++) {                                                                \
            const int match_place =                                                                                    \
                (match_k & 1) * 8 + (match_o >> 1) * 4 + (match_k >> 1) * 2 + (match_o & 1);                           \
            (SUMS)[match_o] += match_value * ((const int8_t *)(WEIGHTS))[match_place];                                 \
        }                                                                                                              \
    }

/* Defined where instructions are written for the core; MATCH_CORTEXM_PORTABLE forbids it. */
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(MATCH_CORTEXM_PORTABLE)
#define MATCH_CORTEXM_DSP
#endif

#if defined(MATCH_CORTEXM_DSP) && defined(__OPTIMIZE__)

#define MATCH_CORTEXM_PAIRS_1(VALUE)                                                                                   \
    "ldrd %[v], %[u], [%[w]], #8\n\t"                                                                                  \
    "sxtb16 %[t], %[v]\n\t"                                                                                            \
    "smlad %[s0], " VALUE ", %[t], %[s0]\n\t"                                                                          \
    "sxtb16 %[v], %[v], ror #8\n\t"                                                                                    \
    "smlad %[s1], " VALUE ", %[v], %[s1]\n\t"                                                                          \
    "sxtb16 %[t], %[u]\n\t"                                                                                            \
    "smlad %[s2], " VALUE ", %[t], %[s2]\n\t"                                                                          \
    "sxtb16 %[u], %[u], ror #8\n\t"                                                                                    \
    "smlad %[s3], " VALUE ", %[u], %[s3]\n\t"

/* Four values of one position for four outputs: 16 products in 21 instructions. */
#define MATCH_CORTEXM_STEP_1(SUMS, VALUES, WEIGHTS, EXTEND)                                                            \
    do {                                                                                                               \
        int32_t match_a, match_b, match_v, match_u, match_t;                                                           \
        __asm__ volatile("ldr %[a], [%[x]], #4\n\t" EXTEND " %[b], %[a], ror #8\n\t" EXTEND                            \
                         " %[a], %[a]\n\t" MATCH_CORTEXM_PAIRS_1("%[a]") MATCH_CORTEXM_PAIRS_1("%[b]")                 \
                         : [a] "=&r"(match_a), [b] "=&r"(match_b), [v] "=&r"(match_v), [u] "=&r"(match_u),             \
                           [t] "=&r"(match_t), [x] "+r"(VALUES), [w] "+r"(WEIGHTS), [s0] "+r"((SUMS)[0]), [s1] "+r"((SUMS)[1]), \
                           [s2] "+r"((SUMS)[2]), [s3] "+r"((SUMS)[3])                                                  \
                         :                                                                                             \
                         : "memory");                                                                                  \
    } while (0)

/* Four channels of one tap of a depthwise convolution: four products in 7 instructions and the load of WORD, which has
 * their values. Weights are pairs of 16 bits: channels 0 and 2, then 1 and 3. */
#define MATCH_CORTEXM_CHANNELS(SUMS, WORD, WEIGHTS, EXTEND)                                                            \
    do {                                                                                                               \
        int32_t match_a = (WORD), match_t, match_v, match_u;                                                           \
        __asm__ volatile("ldrd %[v], %[u], [%[w]], #8\n\t" EXTEND " %[t], %[a]\n\t" EXTEND                             \
                         " %[a], %[a], ror #8\n\t"                                                                     \
                         "smlabb %[s0], %[t], %[v], %[s0]\n\t"                                                         \
                         "smlatt %[s2], %[t], %[v], %[s2]\n\t"                                                         \
                         "smlabb %[s1], %[a], %[u], %[s1]\n\t"                                                         \
                         "smlatt %[s3], %[a], %[u], %[s3]"                                                             \
                         : [a] "+r"(match_a), [t] "=&r"(match_t), [v] "=&r"(match_v), [u] "=&r"(match_u),              \
                           [w] "+r"(WEIGHTS), [s0] "+r"((SUMS)[0]), [s1] "+r"((SUMS)[1]), [s2] "+r"((SUMS)[2]),        \
                           [s3] "+r"((SUMS)[3])                                                                        \
                         :                                                                                             \
                         : "memory");                                                                                  \
    } while (0)

#else

#define MATCH_CORTEXM_STEP_1(SUMS, VALUES, WEIGHTS, EXTEND)                                                            \
    do {                                                                                                               \
        MATCH_CORTEXM_SUMS(&(SUMS)[0], VALUES, WEIGHTS, 0, (EXTEND)[0] == 's')                                         \
        (VALUES) += 4;                                                                                                 \
        (WEIGHTS) += 4;                                                                                                \
    } while (0)

#define MATCH_CORTEXM_CHANNELS(SUMS, WORD, WEIGHTS, EXTEND)                                                            \
    do {                                                                                                               \
        const uint32_t match_word = (uint32_t)(WORD);                                                                  \
        for (int match_c = 0; match_c < 4; match_c++) {                                                                \
            const uint8_t match_byte = (uint8_t)(match_word >> (8 * match_c));                                         \
            const int32_t match_value = (EXTEND)[0] == 's' ? (int8_t)match_byte : match_byte;                          \
            (SUMS)[match_c] += match_value * ((const int16_t *)(WEIGHTS))[(match_c & 1) * 2 + (match_c >> 1)];         \
        }                                                                                                              \
        (WEIGHTS) += 2;                                                                                                \
    } while (0)

#endif

#endif
