/* match_diana_digital_layer.h - what the published functions are told of a tile. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_DIGITAL_LAYER_H
#define MATCH_DIANA_DIGITAL_LAYER_H

#include <stdint.h>

#include "kernels.h"
#include "match_diana_copy.h"

/* Pixels and channels that are computed at once. */
#define MATCH_DIANA_LANES 16u
#define MATCH_DIANA_CONV_BIAS_BYTES 64u

/* L1 as the published functions take it: a number in the place of a pointer. */
static inline void *match_diana_l1(const void *near)
{
    return (void *)(uintptr_t)match_diana_l1_offset(near);
}

/* Padding of a tile. The published template fills `pad_x` on the right and leaves the four bits behind it, of which a
 * comment says that they should be the columns by which a row is longer than the data; the library gives no other way to
 * say that. That both edges get `pad_x` is not public either. */
static inline uint32_t match_diana_padding(uint32_t pad_x, uint32_t columns_empty, uint32_t top, uint32_t bottom)
{
    return pad_x | (columns_empty << 4) | (top << 8) | (bottom << 12);
}

/* The parameters of a convolution from any of the kernel contexts; `c` and `k` are those of the call. */
#define MATCH_DIANA_CONV_LAYER(tile, channels_in, channels_out)                                                        \
    {                                                                                                                  \
        .c = (channels_in), .k = (channels_out), .cx = (uint32_t)(tile)->width, .cy = (tile)->input_y,                 \
        .fx = (tile)->fx, .fy = (tile)->fy, .ox = (tile)->ox, .oy = (tile)->oy,                                        \
        .activation_function = (uint32_t)(tile)->relu, .output_shift = (uint32_t)(tile)->shift,                        \
        .padding = match_diana_padding((uint32_t)(tile)->pad_x, (uint32_t)(tile)->columns_empty,                       \
                                       (tile)->input_y_pad_before, (tile)->input_y_pad_after),                         \
        .dilation = 1u, .stride = (uint32_t)(tile)->stride - 1u,                                                       \
    }

#endif
