/* match_diana_digital_add.c - sums of two tensors. SPDX-License-Identifier: Apache-2.0 */
#include "match_diana_digital.h"

#include <stddef.h>

#include "match_diana_digital_copy.h"
#include "match_diana_digital_layer.h"

/* The array adds bytes one by one: any shape of so many elements. The published function takes its own notes in the
 * layer, so each call has one. */
static void add(const void *a, const void *b, const void *sum, uint32_t elements, uint32_t shift)
{
    Layer_parameters layer = {.c = elements, .cx = 1u, .cy = 1u, .output_shift = shift, .dilation = 1u};
    (void)digital_element_wise_sum(NULL, match_diana_l1(a), NULL, match_diana_l1(b), match_diana_l1(sum), &layer);
    global_sync_digital();
}

void match_diana_digital_add(const match_digital_add_t *tile)
{
    add(tile->input_a, tile->input_b, tile->output, tile->n * (uint32_t)tile->elements, (uint32_t)tile->shift);
}

/* The published sum has no ReLU. Each element of the inputs is read once, so the sum may lie in their place. Channels
 * are planes of any shape to a 1x1 convolution: rows of 16. */
void match_diana_digital_add_relu(const match_digital_add_relu_t *tile)
{
    const uint32_t plane = tile->p * (uint32_t)tile->elements, block = MATCH_DIANA_LANES * plane;
    const uint8_t *sum = tile->input_a;
    uint8_t *output = tile->output;
    add(sum, tile->input_b, sum, tile->k * plane, (uint32_t)tile->shift);
    for (uint32_t k = 0u; k < tile->k; k += MATCH_DIANA_LANES) {
        Layer_parameters layer = {
            .c = MATCH_DIANA_LANES,
            .k = MATCH_DIANA_LANES,
            .cx = MATCH_DIANA_LANES,
            .cy = plane / MATCH_DIANA_LANES,
            .fx = 1u,
            .fy = 1u,
            .ox = MATCH_DIANA_LANES,
            .oy = plane / MATCH_DIANA_LANES,
            .activation_function = 1u,
            .dilation = 1u,
        };
        (void)digital_conv_2d(NULL, match_diana_l1(sum), match_diana_digital_weights(tile->weights), NULL,
                              match_diana_l1(output), &layer);
        global_sync_digital();
        sum += block;
        output += block;
    }
}
