/* match_gap9_kernels.h - cluster kernels for what PULP-NN cannot compute exactly.
 *
 * Each function is called by every core of a team (pi_cl_team_fork with NUM_CORES) and ends in a barrier.
 * Activations are uint8, HWC. Requantisation is clip((sum*M + B) >> S, 0, 255) in int32 with an arithmetic shift
 * (floor); the caller guarantees that sum*M + B does not leave the int32 range.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_KERNELS_H
#define MATCH_GAP9_KERNELS_H

#include <stdint.h>

/* out[i] = clip((ma*a[i] + mb*b[i] + bias) >> shift) for i in 0..n-1. `out` may be `a` or `b`.
 * pulp_nn_add has no bias term and passes through 16 bits, hence this one. */
void match_gap9_add_requant(const uint8_t *a, const uint8_t *b, uint8_t *out, int32_t ma, int32_t mb, int32_t bias,
                            uint32_t shift, uint32_t n);

/* An HWC tile of in_y by in_x pixels and the padding around it. */
typedef struct match_gap9_planes_s {
  uint32_t in_y, in_x, channels;
  uint32_t pad_top, pad_bottom, pad_left, pad_right;
  uint8_t pad_value;
} match_gap9_planes_t;

/* Turns an HWC tile into padded CHW planes, which the PULP-NN depthwise kernels read: they place zeros right only for
 * some paddings, and no other value. Each core moves the channels that it will work on. */
void match_gap9_hwc_to_chw(const uint8_t *in, uint8_t *out, const match_gap9_planes_t *planes);

/* Geometry of a pooling window over an HWC tensor, in elements. */
typedef struct match_gap9_pool_s {
  uint16_t in_x, in_y, channels;
  uint16_t out_x, out_y;
  uint16_t kernel_x, kernel_y;
  uint16_t pad_top, pad_left; /* bottom and right follow from the other sizes */
  uint16_t stride_x, stride_y;
  uint8_t pad_value; /* what a padding pixel adds to the sum of the average; max pooling skips padding */
} match_gap9_pool_t;

/* out = clip((sum*m + bias) >> shift), sum over the whole window with pad_value outside of the input. */
void match_gap9_avgpool_requant(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool, int32_t m,
                                int32_t bias, uint32_t shift);

/* out = sum / 2^shift, shift of 1 to 8, rounded to nearest with ties to even: the mean of a window of 2^shift pixels,
 * as QuantizeLinear rounds it. */
void match_gap9_avgpool_even(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool, uint32_t shift);

/* Maximum over the window's valid pixels. Unlike pulp_nn_maxpool it keeps its input and takes any padding. */
void match_gap9_maxpool(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool);

#endif
