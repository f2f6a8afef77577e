/* diana_analog_instruction.c - the words of an instruction of the analog array, as the published encoder writes them,
 * and what the array cannot do. Fields that the published sources call default have to hold the published value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "diana_analog.h"
#include "diana_twin.h"

/* Word numbers (dory-hal, utils.h). */
enum {
  SKIPS = 0, INPUT = 2, OUTPUT = 3, PARTIAL_SUM = 4, RESIDUAL = 5, NORM = 6, C = 7, K = 8, CX = 9, CY = 10,
  PRECISION = 11, FILTER = 12, OX = 13, OY = 14, OX_UNROLL = 15, STRIDE = 16, PADDING = 17, BLOCKS = 18,
  DEFAULT_19 = 19, COLUMN_BLOCKS = 20, DEFAULT_21 = 21, STOP = 22, DEFAULT_24 = 24, PLANE_ROWS = 25, SCALING = 26
};

/* Word 0: a bit that is set leaves a stage out. */
enum {
  NO_POOL = 1, NO_QUANT = 2, NO_ACTIVATION = 4, NO_RESIDUAL = 8, NO_NORM = 16, NO_PARTIAL_SUM = 32, ALL_SKIPS = 63
};

#define ROW_STEP 288u    /* encoded rows come in multiples of a quarter of the array */
#define COLUMN_STEP 128u /* encoded columns too */

static uint32_t round_up(uint32_t value, uint32_t step) { return (value + step - 1u) / step * step; }

static void expect(const uint16_t *words, uint32_t index, uint32_t value, const char *what) {
  if (words[index] != value) {
    match_twin_faultf("analog: word %u of the instruction, %s, is 0x%04x; 0x%04x is what it has to be", (unsigned)index,
                      what, (unsigned)words[index], (unsigned)value);
  }
}

static void check_defaults(const uint16_t *words, const diana_analog_layer_t *layer) {
  const uint32_t column_blocks = (layer->k + 31u) / 32u;
  expect(words, RESIDUAL, 0u, "the residual");
  expect(words, NORM, 0u, "the batch-norm pointer");
  expect(words, PRECISION, 7u, "the precision");
  expect(words, BLOCKS, (layer->c + 63u) / 64u, "the groups of 64 input channels");
  expect(words, DEFAULT_19, 0x2005u, "a default");
  expect(words, COLUMN_BLOCKS, (0xFFFFu << (16u - column_blocks)) & 0xFFFFu, "the mask of blocks of 32 columns");
  expect(words, DEFAULT_21, 0x0100u, "a default");
  expect(words, DEFAULT_24, 0x0084u, "a default");
  expect(words, PLANE_ROWS, round_up(2u * layer->rows, 32u), "the rows of both bit planes");
}

static void check_stop(const uint16_t *words) {
  if (words[STOP] != 0xF000u || words[DIANA_ANALOG_WORDS + STOP] != 0xF001u) {
    match_twin_fault("analog: an instruction of its own has to stop the layer's, and only that one");
  }
}

/* Reading: the ADC cannot be left out; batch-norm comes with its shift and clip; a ReLU needs the batch-norm. */
static void decode_stages(uint32_t skips, diana_analog_layer_t *layer) {
  if ((skips & ~(uint32_t)ALL_SKIPS) != 0u || (skips & NO_POOL) == 0u || (skips & NO_RESIDUAL) == 0u) {
    match_twin_faultf("analog: word 0 is 0x%04x; how pooling, residual and other activations work is not public",
                      (unsigned)skips);
  }
  layer->adds_partial_sums = (skips & NO_PARTIAL_SUM) == 0u;
  layer->normalises = (skips & NO_NORM) == 0u;
  layer->rectifies = (skips & NO_ACTIVATION) == 0u;
  if (layer->normalises != ((skips & NO_QUANT) == 0u) || (layer->rectifies && !layer->normalises)) {
    match_twin_faultf("analog: word 0 is 0x%04x: batch-norm and quantisation go together, an activation needs both",
                      (unsigned)skips);
  }
}

static void check_array(const diana_analog_layer_t *layer) {
  const uint32_t window = (layer->ox_unroll - 1u) * layer->stride + layer->fx;
  const uint32_t wide_rows = window * (layer->c < 64u ? 64u : layer->c) * layer->fy;
  if (layer->rows > MATCH_DIANA_ANALOG_ROWS) {
    match_twin_faultf("analog: %u channels of %ux%u need %u rows; the array has %u", (unsigned)layer->c,
                      (unsigned)layer->fy, (unsigned)layer->fx, (unsigned)layer->rows, MATCH_DIANA_ANALOG_ROWS);
  }
  if (layer->k * layer->ox_unroll > MATCH_DIANA_ANALOG_COLUMNS) {
    match_twin_faultf("analog: %u channels of %u pixels need %u columns; the array has %u", (unsigned)layer->k,
                      (unsigned)layer->ox_unroll, (unsigned)(layer->k * layer->ox_unroll), MATCH_DIANA_ANALOG_COLUMNS);
  }
  if (layer->ox_unroll > 1u && wide_rows > MATCH_DIANA_ANALOG_ROWS) {
    match_twin_faultf("analog: the window of %u pixels needs %u rows; the array has %u", (unsigned)layer->ox_unroll,
                      (unsigned)wide_rows, MATCH_DIANA_ANALOG_ROWS);
  }
}

static void check_sizes(const diana_analog_layer_t *layer) {
  if (layer->c == 0u || layer->k == 0u || layer->fx == 0u || layer->fy == 0u || layer->ox == 0u || layer->oy == 0u) {
    match_twin_fault("analog: a size of the layer is 0");
  }
  if (layer->stride != 1u && layer->stride != 2u) {
    match_twin_faultf("analog: stride %u; 1 and 2 exist", (unsigned)layer->stride);
  }
  if (layer->ox_unroll > 8u || (layer->ox_unroll & (layer->ox_unroll - 1u)) != 0u) {
    match_twin_faultf("analog: %u pixels at once; 1, 2, 4 and 8 exist", (unsigned)layer->ox_unroll);
  }
  if ((layer->ox - 1u) * layer->stride + layer->fx > layer->cx + layer->left + layer->right ||
      (layer->oy - 1u) * layer->stride + layer->fy > layer->cy + layer->top + layer->bottom) {
    match_twin_faultf("analog: windows of %ux%u outputs reach beyond the padded input of %ux%u", (unsigned)layer->oy,
                      (unsigned)layer->ox, (unsigned)layer->cy, (unsigned)layer->cx);
  }
}

static bool overlap(uint32_t first, size_t first_bytes, uint32_t second, size_t second_bytes) {
  return first < second + second_bytes && second < first + first_bytes;
}

static void check_places(const diana_analog_layer_t *layer) {
  const size_t input_bytes = diana_analog_input_bytes(layer), output_bytes = diana_analog_output_bytes(layer);
  if (overlap(layer->input, input_bytes, layer->output, output_bytes)) {
    match_twin_fault("analog: the output overwrites the input");
  }
  if (layer->adds_partial_sums && layer->partial_sums != layer->output &&
      overlap(layer->partial_sums, output_bytes, layer->output, output_bytes)) {
    match_twin_fault("analog: the partial sums lie neither at the output nor apart from it");
  }
}

diana_analog_layer_t diana_analog_decode(const uint16_t *words) {
  const uint32_t padding = words[PADDING], filter = words[FILTER], scaling = words[SCALING];
  diana_analog_layer_t layer = {
      .input = 16u * words[INPUT], .output = 16u * words[OUTPUT], .partial_sums = 16u * words[PARTIAL_SUM],
      .c = words[C], .k = words[K], .cx = words[CX], .cy = words[CY], .fx = filter & 15u, .fy = filter >> 4 & 15u,
      .ox = (uint32_t)words[OX] * words[OX_UNROLL], .oy = words[OY], .ox_unroll = words[OX_UNROLL],
      .stride = words[STRIDE], .bottom = padding & 3u, .top = padding >> 2 & 3u, .right = padding >> 4 & 3u,
      .left = padding >> 6 & 3u,
      /* Reading: nothing public says where the shift and the ADC's gain are told; word 26 is free. */
      .shift = scaling & 31u, .gain_log2 = scaling >> 8 & 15u,
  };
  if (padding >> 8 != 0u || filter >> 8 != 0u || (scaling & ~0x0F1Fu) != 0u || layer.shift > 15u) {
    match_twin_faultf("analog: padding 0x%04x, filter 0x%04x or scaling 0x%04x has bits that mean nothing",
                      (unsigned)padding, (unsigned)filter, (unsigned)scaling);
  }
  layer.rows = layer.c * layer.fy * layer.fx;
  layer.stored_rows = round_up(layer.rows, ROW_STEP);
  layer.stored_columns = round_up(layer.k, COLUMN_STEP);
  decode_stages(words[SKIPS], &layer);
  check_sizes(&layer);
  check_array(&layer);
  check_defaults(words, &layer);
  check_stop(words);
  check_places(&layer);
  return layer;
}

static size_t form_bytes(uint32_t channels, uint32_t y, uint32_t x) {
  return (size_t)((channels + 63u) / 64u) * y * x * DIANA_ANALOG_PIXEL_BYTES;
}

size_t diana_analog_input_bytes(const diana_analog_layer_t *layer) {
  return form_bytes(layer->c, layer->cy, layer->cx);
}

size_t diana_analog_output_bytes(const diana_analog_layer_t *layer) {
  return form_bytes(layer->k, layer->oy, layer->ox);
}

size_t diana_analog_cell_bytes(const diana_analog_layer_t *layer) {
  return (size_t)layer->stored_rows * layer->stored_columns / 4u;
}

size_t diana_analog_norm_bytes(const diana_analog_layer_t *layer) {
  return layer->normalises ? (size_t)layer->k * 2u * sizeof(int32_t) : 0u;
}
