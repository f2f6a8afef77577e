/* match_diana_digital_channels.c - a convolution whose result lies as the analog array reads it.
 *
 * The instruction has a field for that, but the published functions always write 2 there. So this does what
 * digital_conv_2d does, with the library's own encoder and register functions, and changes the field between.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_diana_digital.h"

#include "match_diana_digital_copy.h"
#include "match_diana_digital_layer.h"

#define WRITE_CHANNELS 1u
#define CONFIGURATION_WORDS 16
#define INSTRUCTION_WORDS 64

extern uint32_t configuration_register[16];
extern Instruction_memory_object_digital instruction_memory_compiled_digital[2];

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static void configure(void)
{
    hwme_memcpy_op(0u);
    configuration_register[0] = 0x800u;
    configuration_register[1] = 0xfu;
    configuration_register[2] = 0x0u;
    hwme_conf_addr_set(address(configuration_register));
    hwme_conf_n_set(CONFIGURATION_WORDS);
}

void match_diana_digital_conv_channels(const match_digital_conv_channels_t *tile)
{
    const uint32_t channels = tile->k * (uint32_t)tile->channels;
    const uint32_t weight_bytes =
        channels * tile->c * tile->fy * tile->fx + channels / MATCH_DIANA_LANES * MATCH_DIANA_CONV_BIAS_BYTES;
    Layer_parameters layer = MATCH_DIANA_CONV_LAYER(tile, tile->c, channels);
    configure();
    digital_encoder_instruction_memory(CONV, match_diana_l1_offset(tile->input), 0u,
                                       match_diana_l1_offset(tile->output), &layer);
    instruction_memory_compiled_digital[0].write_l2_l1 = WRITE_CHANNELS;
    hwme_im_addr_set(address(instruction_memory_compiled_digital));
    hwme_im_n_set(INSTRUCTION_WORDS);
    hwme_act_addr_set(0u);
    hwme_act_n_set(0u);
    hwme_wt_conv_addr_set(address(match_diana_digital_weights(tile->weights)));
    hwme_wt_conv_n_set(weight_bytes / 4u);
    hwme_trigger_job();
    global_sync_digital();
}
