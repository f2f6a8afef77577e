/* diana_analog_library.c - the published kernel library's functions for the analog array (dory-hal: analog_conv_2d.c,
 * encoders_instruction_memory.c; memcpy_analog and global_sync_analog), with their arguments and what they write.
 *
 * The published convolution leaves all stages behind the ADC out (word 0 is 0x3F) and has no argument for partial sums,
 * gain or shift. A program that needs those encodes the instruction with the published encoder, changes the words
 * concerned in instruction_memory_compiled_analog, and writes the registers itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "diana_analog.h"
#include "diana_twin.h"
#include "dory.h"
#include "kernels.h"

Instruction_memory_object_analog instruction_memory_compiled_analog[2];

/* The published encoder cuts what does not fit off; a program that relies on it is wrong. */
static uint16_t fit(uint32_t value, const char *what) {
  if (value > UINT16_MAX) {
    match_twin_faultf("analog_conv_2d: %s is %u and needs more than 16 bits", what, (unsigned)value);
  }
  return (uint16_t)value;
}

static uint16_t word_of(uint32_t offset, const char *what) {
  if (offset % MATCH_DIANA_L1_WORD_BYTES != 0u) {
    match_twin_faultf("analog_conv_2d: the %s at %u is not a multiple of %u bytes", what, (unsigned)offset,
                      MATCH_DIANA_L1_WORD_BYTES);
  }
  return fit(offset / MATCH_DIANA_L1_WORD_BYTES, what);
}

static void encode_layer(Instruction_memory_object_analog *words, const Layer_parameters *layer) {
  if (layer->k > MATCH_DIANA_ANALOG_COLUMNS || layer->fx > 15u || layer->fy > 15u) {
    match_twin_faultf("analog_conv_2d: %u output channels, filter %ux%u; at most %u, and 15x15", (unsigned)layer->k,
                      (unsigned)layer->fy, (unsigned)layer->fx, MATCH_DIANA_ANALOG_COLUMNS);
  }
  words->c = fit(layer->c, "c");
  words->k = fit(layer->k, "k");
  words->cx = fit(layer->cx, "cx");
  words->cy = fit(layer->cy, "cy");
  words->pool_fy_fx = fit(layer->fx | layer->fy << 4, "fx and fy");
  words->ox = fit(layer->ox, "ox");
  words->oy = fit(layer->oy, "oy");
  words->ox_unroll = fit(layer->ox_unroll, "ox_unroll");
  words->stride = fit(layer->stride, "stride");
  words->padding = fit(layer->padding, "padding");
  words->processing_blocks = fit((layer->c + 63u) / 64u, "c");
  words->use_blk_col = (uint16_t)(0xFFFFu << (16u - (layer->k + 31u) / 32u));
  words->reg25 = fit((layer->c * layer->fx * layer->fy * 2u + 31u) / 32u * 32u, "twice c * fx * fy");
}

static void encode_stop(Instruction_memory_object_analog *words) {
  words->skips = 0x3Fu;
  words->precision = 7u;
  words->ox_unroll = 1u;
  words->processing_blocks = 1u;
  words->complicated_register = 0x0005u;
  words->use_blk_col = 1u;
  words->reg21 = 0x010Au;
  words->stop = 0xF001u;
  words->reg24 = 0x0084u;
}

void analog_encoder_instruction_memory(uint32_t pointer_input, uint32_t pointer_weights, uint32_t pointer_output,
                                       Layer_parameters *layer) {
  Instruction_memory_object_analog *const words = &instruction_memory_compiled_analog[0];
  (void)pointer_weights; /* the published one does not use it either */
  words->skips = 0x3Fu;
  words->input_memory_pointer = word_of(pointer_input, "input");
  words->output_memory_pointer = word_of(pointer_output, "output");
  words->precision = 7u;
  words->complicated_register = 0x2005u;
  words->reg21 = 0x0100u;
  words->stop = 0xF000u;
  words->reg24 = 0x0084u;
  words->reg27 = 0u;
  encode_layer(words, layer);
  encode_stop(&instruction_memory_compiled_analog[1]);
  match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_DIANA_ENCODE_CYCLES, "encode");
}

static uint32_t address_of(const void *data) { return (uint32_t)(uintptr_t)data; }

int32_t analog_conv_2d(const void *input_L2, const void *input, const void *weights_L2, const void *batchnorm_L2,
                       const void *weights, void *output, Layer_parameters *layer) {
  (void)input_L2;
  configuration_register[0] = 0x3000000u;
  configuration_register[1] = 0x303001fu;
  hwme_ana_memcpy_op(0u);
  hwme_ana_conf_addr_set(address_of(configuration_register));
  hwme_ana_conf_n_set(16u);
  analog_encoder_instruction_memory(address_of(input), address_of(weights), address_of(output), layer);
  hwme_ana_im_addr_set(address_of(instruction_memory_compiled_analog));
  hwme_ana_im_n_set(32u);
  hwme_ana_wt_addr_set(address_of(weights_L2));
  hwme_ana_simd_addr_set(address_of(batchnorm_L2));
  hwme_ana_act_n_set(0u);
  hwme_ana_nb_tile_set(0u);
  hwme_ana_trigger_job();
  return 0;
}

void memcpy_analog(unsigned int *L2_Addr_Byte, unsigned int L1_Addr, unsigned int Length, unsigned int direction_L1_L2,
                   unsigned int BankNum) {
  const uint32_t bytes = (Length + MATCH_DIANA_DMA_LENGTH_BYTES - 1u) / MATCH_DIANA_DMA_LENGTH_BYTES *
                         MATCH_DIANA_DMA_LENGTH_BYTES;
  const uint32_t row_bytes = BankNum * MATCH_DIANA_L1_WORD_BYTES;
  if (BankNum == 0u || bytes % row_bytes != 0u || L1_Addr % MATCH_DIANA_L1_WORD_BYTES != 0u || direction_L1_L2 > 1u) {
    match_twin_faultf("memcpy_analog: %u bytes at %u of L1 in %u banks, direction %u: no whole rows of words",
                      (unsigned)bytes, L1_Addr, BankNum, direction_L1_L2);
  }
  hwme_ana_memcpy_op((direction_L1_L2 == 0u ? 2u : 1u) + (BankNum == 1u ? 0u : 2u));
  hwme_ana_memcpy_addr_set(address_of(L2_Addr_Byte));
  hwme_ana_l1addr_set(L1_Addr / MATCH_DIANA_L1_WORD_BYTES);
  if (BankNum == 1u) {
    hwme_ana_memcpy_n_set(bytes / 4u);
  } else {
    hwme_ana_memcpy_bank_length_set(BankNum);
    hwme_ana_memcpy_row_length_set(bytes / row_bytes);
  }
  hwme_ana_trigger_job();
}

void global_sync_analog(void) {
  while (hwme_ana_get_status() != 0u) {
  }
}
