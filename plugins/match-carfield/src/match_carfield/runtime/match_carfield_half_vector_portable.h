/* match_carfield_half_vector_portable.h - vectors in portable C. Lanes are kept as double, rounded after each step to
 * what they stand for, so that no step has to decode its operands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_VECTOR_PORTABLE_H
#define MATCH_CARFIELD_HALF_VECTOR_PORTABLE_H

typedef double scalar_t;

typedef struct {
    double lane[MATCH_CARFIELD_LANES];
} vec_t;

#ifdef MATCH_CARFIELD_FLOAT32

static inline scalar_t scalar_load(const element_t *p) { return (double)*p; }
static inline scalar_t scalar_of_bits(uint32_t half) { return (double)match_half_to_float((match_half_t)half); }
static inline element_t lane_bits(double value) { return (float)value; }
/* Not exact in rare cases: the product of two binary32 numbers and a third may need more than binary64 has. */
static inline double lane_round(double value) { return (double)(float)value; }
static inline double lane_max(double a, double b) { return (a > b || b != b) ? a : b; }

#else

static inline scalar_t scalar_load(const element_t *p) { return (double)match_half_to_float(*p); }
static inline scalar_t scalar_of_bits(uint32_t half) { return (double)match_half_to_float((match_half_t)half); }
static inline element_t lane_bits(double value) { return match_half_from_double(value); }
static inline double lane_round(double value) { return match_half_nearest(value); }

static inline double lane_max(double a, double b)
{
    return (double)match_half_to_float(match_half_max(lane_bits(a), lane_bits(b)));
}

#endif

#define MATCH_CARFIELD_EACH_LANE for (uint32_t i = 0u; i < n; i++)

static inline void vec_fill(vec_t *v, scalar_t value, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { v->lane[i] = value; }
}

static inline void vec_load(vec_t *v, const element_t *p, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { v->lane[i] = scalar_load(p + i); }
}

/* Lanes that lie `step` elements apart. */
static inline void vec_gather(vec_t *v, const element_t *p, uint32_t step, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { v->lane[i] = scalar_load(p + i * step); }
}

static inline void vec_store(element_t *p, const vec_t *v, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { p[i] = lane_bits(v->lane[i]); }
}

/* acc + x * w */
static inline void vec_mac_scalar(vec_t *acc, scalar_t x, const vec_t *w, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { acc->lane[i] = lane_round(x * w->lane[i] + acc->lane[i]); }
}

/* acc + x * w */
static inline void vec_mac(vec_t *acc, const vec_t *x, const vec_t *w, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { acc->lane[i] = lane_round(x->lane[i] * w->lane[i] + acc->lane[i]); }
}

/* acc * factor + addend */
static inline void vec_change(vec_t *acc, const vec_t *factor, const vec_t *addend, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { acc->lane[i] = lane_round(acc->lane[i] * factor->lane[i] + addend->lane[i]); }
}

static inline void vec_scale(vec_t *acc, scalar_t factor, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { acc->lane[i] = lane_round(acc->lane[i] * factor); }
}

static inline void vec_add(vec_t *acc, const vec_t *x, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { acc->lane[i] = lane_round(acc->lane[i] + x->lane[i]); }
}

static inline void vec_max(vec_t *acc, const vec_t *x, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { acc->lane[i] = lane_max(acc->lane[i], x->lane[i]); }
}

/* Negative numbers, and what is no number, become +0. */
static inline void vec_relu(vec_t *acc, uint32_t n)
{
    MATCH_CARFIELD_EACH_LANE { acc->lane[i] = (acc->lane[i] > 0.0) ? acc->lane[i] : 0.0; }
}

#undef MATCH_CARFIELD_EACH_LANE

#endif
