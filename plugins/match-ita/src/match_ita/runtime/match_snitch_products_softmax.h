/* match_snitch_products_softmax.h - ITAMax of one row: softmax in powers of two, in groups of columns (ita_softmax.sv).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_PRODUCTS_SOFTMAX_H
#define MATCH_SNITCH_PRODUCTS_SOFTMAX_H

#include <stdint.h>

#include "match_snitch_rows.h"

/* 2^0 in a row's sum. */
#define MATCH_SNITCH_ITAMAX_UNIT 256u
/* A sum is below 2^19: more places change nothing, and C cannot shift by more than 31. */
#define MATCH_SNITCH_PLACES_MAX 31u

typedef struct {
    uint32_t shift, numerator, group, columns;
} match_snitch_itamax_t;

/* What a row's values are computed from: its largest value and N / sum. */
typedef struct {
    int32_t top;
    uint32_t inverse;
} match_snitch_row_t;

/* How often a value is halved that lies so far below the largest. */
MATCH_SNITCH_INLINE uint32_t match_snitch_places(const match_snitch_itamax_t *rule, int32_t distance)
{
    const uint32_t places = ((uint32_t)distance + ((1u << rule->shift) >> 1u)) >> rule->shift;
    return (places < MATCH_SNITCH_PLACES_MAX) ? places : MATCH_SNITCH_PLACES_MAX;
}

MATCH_SNITCH_INLINE uint32_t match_snitch_itamax_value(const match_snitch_itamax_t *rule, const match_snitch_row_t *row,
                                                       int32_t value)
{
    return row->inverse >> match_snitch_places(rule, row->top - value);
}

/* Largest value and inverse of a row of int8 values, `step` bytes apart. */
MATCH_SNITCH_INLINE match_snitch_row_t match_snitch_itamax_row(const match_snitch_itamax_t *rule, const void *values,
                                                               uint32_t step)
{
    const int8_t *group = values;
    match_snitch_row_t row = {.top = INT8_MIN};
    uint32_t sum = 0u;
    for (uint32_t first = 0u; first < rule->columns; first += rule->group) {
        int32_t top = row.top;
        const int8_t *value = group;
        for (uint32_t i = 0u; i < rule->group; i++, value += step) {
            top = (*value > top) ? *value : top;
        }
        sum >>= match_snitch_places(rule, top - row.top);
        value = group;
        for (uint32_t i = 0u; i < rule->group; i++, value += step) {
            sum += MATCH_SNITCH_ITAMAX_UNIT >> match_snitch_places(rule, top - *value);
        }
        row.top = top;
        group = value;
    }
    row.inverse = rule->numerator / sum;
    return row;
}

#endif
