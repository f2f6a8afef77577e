/* pairs.h - stands in for the SIMD instructions of match_carfield_half_vector_pulp.h: a pair is one binary32 number, so
 * that one instruction of the base ISA handles one pair as one instruction of Xfvec does. Results mean nothing.
 * SPDX-License-Identifier: Apache-2.0 */
typedef float pair_t;
typedef float scalar_t;
typedef float __attribute__((may_alias)) pair_in_memory_t;

MATCH_CARFIELD_INLINE pair_t pair_load(const element_t *p) { return *(const pair_in_memory_t *)(const void *)p; }
MATCH_CARFIELD_INLINE void pair_store(element_t *p, pair_t pair) { *(pair_in_memory_t *)(void *)p = pair; }
MATCH_CARFIELD_INLINE scalar_t scalar_load(const element_t *p) { return pair_load(p); }
MATCH_CARFIELD_INLINE scalar_t scalar_of_bits(uint32_t half) { return match_half_to_float((match_half_t)half); }
MATCH_CARFIELD_INLINE pair_t pair_of(scalar_t value) { return value; }

/* Two loads of halves and one instruction that packs them. */
MATCH_CARFIELD_INLINE pair_t pair_join(const element_t *low, const element_t *high)
{
    pair_t pair;
    __asm__("add %0, %1, %2" : "=r"(pair) : "r"((uint32_t)*low), "r"((uint32_t)*high));
    return pair;
}

MATCH_CARFIELD_INLINE void pair_split(element_t *low, element_t *high, pair_t pair)
{
    const pair_in_memory_t *const source = &pair;
    const uint32_t bits = *(const uint32_t __attribute__((may_alias)) *)(const void *)source;
    *low = (element_t)bits;
    if (high != low) {
        *high = (element_t)(bits >> 16);
    }
}

MATCH_CARFIELD_INLINE pair_t pair_mac_scalar(pair_t acc, scalar_t x, pair_t w) { return __builtin_fmaf(x, w, acc); }
MATCH_CARFIELD_INLINE pair_t pair_mac(pair_t acc, pair_t x, pair_t w) { return __builtin_fmaf(x, w, acc); }
MATCH_CARFIELD_INLINE pair_t pair_scale(pair_t acc, scalar_t factor) { return acc * factor; }
MATCH_CARFIELD_INLINE pair_t pair_add(pair_t a, pair_t b) { return a + b; }
MATCH_CARFIELD_INLINE pair_t pair_max(pair_t a, pair_t b) { return __builtin_fmaxf(a, b); }
