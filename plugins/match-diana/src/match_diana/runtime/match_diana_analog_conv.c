/* match_diana_analog_conv.c - convolutions on the analog array, one instruction for each group of input channels.
 *
 * The published analog_conv_2d tells the array to skip everything behind the converters, and says nowhere how groups of
 * channels are added. So this does what it does, with the library's own encoder and register functions, and changes the
 * instruction between: which stages are skipped (the field's bits have public names), where partial sums lie, and in a
 * word that the encoder leaves alone the gain of the converters and the shift behind them. That these stages work so, and
 * that word's meaning, are this project's reading: nothing is public, and the twin reads it likewise.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "kernels.h"
#include "match_diana_analog.h"
#include "match_diana_copy.h"

#define CONFIGURATION_WORDS 16
#define INSTRUCTION_WORDS 32
#define BLOCK_CHANNELS 64u
#define L1_WORD_BYTES 16u

/* Stages that an instruction skips: bits of its first word. */
#define SKIP_POOL 0x01u
#define SKIP_QUANT 0x02u
#define SKIP_ACTIVATION 0x04u
#define SKIP_RESIDUAL 0x08u
#define SKIP_NORM 0x10u
#define SKIP_PARTIAL_SUM 0x20u
#define GAIN_POSITION 8

extern uint32_t configuration_register[16];
extern Instruction_memory_object_analog instruction_memory_compiled_analog[2];

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static uint32_t pad_bits(const match_analog_conv_t *tile)
{
    return tile->input_y_pad_after | (tile->input_y_pad_before << 2) | ((uint32_t)tile->pad_right << 4) |
           ((uint32_t)tile->pad_left << 6);
}

static uint16_t skips(const match_analog_conv_t *tile, bool first, bool last)
{
    uint32_t bits = SKIP_POOL | SKIP_RESIDUAL;
    bits |= first ? SKIP_PARTIAL_SUM : 0u;
    bits |= last ? 0u : (SKIP_NORM | SKIP_QUANT);
    bits |= (last && (tile->relu != 0)) ? 0u : SKIP_ACTIVATION;
    return (uint16_t)bits;
}

static void encode(const match_analog_conv_t *tile, uint32_t group, bool first, bool last)
{
    const uint32_t words = tile->b; /* words of 64 channels of a group */
    const uint32_t input = match_diana_l1_offset(tile->input) +
                           group * words * tile->input_y * (uint32_t)tile->ix * BLOCK_CHANNELS;
    const uint32_t output = match_diana_l1_offset(tile->output);
    Layer_parameters layer = {
        .c = (uint32_t)(last ? tile->last_channels : tile->channels),
        .k = (uint32_t)tile->k,
        .cx = (uint32_t)tile->ix,
        .cy = tile->input_y,
        .fx = (uint32_t)tile->fx,
        .fy = tile->fy,
        .ox = (uint32_t)(tile->ox / tile->unroll),
        .oy = tile->oy,
        .padding = pad_bits(tile),
        .dilation = 1u,
        .stride = (uint32_t)tile->stride,
        .ox_unroll = (uint32_t)tile->unroll,
    };
    analog_encoder_instruction_memory(input, 0u, output, &layer);
    instruction_memory_compiled_analog[0].skips = skips(tile, first, last);
    instruction_memory_compiled_analog[0].partial_sum_pointer = (uint16_t)(output / L1_WORD_BYTES);
    instruction_memory_compiled_analog[0].reg26 = (uint16_t)(tile->shift | (tile->gain_shift << GAIN_POSITION));
}

static void run(const uint8_t *cells, const uint8_t *norm)
{
    hwme_ana_memcpy_op(0u);
    configuration_register[0] = 0x3000000u;
    configuration_register[1] = 0x303001fu;
    hwme_ana_conf_addr_set(address(configuration_register));
    hwme_ana_conf_n_set(CONFIGURATION_WORDS);
    hwme_ana_im_addr_set(address(instruction_memory_compiled_analog));
    hwme_ana_im_n_set(INSTRUCTION_WORDS);
    hwme_ana_wt_addr_set(address(cells));
    hwme_ana_simd_addr_set(address(norm));
    hwme_ana_act_n_set(0u);
    hwme_ana_nb_tile_set(0u);
    hwme_ana_trigger_job();
    global_sync_analog();
}

void match_diana_analog_conv(const match_analog_conv_t *tile)
{
    const uint8_t *cells = match_diana_analog_constants(tile->weights);
    const uint8_t *norm = match_diana_analog_constants(tile->norm);
    for (uint32_t group = 0u; group < tile->g; group++) {
        const bool first = (tile->first != 0u) && (group == 0u);
        const bool last = (tile->last != 0u) && (group + 1u == tile->g);
        encode(tile, group, first, last);
        run(cells + group * (uint32_t)tile->weight_bytes, last ? norm : (const uint8_t *)0);
    }
}
