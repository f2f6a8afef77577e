/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, maxima and look-ups of bytes: four at a time with the DSP extension, 16 with Helium (MVE), and the same in plain
 * C elsewhere. */
#ifndef MATCH_CORTEXM_BYTES_H
#define MATCH_CORTEXM_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(MATCH_CORTEXM_PORTABLE)

/* Adds bytes 0 and 2 of a word to the two halves of EVEN, bytes 1 and 3 to those of ODD. ADD is "sxtab16" for int8,
 * "uxtab16" for uint8. Halves wrap around. */
#define MATCH_CORTEXM_HALVES(EVEN, ODD, WORD, ADD)                                                                     \
    __asm__(ADD " %[e], %[e], %[v]\n\t" ADD " %[o], %[o], %[v], ror #8"                                                \
            : [e] "+r"(EVEN), [o] "+r"(ODD)                                                                            \
            : [v] "r"(WORD))

/* The larger of each pair of bytes: SSUB8 sets the flags by which SEL selects. */
static inline int32_t match_cortexm_max_s8(int32_t a, int32_t b)
{
    int32_t result;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
    return result;
}

static inline int32_t match_cortexm_max_u8(int32_t a, int32_t b)
{
    int32_t result;
    __asm__("usub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
    return result;
}

/* The larger of each pair of halfwords. */
static inline int32_t match_cortexm_max_s16(int32_t a, int32_t b)
{
    int32_t result;
    __asm__("ssub16 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
    return result;
}

#else

static inline int32_t match_cortexm_max_s16(int32_t a, int32_t b)
{
    int16_t first[2];
    int16_t second[2];
    memcpy(first, &a, sizeof a);
    memcpy(second, &b, sizeof b);
    for (int k = 0; k < 2; k++) {
        first[k] = second[k] > first[k] ? second[k] : first[k];
    }
    memcpy(&a, first, sizeof a);
    return a;
}

static inline uint32_t match_cortexm_half(uint32_t half, uint32_t byte, int sign)
{
    const uint32_t value = ((sign != 0) && ((byte & 0x80u) != 0u)) ? byte | 0xff00u : byte;
    return (half + value) & 0xffffu;
}

static inline uint32_t match_cortexm_halves(uint32_t halves, uint32_t word, int sign)
{
    const uint32_t low = match_cortexm_half(halves & 0xffffu, word & 0xffu, sign);
    return low | (match_cortexm_half(halves >> 16, (word >> 16) & 0xffu, sign) << 16);
}

#define MATCH_CORTEXM_HALVES(EVEN, ODD, WORD, ADD)                                                                     \
    do {                                                                                                               \
        const uint32_t match_word = (uint32_t)(WORD);                                                                  \
        (EVEN) = match_cortexm_halves((EVEN), match_word, (ADD)[0] == 's');                                            \
        (ODD) = match_cortexm_halves((ODD), match_word >> 8, (ADD)[0] == 's');                                         \
    } while (0)

static inline int32_t match_cortexm_max_u8(int32_t a, int32_t b)
{
    uint32_t result = 0;
    for (uint32_t shift = 0; shift < 32u; shift += 8u) {
        const uint32_t first = ((uint32_t)a >> shift) & 0xffu;
        const uint32_t second = ((uint32_t)b >> shift) & 0xffu;
        result |= (first > second ? first : second) << shift;
    }
    return (int32_t)result;
}

/* With the top bit of each byte inverted, signed order is unsigned order. */
static inline int32_t match_cortexm_max_s8(int32_t a, int32_t b)
{
    const uint32_t top = 0x80808080u;
    return (int32_t)((uint32_t)match_cortexm_max_u8((int32_t)((uint32_t)a ^ top), (int32_t)((uint32_t)b ^ top)) ^ top);
}

#endif

#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)

#include <arm_mve.h>

typedef int8x16_t match_cortexm_i8x16;

static inline match_cortexm_i8x16 match_cortexm_lowest(void)
{
    return vdupq_n_s8(INT8_MIN);
}

/* 16 channels, or the first count if there are fewer. */
static inline match_cortexm_i8x16 match_cortexm_load_16(const int8_t *from, int32_t count)
{
    return count >= 16 ? vldrbq_s8(from) : vldrbq_z_s8(from, vctp8q((uint32_t)count));
}

static inline match_cortexm_i8x16 match_cortexm_max_16(match_cortexm_i8x16 most, const int8_t *from, int32_t count)
{
    return vmaxq_s8(most, match_cortexm_load_16(from, count));
}

static inline void match_cortexm_store_16(int8_t *to, match_cortexm_i8x16 values, int32_t count)
{
    if (count >= 16) {
        vstrbq_s8(to, values);
    } else {
        vstrbq_p_s8(to, values, vctp8q((uint32_t)count));
    }
}

typedef int16x8_t match_cortexm_i16x8;

static inline match_cortexm_i16x8 match_cortexm_lowest_8(void)
{
    return vdupq_n_s16(INT16_MIN);
}

/* 8 channels of int16, or the first count if there are fewer. */
static inline match_cortexm_i16x8 match_cortexm_load_8(const int16_t *from, int32_t count)
{
    return count >= 8 ? vldrhq_s16(from) : vldrhq_z_s16(from, vctp16q((uint32_t)count));
}

static inline match_cortexm_i16x8 match_cortexm_max_8(match_cortexm_i16x8 most, const int16_t *from, int32_t count)
{
    return vmaxq_s16(most, match_cortexm_load_8(from, count));
}

static inline void match_cortexm_store_8(int16_t *to, match_cortexm_i16x8 values, int32_t count)
{
    if (count >= 8) {
        vstrhq_s16(to, values);
    } else {
        vstrhq_p_s16(to, values, vctp16q((uint32_t)count));
    }
}

/* Looks 16 bytes up, or the first count if there are fewer; the table's index is the byte as an unsigned number. */
static inline void match_cortexm_look_16(int8_t *to, const int8_t *from, const int8_t *table, int32_t count)
{
    const mve_pred16_t lanes = count >= 16 ? (mve_pred16_t)0xffff : vctp8q((uint32_t)count);
    const uint8x16_t places = vldrbq_z_u8((const uint8_t *)from, lanes);
    vstrbq_p_s8(to, vldrbq_gather_offset_z_s8(table, places, lanes), lanes);
}

#else

typedef struct {
    int8_t lane[16];
} match_cortexm_i8x16;

static inline match_cortexm_i8x16 match_cortexm_lowest(void)
{
    match_cortexm_i8x16 result;
    memset(result.lane, INT8_MIN, sizeof result.lane);
    return result;
}

static inline match_cortexm_i8x16 match_cortexm_load_16(const int8_t *from, int32_t count)
{
    match_cortexm_i8x16 result = match_cortexm_lowest();
    memcpy(result.lane, from, (size_t)(count < 16 ? count : 16));
    return result;
}

static inline match_cortexm_i8x16 match_cortexm_max_16(match_cortexm_i8x16 most, const int8_t *from, int32_t count)
{
    for (int32_t k = 0; (k < count) && (k < 16); k++) {
        most.lane[k] = from[k] > most.lane[k] ? from[k] : most.lane[k];
    }
    return most;
}

static inline void match_cortexm_store_16(int8_t *to, match_cortexm_i8x16 values, int32_t count)
{
    memcpy(to, values.lane, (size_t)(count < 16 ? count : 16));
}

typedef struct {
    int16_t lane[8];
} match_cortexm_i16x8;

static inline match_cortexm_i16x8 match_cortexm_lowest_8(void)
{
    const match_cortexm_i16x8 result = {
        {INT16_MIN, INT16_MIN, INT16_MIN, INT16_MIN, INT16_MIN, INT16_MIN, INT16_MIN, INT16_MIN}};
    return result;
}

static inline match_cortexm_i16x8 match_cortexm_load_8(const int16_t *from, int32_t count)
{
    match_cortexm_i16x8 result = match_cortexm_lowest_8();
    memcpy(result.lane, from, (size_t)(count < 8 ? count : 8) * sizeof *from);
    return result;
}

static inline match_cortexm_i16x8 match_cortexm_max_8(match_cortexm_i16x8 most, const int16_t *from, int32_t count)
{
    for (int32_t k = 0; (k < count) && (k < 8); k++) {
        most.lane[k] = from[k] > most.lane[k] ? from[k] : most.lane[k];
    }
    return most;
}

static inline void match_cortexm_store_8(int16_t *to, match_cortexm_i16x8 values, int32_t count)
{
    memcpy(to, values.lane, (size_t)(count < 8 ? count : 8) * sizeof *to);
}

static inline void match_cortexm_look_16(int8_t *to, const int8_t *from, const int8_t *table, int32_t count)
{
    for (int32_t k = 0; (k < count) && (k < 16); k++) {
        to[k] = table[(uint8_t)from[k]];
    }
}

#endif

/* Looks blocks of 8 bytes up, one byte after another: they may replace those that they come from. A function of its own
 * takes the same instructions in place and elsewhere. */
static __attribute__((noinline, unused)) void match_cortexm_look(
    int8_t *to, const int8_t *from, const int8_t *table, int32_t blocks)
{
    for (; blocks > 0; blocks--, to += 8, from += 8) {
        for (int32_t k = 0; k < 8; k++) {
            to[k] = table[(uint8_t)from[k]];
        }
    }
}

#endif
