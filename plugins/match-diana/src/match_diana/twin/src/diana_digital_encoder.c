/* diana_digital_encoder.c - the kernel library's encoder for the digital array: the fields that the published one
 * writes (dory-hal, encoders_instruction_memory.c; sheet 4.2), with the divisions that round down as it has them. Words
 * that it does not write keep what they held. SPDX-License-Identifier: Apache-2.0 */
#include "diana_twin.h"
#include "encoders_instruction_memory.h"

L2_DATA uint32_t configuration_register[16];
L2_DATA Instruction_memory_object_digital instruction_memory_compiled_digital[2];

enum { MODE_FC = 0, MODE_CONV = 1, MODE_SUM = 3 };
enum { NOWHERE = 0, ROWS = 2 };

static void encode_shape(Instruction_memory_object_digital *word, const Layer_parameters *layer) {
  word->cx = layer->cx;
  word->cy = layer->cy;
  word->padded_cx = layer->cx;
  word->size_channel = layer->cx * layer->cy;
  word->fx = layer->fx;
  word->fy = layer->fy;
  word->ox = layer->ox / DIG_HWPE_PARALLELISM;
  word->oy = layer->oy;
  word->output_channel_size = layer->ox * layer->oy;
  word->zero_padding = layer->padding;
  word->conv_strided = layer->stride;
  word->dilation = layer->dilation;
}

static void encode_no_shape(Instruction_memory_object_digital *word) {
  static const Layer_parameters nothing;
  encode_shape(word, &nothing);
}

/* `c` and `k` as the instruction has them. */
static void encode_kind(Instruction_memory_object_digital *word, uint32_t mode, uint32_t c, uint32_t k,
                        uint32_t activation, uint32_t destination) {
  word->mode = mode;
  word->c = c;
  word->k = k;
  word->activation_function = activation;
  word->write_l2_l1 = destination;
}

void digital_encoder_instruction_memory(Instruction_type mode, uint32_t pointer_input, uint32_t pointer_weights,
                                        uint32_t pointer_output, Layer_parameters *layer) {
  Instruction_memory_object_digital *const word = &instruction_memory_compiled_digital[0];
  const uint32_t blocks = layer->k / DIG_HWPE_PARALLELISM;
  if (mode == CONV) {
    encode_kind(word, MODE_CONV, layer->c, blocks, layer->activation_function, ROWS);
    encode_shape(word, layer);
  } else if (mode == DWCONV) { /* one input channel, and a block of 16 outputs of which one counts */
    encode_kind(word, MODE_CONV, 1u, 1u, layer->activation_function, ROWS);
    encode_shape(word, layer);
  } else if (mode == FC) {
    encode_kind(word, MODE_FC, layer->c / DIG_HWPE_PARALLELISM, blocks, layer->activation_function, ROWS);
    encode_no_shape(word);
    word->dilation = 1u;
  } else if (mode == EWS) {
    encode_kind(word, MODE_SUM, layer->c / DIG_HWPE_PARALLELISM, 0u, 0u, NOWHERE);
    encode_no_shape(word);
  }
  word->shift_fixed_point = layer->output_shift;
  word->weight_memory_pointer = pointer_weights;
  word->input_memory_pointer = pointer_input;
  word->output_memory_pointer = pointer_output;
  instruction_memory_compiled_digital[1].stop = 1u;
  match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_DIANA_ENCODE_CYCLES, "encode");
}
