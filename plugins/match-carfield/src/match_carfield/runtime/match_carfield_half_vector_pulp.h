/* match_carfield_half_vector_pulp.h - vectors of four binary16 numbers: two pairs, each in one register of a RI5CY core
 * with the half-precision SIMD extension (Xfvec) and floating point in its integer registers (rv32imcxgap9, as
 * pulp-runtime builds for this cluster). Operands in memory may begin at any even address.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_VECTOR_PULP_H
#define MATCH_CARFIELD_HALF_VECTOR_PULP_H

/* Another file may replace the instructions, with a type of the same size: `benchmarks.carfield_counts` does. */
#ifdef MATCH_CARFIELD_PAIRS
#include MATCH_CARFIELD_PAIRS
#else

typedef uint32_t pair_t;
typedef uint32_t scalar_t; /* the upper half does not matter */

typedef uint32_t __attribute__((may_alias)) pair_in_memory_t;

MATCH_CARFIELD_INLINE scalar_t scalar_load(const element_t *p) { return *p; }
MATCH_CARFIELD_INLINE scalar_t scalar_of_bits(uint32_t half) { return half; }
MATCH_CARFIELD_INLINE pair_t pair_of(scalar_t value) { return (value & 0xFFFFu) | (value << 16); }

/* Whole words even where they cross a word's boundary: the core takes one more cycle then. */
MATCH_CARFIELD_INLINE pair_t pair_load(const element_t *p) { return *(const pair_in_memory_t *)(const void *)p; }
MATCH_CARFIELD_INLINE void pair_store(element_t *p, pair_t pair) { *(pair_in_memory_t *)(void *)p = pair; }

MATCH_CARFIELD_INLINE pair_t pair_join(const element_t *low, const element_t *high)
{
    return (pair_t)*low | ((pair_t)*high << 16);
}

MATCH_CARFIELD_INLINE void pair_split(element_t *low, element_t *high, pair_t pair)
{
    *low = (element_t)pair;
    if (high != low) {
        *high = (element_t)(pair >> 16);
    }
}

MATCH_CARFIELD_INLINE pair_t pair_mac_scalar(pair_t acc, scalar_t x, pair_t w)
{
    __asm__("vfmac.r.h %0, %1, %2" : "+r"(acc) : "r"(w), "r"(x));
    return acc;
}

MATCH_CARFIELD_INLINE pair_t pair_mac(pair_t acc, pair_t x, pair_t w)
{
    __asm__("vfmac.h %0, %1, %2" : "+r"(acc) : "r"(x), "r"(w));
    return acc;
}

MATCH_CARFIELD_INLINE pair_t pair_scale(pair_t acc, scalar_t factor)
{
    __asm__("vfmul.r.h %0, %1, %2" : "=r"(acc) : "r"(acc), "r"(factor));
    return acc;
}

MATCH_CARFIELD_INLINE pair_t pair_add(pair_t a, pair_t b)
{
    __asm__("vfadd.h %0, %1, %2" : "=r"(a) : "r"(a), "r"(b));
    return a;
}

MATCH_CARFIELD_INLINE pair_t pair_max(pair_t a, pair_t b)
{
    __asm__("vfmax.h %0, %1, %2" : "=r"(a) : "r"(a), "r"(b));
    return a;
}

#endif

typedef struct {
    pair_t low, high;
} vec_t;

MATCH_CARFIELD_INLINE void vec_fill(vec_t *v, scalar_t value, uint32_t n)
{
    (void)n;
    v->low = pair_of(value);
    v->high = v->low;
}

/* Lanes that are not in use repeat the last one. */
MATCH_CARFIELD_INLINE void vec_load(vec_t *v, const element_t *p, uint32_t n)
{
    if (n == 4u) {
        v->low = pair_load(p);
        v->high = pair_load(p + 2);
    } else {
        const element_t *const last = p + (n - 1u);
        v->low = pair_join(p, (n > 1u) ? p + 1 : last);
        v->high = pair_join(last, last);
    }
}

/* Lanes that lie `step` elements apart. */
MATCH_CARFIELD_INLINE void vec_gather(vec_t *v, const element_t *p, uint32_t step, uint32_t n)
{
    const element_t *const last = p + (n - 1u) * step, *const second = (n > 1u) ? p + step : p;
    v->low = pair_join(p, second);
    v->high = (n == 4u) ? pair_join(p + 2u * step, last) : pair_join(last, last);
}

MATCH_CARFIELD_INLINE void vec_store(element_t *p, const vec_t *v, uint32_t n)
{
    if (n == 4u) {
        pair_store(p, v->low);
        pair_store(p + 2, v->high);
    } else {
        element_t *const last = p + (n - 1u);
        pair_split(p, (n > 1u) ? p + 1 : p, v->low);
        pair_split(last, last, v->high);
    }
}

MATCH_CARFIELD_INLINE void vec_mac_scalar(vec_t *acc, scalar_t x, const vec_t *w, uint32_t n)
{
    (void)n;
    acc->low = pair_mac_scalar(acc->low, x, w->low);
    acc->high = pair_mac_scalar(acc->high, x, w->high);
}

MATCH_CARFIELD_INLINE void vec_mac(vec_t *acc, const vec_t *x, const vec_t *w, uint32_t n)
{
    (void)n;
    acc->low = pair_mac(acc->low, x->low, w->low);
    acc->high = pair_mac(acc->high, x->high, w->high);
}

/* acc * factor + addend */
MATCH_CARFIELD_INLINE void vec_change(vec_t *acc, const vec_t *factor, const vec_t *addend, uint32_t n)
{
    (void)n;
    acc->low = pair_mac(addend->low, acc->low, factor->low);
    acc->high = pair_mac(addend->high, acc->high, factor->high);
}

MATCH_CARFIELD_INLINE void vec_scale(vec_t *acc, scalar_t factor, uint32_t n)
{
    (void)n;
    acc->low = pair_scale(acc->low, factor);
    acc->high = pair_scale(acc->high, factor);
}

MATCH_CARFIELD_INLINE void vec_add(vec_t *acc, const vec_t *x, uint32_t n)
{
    (void)n;
    acc->low = pair_add(acc->low, x->low);
    acc->high = pair_add(acc->high, x->high);
}

MATCH_CARFIELD_INLINE void vec_max(vec_t *acc, const vec_t *x, uint32_t n)
{
    (void)n;
    acc->low = pair_max(acc->low, x->low);
    acc->high = pair_max(acc->high, x->high);
}

MATCH_CARFIELD_INLINE void vec_relu(vec_t *acc, uint32_t n)
{
    (void)n;
    const pair_t zero = pair_of(scalar_of_bits(0u));
    acc->low = pair_max(acc->low, zero);
    acc->high = pair_max(acc->high, zero);
}

#endif
