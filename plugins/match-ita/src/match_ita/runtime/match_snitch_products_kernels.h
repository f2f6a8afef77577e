/* match_snitch_products_kernels.h - products, softmax, convolution and maximum pooling of the Snitch cores. What they
 * compute stands in the package's snitch_products/interfaces.py. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_PRODUCTS_KERNELS_H
#define MATCH_SNITCH_PRODUCTS_KERNELS_H

#include "match_snitch_attention.h"
#include "match_snitch_conv2d.h"
#include "match_snitch_linear.h"
#include "match_snitch_linear_turned.h"
#include "match_snitch_matmul.h"
#include "match_snitch_maxpool2d.h"
#include "match_snitch_products.h"
#include "match_snitch_shift_softmax.h"
#include "match_snitch_softmax.h"

void match_snitch_linear(const match_snitch_linear_t *ctx);
void match_snitch_linear_turned(const match_snitch_linear_turned_t *ctx);
void match_snitch_matmul(const match_snitch_matmul_t *ctx);
void match_snitch_attention(const match_snitch_attention_t *ctx);
void match_snitch_softmax(const match_snitch_softmax_t *ctx);
void match_snitch_shift_softmax(const match_snitch_shift_softmax_t *ctx);
void match_snitch_conv2d(const match_snitch_conv2d_t *ctx);
void match_snitch_maxpool2d(const match_snitch_maxpool2d_t *ctx);

/* Whether values of both sides are int8 once zeros are taken off the panels' side. */
static inline int match_snitch_matmul_pairs(const match_snitch_matmul_t *t)
{
    const int32_t zero = t->b_rows ? t->a_zero : t->b_zero;
    const int32_t panels_unsigned = t->b_rows ? t->a_unsigned : t->b_unsigned;
    const int32_t stream_unsigned = t->b_rows ? t->b_unsigned : t->a_unsigned;
    return (stream_unsigned == 0) && (zero == (panels_unsigned ? 128 : 0));
}

#endif
