/* diana_digital_library.c - the kernel library's functions for the digital array: they write the registers that the
 * published ones write (dory-hal, src/digital_*.c) and trigger. SPDX-License-Identifier: Apache-2.0 */
#include "diana_twin.h"
#include "kernels.h"

#define INSTRUCTION_WORDS 64u
#define CONFIGURATION_WORDS 16u
#define LANES ((uint32_t)DIG_HWPE_PARALLELISM)
#define BIAS_BYTES 4u
#define FC_BIAS_BYTES 16u

/* The chip's pointers have 32 bits. */
static uint32_t address(const void *pointer) { return (uint32_t)(uintptr_t)pointer; }

static void configure(uint32_t first, uint32_t second) {
  configuration_register[0] = first;
  configuration_register[1] = second;
  configuration_register[2] = 0u;
  hwme_conf_addr_set(address(configuration_register));
  hwme_conf_n_set(CONFIGURATION_WORDS);
}

static void instruct(void) {
  hwme_im_addr_set(address(instruction_memory_compiled_digital));
  hwme_im_n_set(INSTRUCTION_WORDS);
}

static void no_activations(uint32_t first) {
  hwme_act_addr_set(first);
  hwme_act_n_set(0u);
}

int32_t digital_conv_2d(const void *input_L2, const void *input, const void *weights_L2, const void *weights,
                        void *output, Layer_parameters *layer) {
  (void)input_L2;
  hwme_memcpy_op(0u);
  configure(0x800u, 0xFu);
  digital_encoder_instruction_memory(CONV, address(input), address(weights), address(output), layer);
  instruct();
  no_activations(0u);
  hwme_wt_conv_addr_set(address(weights_L2));
  hwme_wt_conv_n_set((layer->c * layer->k * layer->fx * layer->fy + layer->k * BIAS_BYTES) / 4u);
  hwme_trigger_job();
  return 0;
}

/* Four channels share a block of weights: the fetch begins 4 bytes later for each, so that its weights come first. */
int32_t digital_depthwise_conv_2d(const void *input_L2, const void *input, const void *weights_L2, const void *weights,
                                  void *output, Layer_parameters *layer) {
  const uint32_t block_bytes = LANES * layer->fx * layer->fy + LANES * BIAS_BYTES;
  configure(0x800u, 0xFu);
  for (uint32_t i = 0u; i < layer->c; i++) {
    const uint32_t from = address(input) + i * layer->cx * layer->cy;
    const uint32_t to = address(output) + i * layer->ox * layer->oy;
    hwme_memcpy_op(0u);
    no_activations(address(input_L2));
    digital_encoder_instruction_memory(DWCONV, from, address(weights), to, layer);
    instruct();
    no_activations(0u);
    hwme_wt_conv_addr_set(address(weights_L2) + 4u * (i % 4u) + i / 4u * block_bytes);
    hwme_wt_conv_n_set(block_bytes / 4u);
    hwme_trigger_job();
    global_sync_digital();
  }
  return 0;
}

int32_t digital_fully_connected(const void *input_L2, const void *input, const void *weights_L2, const void *weights,
                                void *output, Layer_parameters *layer) {
  (void)input_L2;
  hwme_memcpy_op(0u);
  configure(0u, 0u);
  digital_encoder_instruction_memory(FC, address(input), address(weights), address(output), layer);
  instruct();
  no_activations(0u);
  hwme_wt_fc_addr_set(address(weights_L2));
  hwme_wt_fc_n_set((layer->c * layer->k + layer->k * FC_BIAS_BYTES) / 4u);
  hwme_trigger_job();
  return 0;
}

int32_t digital_element_wise_sum(const void *input_L2, const void *inputA, const void *weights_2_L2,
                                 const void *inputB, void *output, Layer_parameters *layer) {
  (void)weights_2_L2;
  layer->c = layer->cy * layer->cx * layer->c;
  hwme_memcpy_op(0u);
  no_activations(address(input_L2));
  hwme_conf_addr_set(address(configuration_register));
  hwme_conf_n_set(CONFIGURATION_WORDS);
  digital_encoder_instruction_memory(EWS, address(inputA), address(inputB), address(output), layer);
  instruct();
  hwme_trigger_job();
  return 0;
}

void global_sync_digital(void) {
  while (hwme_get_status() != 0u) {
  }
}

/* The published one also loads start-up words into the analog array and toggles two pins. */
void boot_diana(void) { diana_analog_boot(); }
