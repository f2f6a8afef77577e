/* match_gap9_layout.h - changes of layout and of sign between the graph's ends and the kernels.
 * Called by every core of a team; each function ends in a barrier.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_LAYOUT_H
#define MATCH_GAP9_LAYOUT_H

#include <stdint.h>

/* out[c][r] = in[r][c] ^ flip for a matrix of bytes; flip 0x80 turns int8 into uint8 with zero 128, and back. */
void match_gap9_transpose_bytes(const uint8_t *in, uint8_t *out, uint32_t rows, uint32_t columns, uint8_t flip);

/* out[i] = in[i] ^ flip. `out` may be `in`. */
void match_gap9_flip_bytes(const uint8_t *in, uint8_t *out, uint32_t n, uint8_t flip);

/* out[i] = in[i] limited to [low, high]. `out` may be `in`. */
void match_gap9_clip_bytes(const uint8_t *in, uint8_t *out, uint32_t n, uint8_t low, uint8_t high);

/* out[i] = x / scale rounded to nearest (ties to even) plus zero_point, saturated to [low, high] in int8 or uint8. */
void match_gap9_quantize(const float *in, uint8_t *out, uint32_t n, float scale, int32_t zero_point, int32_t low,
                         int32_t high);

#endif
