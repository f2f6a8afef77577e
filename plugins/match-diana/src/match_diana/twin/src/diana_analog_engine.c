/* diana_analog_engine.c - a convolution on the analog array, from channels in L1 to channels in L1: the inputs of a
 * pixel's window drive the rows, all columns are read at once.
 *
 * Activations lie as [channels / 64][rows][columns][64], the bytes of each group of four reversed (sheet 1 and 5.4:
 * groups of 64 channels, four words of 16 bytes). Row c * fy * fx + y * fx + x of the array belongs to channel c, tap
 * (y, x) (dory, HW_Parser: CinKCout).
 * SPDX-License-Identifier: Apache-2.0 */
#include "diana_analog.h"
#include "diana_twin.h"

enum { INPUT_LOW = -64, INPUT_HIGH = 63 }; /* the DACs have 7 bits */

static size_t place(uint32_t channel, uint32_t y, uint32_t x, uint32_t height, uint32_t width) {
  const size_t pixel = ((size_t)(channel / 64u) * height + y) * width + x;
  return pixel * DIANA_ANALOG_PIXEL_BYTES + ((channel % 64u) ^ 3u);
}

static int8_t dac(int8_t value) {
  return value < INPUT_LOW ? INPUT_LOW : value > INPUT_HIGH ? INPUT_HIGH : value;
}

/* The value at row `y`, column `x` of the padded input. */
static int8_t input_at(const diana_analog_layer_t *layer, const uint8_t *input, uint32_t channel, uint32_t y,
                       uint32_t x) {
  if (y < layer->top || y - layer->top >= layer->cy || x < layer->left || x - layer->left >= layer->cx) {
    return 0;
  }
  return dac((int8_t)input[place(channel, y - layer->top, x - layer->left, layer->cy, layer->cx)]);
}

/* Rows are stored last one first, so the first one is driven last. */
static void drive(const diana_analog_layer_t *layer, const uint8_t *input, uint32_t oy, uint32_t ox, int8_t *lines) {
  uint32_t row = layer->stored_rows;
  for (uint32_t c = 0u; c < layer->c; c++) {
    for (uint32_t y = 0u; y < layer->fy; y++) {
      for (uint32_t x = 0u; x < layer->fx; x++) {
        lines[--row] = input_at(layer, input, c, oy * layer->stride + y, ox * layer->stride + x);
      }
    }
  }
}

static void write_pixel(const diana_analog_layer_t *layer, const int32_t *norm, const int32_t *sums, uint32_t y,
                        uint32_t x, const uint8_t *partial_sums, uint8_t *output) {
  const uint32_t padded = (layer->k + 63u) / 64u * 64u;
  for (uint32_t k = 0u; k < padded; k++) {
    const size_t at = place(k, y, x, layer->oy, layer->ox);
    if (k < layer->k) {
      const int32_t partial_sum = layer->adds_partial_sums ? (int8_t)partial_sums[at] : 0;
      output[at] =
          (uint8_t)diana_analog_post(layer, norm, k, diana_analog_adc(sums[k], layer->gain_log2), partial_sum);
    } else {
      output[at] = MATCH_TWIN_POISON; /* what unused channels hold is not public */
    }
  }
}

void diana_analog_compute(const diana_analog_layer_t *layer, const int32_t *norm) {
  static int8_t lines[MATCH_DIANA_ANALOG_ROWS];
  static int32_t sums[MATCH_DIANA_ANALOG_COLUMNS];
  const size_t output_bytes = diana_analog_output_bytes(layer);
  const uint8_t *const input = diana_l1(layer->input, diana_analog_input_bytes(layer), "analog input");
  const uint8_t *const partial_sums =
      layer->adds_partial_sums ? diana_l1(layer->partial_sums, output_bytes, "analog partial sums") : NULL;
  uint8_t *const output = diana_l1(layer->output, output_bytes, "analog output");
  for (uint32_t y = 0u; y < layer->oy; y++) {
    for (uint32_t x = 0u; x < layer->ox; x++) {
      drive(layer, input, y, x, lines);
      diana_analog_sum(layer, lines, sums);
      write_pixel(layer, norm, sums, y, x, partial_sums, output);
    }
  }
}
