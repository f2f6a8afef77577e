/* match_carfield_half_vector_rvv.h - vectors of up to four registers (RVV 1.0), 512 bits each: 128 binary16 numbers.
 * Operands should begin at multiples of 8 bytes: Spatz moves others element by element (spatz_vlsu.sv).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_VECTOR_RVV_H
#define MATCH_CARFIELD_HALF_VECTOR_RVV_H

#include <riscv_vector.h>
#include <stddef.h>
#include <string.h>

#ifdef MATCH_CARFIELD_FLOAT32

typedef float scalar_t;
typedef vfloat32m4_t vec_t;
#define MATCH_CARFIELD_RVV(name) __riscv_##name##_f32m4
#define MATCH_CARFIELD_VTYPE "e32, m4, ta, ma"

MATCH_CARFIELD_INLINE scalar_t scalar_load(const element_t *p) { return *p; }
MATCH_CARFIELD_INLINE scalar_t scalar_of_bits(uint32_t half) { return match_half_to_float((match_half_t)half); }

MATCH_CARFIELD_INLINE void vec_load(vec_t *v, const element_t *p, uint32_t n)
{
    *v = __riscv_vle32_v_f32m4(p, n);
}

/* Lanes that lie `step` elements apart. */
MATCH_CARFIELD_INLINE void vec_gather(vec_t *v, const element_t *p, uint32_t step, uint32_t n)
{
    *v = __riscv_vlse32_v_f32m4(p, (ptrdiff_t)(step * sizeof *p), n);
}

MATCH_CARFIELD_INLINE void vec_store(element_t *p, const vec_t *v, uint32_t n)
{
    __riscv_vse32_v_f32m4(p, *v, n);
}

#else

typedef _Float16 scalar_t;
typedef vfloat16m4_t vec_t;
#define MATCH_CARFIELD_RVV(name) __riscv_##name##_f16m4
#define MATCH_CARFIELD_VTYPE "e16, m4, ta, ma"

MATCH_CARFIELD_INLINE scalar_t scalar_load(const element_t *p)
{
    scalar_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

MATCH_CARFIELD_INLINE scalar_t scalar_of_bits(uint32_t half)
{
    const element_t bits = (element_t)half;
    return scalar_load(&bits);
}

MATCH_CARFIELD_INLINE void vec_load(vec_t *v, const element_t *p, uint32_t n)
{
    *v = __riscv_vreinterpret_v_u16m4_f16m4(__riscv_vle16_v_u16m4(p, n));
}

/* Lanes that lie `step` elements apart. */
MATCH_CARFIELD_INLINE void vec_gather(vec_t *v, const element_t *p, uint32_t step, uint32_t n)
{
    const ptrdiff_t stride = (ptrdiff_t)(step * sizeof *p);
    *v = __riscv_vreinterpret_v_u16m4_f16m4(__riscv_vlse16_v_u16m4(p, stride, n));
}

MATCH_CARFIELD_INLINE void vec_store(element_t *p, const vec_t *v, uint32_t n)
{
    __riscv_vse16_v_u16m4(p, __riscv_vreinterpret_v_f16m4_u16m4(*v), n);
}

#endif

/* Spatz has no moves of whole registers (spatz_decoder.sv). So vectors are filled anew, not copied from an equal one,
 * and code with vectors in different registers is not merged. */
#define MATCH_CARFIELD_STAYS(v) __asm__ volatile("" : "+vr"(v))

MATCH_CARFIELD_INLINE void vec_fill(vec_t *v, scalar_t value, uint32_t n)
{
    __asm__ volatile("" : "+f"(value));
    *v = MATCH_CARFIELD_RVV(vfmv_v_f)(value, n);
}

/* acc + x * w */
MATCH_CARFIELD_INLINE void vec_mac_scalar(vec_t *acc, scalar_t x, const vec_t *w, uint32_t n)
{
    *acc = MATCH_CARFIELD_RVV(vfmacc_vf)(*acc, x, *w, n);
}

/* acc + x * w. Written out, because a compiler may let x or w take the sum and move it back; "memory" keeps it from
 * loading more than the registers hold. */
MATCH_CARFIELD_INLINE void vec_mac(vec_t *acc, const vec_t *x, const vec_t *w, uint32_t n)
{
    __asm__ volatile("vsetvli zero, %3, " MATCH_CARFIELD_VTYPE "\n\tvfmacc.vv %0, %1, %2"
                     : "+vr"(*acc)
                     : "vr"(*x), "vr"(*w), "r"(n)
                     : "vl", "vtype", "memory");
}

/* acc * factor + addend */
MATCH_CARFIELD_INLINE void vec_change(vec_t *acc, const vec_t *factor, const vec_t *addend, uint32_t n)
{
    *acc = MATCH_CARFIELD_RVV(vfmadd_vv)(*acc, *factor, *addend, n);
}

MATCH_CARFIELD_INLINE void vec_scale(vec_t *acc, scalar_t factor, uint32_t n)
{
    *acc = MATCH_CARFIELD_RVV(vfmul_vf)(*acc, factor, n);
    MATCH_CARFIELD_STAYS(*acc);
}

MATCH_CARFIELD_INLINE void vec_add(vec_t *acc, const vec_t *x, uint32_t n)
{
    *acc = MATCH_CARFIELD_RVV(vfadd_vv)(*acc, *x, n);
    MATCH_CARFIELD_STAYS(*acc);
}

MATCH_CARFIELD_INLINE void vec_max(vec_t *acc, const vec_t *x, uint32_t n)
{
    *acc = MATCH_CARFIELD_RVV(vfmax_vv)(*acc, *x, n);
    MATCH_CARFIELD_STAYS(*acc);
}

/* Negative numbers, and what is no number, become +0. */
MATCH_CARFIELD_INLINE void vec_relu(vec_t *acc, uint32_t n)
{
    *acc = MATCH_CARFIELD_RVV(vfmax_vf)(*acc, scalar_of_bits(0u), n);
}

#endif
