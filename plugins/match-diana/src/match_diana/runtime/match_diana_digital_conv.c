/* match_diana_digital_conv.c - convolutions and dense layers by the published functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_diana_digital.h"

#include <stddef.h>

#include "match_diana_digital_copy.h"
#include "match_diana_digital_layer.h"
#include "match_runtime.h"

#define DENSE_BIAS_BYTES 16u

void match_diana_digital_conv(const match_digital_conv_t *tile)
{
    Layer_parameters layer = MATCH_DIANA_CONV_LAYER(tile, tile->c, tile->k);
    (void)digital_conv_2d(NULL, match_diana_l1(tile->input), match_diana_digital_weights(tile->weights), NULL,
                          match_diana_l1(tile->output), &layer);
    global_sync_digital();
}

void match_diana_digital_depthwise(const match_digital_depthwise_t *tile)
{
    Layer_parameters layer = MATCH_DIANA_CONV_LAYER(tile, tile->k, tile->k);
    (void)digital_depthwise_conv_2d(NULL, match_diana_l1(tile->input), match_diana_digital_weights(tile->weights), NULL,
                                    match_diana_l1(tile->output), &layer);
    global_sync_digital();
}

void match_diana_digital_depthwise_blocks(const match_digital_depthwise_blocks_t *tile)
{
    const uint32_t taps = tile->fy * tile->fx;
    const uint32_t weight_bytes = MATCH_DIANA_LANES * MATCH_DIANA_LANES * taps + MATCH_DIANA_CONV_BIAS_BYTES;
    const uint32_t input_bytes = MATCH_DIANA_LANES * tile->input_y * (uint32_t)tile->width;
    const uint32_t output_bytes = MATCH_DIANA_LANES * tile->oy * tile->ox;
    const uint8_t *input = tile->input, *weights = match_diana_digital_weights(tile->weights);
    uint8_t *output = tile->output;
    for (uint32_t k = 0u; k < tile->k; k += MATCH_DIANA_LANES) {
        /* Where the last block has fewer inputs, all channels are in this tile. */
        const uint32_t inputs = match_min_u32(MATCH_DIANA_LANES, (uint32_t)tile->channels - k);
        Layer_parameters layer = MATCH_DIANA_CONV_LAYER(tile, inputs, MATCH_DIANA_LANES);
        (void)digital_conv_2d(NULL, match_diana_l1(input), weights, NULL, match_diana_l1(output), &layer);
        global_sync_digital();
        input += input_bytes;
        weights += weight_bytes;
        output += output_bytes;
    }
}

/* 16 outputs for each call: the published tools never give the array more (DORY's tiler, MATCH's kernels). */
void match_diana_digital_dense(const match_digital_dense_t *tile)
{
    const uint32_t inputs = tile->c, outputs = match_min_u32(tile->k, (uint32_t)tile->outputs);
    const uint8_t *weights = match_diana_digital_weights(tile->weights);
    for (uint32_t k = 0u; k < outputs; k += MATCH_DIANA_LANES) {
        Layer_parameters layer = {
            .c = inputs,
            .k = MATCH_DIANA_LANES,
            .activation_function = (uint32_t)tile->relu,
            .output_shift = (uint32_t)tile->shift,
            .dilation = 1u,
        };
        (void)digital_fully_connected(NULL, match_diana_l1(tile->input), weights + k * (inputs + DENSE_BIAS_BYTES), NULL,
                                      match_diana_l1((const uint8_t *)tile->output + k), &layer);
        global_sync_digital();
    }
}
