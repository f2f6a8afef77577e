/* match_gap9_elements.h - functions, products and requantisation of single bytes.
 * Launches return at once; match_gap9_team_wait returns when all cores are done.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_ELEMENTS_H
#define MATCH_GAP9_ELEMENTS_H

#include "match_dequantize.h"
#include "match_lut.h"
#include "match_product.h"
#include "match_requant.h"

/* output[n] = table[input[n]]. */
void match_gap9_lut(const match_lut_t *tile);

/* output[b][r][c] = clip((p * M + B) >> S) with p = (input_a[b][r][c] - zero_a) * (input_b[b][c] - zero_b). */
void match_gap9_product(const match_product_t *tile);
/* The same with B * 2^17 and 17 + S: products p * M of 47 bits. */
void match_gap9_product_wide(const match_product_t *tile);

/* output[r][c] = clip((input[r][c] * M[c] + B[c]) >> S). */
void match_gap9_requant(const match_requant_t *tile);

/* output[n] = (input[n] - zero_point) * scale; bytes are int8 where flip is 128, uint8 where it is 0. */
void match_gap9_dequantize(const match_dequantize_t *tile);

#endif
