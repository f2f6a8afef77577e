/* ne16_job.c - from the 24 register words to a checked job, its weights and its output addresses.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ne16_task_defs.h"
#include "ne16_twin.h"

#define MAX_WEIGHTS (8u * MATCH_GAP9_L1_BYTES) /* 1-bit weights filling L1 */

static uint32_t high(uint32_t word) { return word >> 16; }

static uint32_t low(uint32_t word) { return word & 0xFFFFu; }

/* The hardware reads a remainder of 0 as a full tile. */
static uint32_t remainder_of(uint32_t value, uint32_t full, const char *what) {
  if (value > full) {
    match_twin_faultf("NE16: remainder %s is %u of at most %u", what, (unsigned)value, (unsigned)full);
  }
  return value == 0u ? full : value;
}

static void decode_formats(ne16_config_t *c, uint32_t conf0) {
  const uint32_t mode = (conf0 & NE16_MASK_FLAG_MODE) >> 5, out = (conf0 & NE16_MASK_QUANT_MODE) >> 21;
  const uint32_t norm = (conf0 & NE16_MASK_NORM_MODE) >> 12;
  const bool quant = (conf0 & NE16_FLAG_NORM_QUANT) != 0u;
  if (mode == 3u || (conf0 & (NE16_FLAG_LINEAR_MODE | NE16_FLAG_STREAMIN | NE16_FLAG_MODE16)) != 0u) {
    match_twin_fault("NE16: linear mode, stream-in and 16-bit activations are not modelled");
  }
  if (out == 1u || out == 3u || (!quant && out != 2u) || norm == 3u) {
    match_twin_faultf("NE16: output format %u with quantisation %s and scale format %u is not modelled",
                      (unsigned)out, quant ? "on" : "off", (unsigned)norm);
  }
  c->tiles.mode = mode == 0u ? GAP9_NE16_3X3 : mode == 1u ? GAP9_NE16_DEPTHWISE : GAP9_NE16_1X1;
  c->tiles.weight_bits = (conf0 & NE16_MASK_FLAG_WEIGHT_BITS) + 1u;
  c->tiles.scale_bits = quant ? 8u << norm : 0u;
  c->tiles.out_bits = out == 2u ? 32u : 8u;
  c->tiles.bias = quant && (conf0 & NE16_FLAG_NORM_BIAS) != 0u;
  c->tiles.shift = quant && (conf0 & NE16_FLAG_NORM_SHIFT) != 0u;
  c->stride2 = (conf0 & NE16_FLAG_STRIDE_2x2) != 0u;
  c->relu = (conf0 & NE16_FLAG_QUANT_FUNCTION_IDENTITY) == 0u;
  c->shift_amount = (conf0 & NE16_MASK_SHIFT_AMOUNT) >> 16;
}

static void decode_counters(ne16_config_t *c, const uint32_t *words) {
  gap9_ne16_job_t *t = &c->tiles;
  const uint32_t outputs = t->mode == GAP9_NE16_DEPTHWISE ? NE16_SUBTILE_INPUT_CHANNEL : NE16_SUBTILE_OUTPUT_CHANNEL;
  const uint32_t halo = t->mode == GAP9_NE16_1X1 ? 3u : 5u;
  t->tiles_ko = high(words[NE16_REG_SUBTILE_NUMBER_0]);
  t->tiles_ki = low(words[NE16_REG_SUBTILE_NUMBER_0]);
  t->tiles_ho = high(words[NE16_REG_SUBTILE_NUMBER_1]);
  t->tiles_wo = low(words[NE16_REG_SUBTILE_NUMBER_1]);
  t->rem_ko = remainder_of(high(words[NE16_REG_SUBTILE_REMAINDER_0]), outputs, "Ko");
  t->rem_ki = remainder_of(low(words[NE16_REG_SUBTILE_REMAINDER_0]), NE16_SUBTILE_INPUT_CHANNEL, "Ki");
  t->rem_ho = remainder_of(high(words[NE16_REG_SUBTILE_REMAINDER_1]), NE16_SUBTILE_OUTPUT_HEIGHT, "Ho");
  t->rem_wo = remainder_of(low(words[NE16_REG_SUBTILE_REMAINDER_1]), NE16_SUBTILE_OUTPUT_WIDTH, "Wo");
  t->rem_hi = remainder_of(high(words[NE16_REG_SUBTILE_REMAINDER_2]), halo, "Hi");
  t->rem_wi = remainder_of(low(words[NE16_REG_SUBTILE_REMAINDER_2]), halo, "Wi");
  if (t->tiles_ko == 0u || t->tiles_ki == 0u || t->tiles_ho == 0u || t->tiles_wo == 0u) {
    match_twin_fault("NE16: a subtile count is 0");
  }
  if (t->mode == GAP9_NE16_DEPTHWISE && (t->tiles_ko != t->tiles_ki || t->rem_ko != t->rem_ki)) {
    match_twin_fault("NE16: depthwise wants as many output as input channels");
  }
}

/* Padding rows (columns) of the last subtile, of which `size` outputs are valid; where they reach into the subtile
 * before, the hardware would read data instead of padding. */
static void check_reach(uint32_t tiles, uint32_t size, uint32_t valid, uint32_t border, const char *side) {
  const uint32_t missing = size + 2u > valid ? size + 2u - valid : 0u;
  const uint32_t explicit_pad = border + size > 3u ? border + size - 3u : 0u;
  if (tiles > 1u && (missing > size || explicit_pad > size)) {
    match_twin_faultf("NE16: padding at the %s reaches into the subtile before the last, which is not padded", side);
  }
}

ne16_config_t ne16_decode(const uint32_t words[NE16_JOB_WORDS]) {
  ne16_config_t c;
  memset(&c, 0, sizeof c);
  decode_formats(&c, words[NE16_REG_CONF0]);
  decode_counters(&c, words);
  c.weights = words[NE16_REG_WEIGHTS_PTR];
  c.infeat = words[NE16_REG_INFEAT_PTR];
  c.outfeat = words[NE16_REG_OUTFEAT_PTR];
  c.scale = words[NE16_REG_SCALE_PTR];
  c.scale_shift = words[NE16_REG_SCALE_SHIFT_PTR];
  c.scale_bias = words[NE16_REG_SCALE_BIAS_PTR];
  c.in_pixel = words[NE16_REG_INFEAT_D0_STRIDE];
  c.in_row = words[NE16_REG_INFEAT_D1_STRIDE];
  c.out_group = words[NE16_REG_OUTFEAT_D0_STRIDE];
  c.out_pixel = words[NE16_REG_OUTFEAT_D1_STRIDE];
  c.out_row = words[NE16_REG_OUTFEAT_D2_STRIDE];
  c.weight_bit = words[NE16_REG_WEIGHTS_D0_STRIDE];
  c.weight_channel = words[NE16_REG_WEIGHTS_D1_STRIDE];
  const uint32_t padding = words[NE16_REG_PADDING], mask = words[NE16_REG_FILTER_MASKING];
  c.pad_top = padding >> 28;
  c.pad_right = (padding >> 24) & 0xFu;
  c.pad_bottom = (padding >> 20) & 0xFu;
  c.pad_left = (padding >> 16) & 0xFu;
  c.pad_value = (uint8_t)(padding & 0xFFu);
  c.mask_top = mask >> 24;
  c.mask_right = (mask >> 16) & 0xFFu;
  c.mask_bottom = (mask >> 8) & 0xFFu;
  c.mask_left = mask & 0xFFu;
  memcpy(&c.weight_offset, &words[NE16_REG_WEIGHT_OFFSET_FACTOR], sizeof c.weight_offset);
  if (c.weight_offset < -256 || c.weight_offset > 255) {
    match_twin_faultf("NE16: weight offset %d exceeds its 9 bits", (int)c.weight_offset);
  }
  if (c.pad_top > 4u || c.pad_right > 4u || c.pad_bottom > 4u || c.pad_left > 4u || c.mask_top > 3u ||
      c.mask_right > 3u || c.mask_bottom > 3u || c.mask_left > 3u) {
    match_twin_fault("NE16: padding above 4 or a filter mask above 3");
  }
  if (c.tiles.mode != GAP9_NE16_1X1) {
    check_reach(c.tiles.tiles_ho, c.tiles.rem_ho, c.tiles.rem_hi, c.pad_bottom, "bottom");
    check_reach(c.tiles.tiles_wo, c.tiles.rem_wo, c.tiles.rem_wi, c.pad_right, "right");
  }
  if (c.tiles.mode == GAP9_NE16_1X1 && ((padding >> 16) != 0u || mask != 0u)) {
    match_twin_fault("NE16: 1x1 has neither padding nor filter mask");
  }
  return c;
}

/* ---- weights --------------------------------------------------------------------------------------------- */

/* The last job's weights, with the bytes they came from: a stride-2 layer runs the same weights in every job. */
static struct {
  bool valid;
  ne16_config_t config;
  size_t size;
  uint8_t bytes[MATCH_GAP9_L1_BYTES];
  int16_t weights[MAX_WEIGHTS];
} last;

static bool masked(const ne16_config_t *c, uint32_t tap) {
  const uint32_t y = tap / 3u, x = tap % 3u;
  return y < c->mask_top || y >= 3u - c->mask_bottom || x < c->mask_left || x >= 3u - c->mask_right;
}

/* `bits` consecutive groups of `taps` 16-bit words, `pitch` bytes apart, to taps x 16 values. */
static void unpack(const ne16_config_t *c, uint32_t address, uint32_t pitch, uint32_t taps, int16_t *out) {
  for (uint32_t i = 0u; i < taps * 16u; i++) {
    out[i] = (int16_t)c->weight_offset;
  }
  for (uint32_t bit = 0u; bit < c->tiles.weight_bits; bit++) {
    const uint8_t *group = gap9_l1_access(address + bit * pitch, 2u * (size_t)taps, "NE16 weights");
    for (uint32_t tap = 0u; tap < taps; tap++) {
      const uint32_t lanes = group[2u * tap] | (uint32_t)group[2u * tap + 1u] << 8;
      for (uint32_t channel = 0u; channel < 16u; channel++) {
        out[16u * tap + channel] = (int16_t)(out[16u * tap + channel] + (int16_t)(((lanes >> channel) & 1u) << bit));
      }
    }
  }
  for (uint32_t tap = 0u; taps == 9u && tap < 9u; tap++) {
    if (masked(c, tap)) {
      memset(&out[16u * tap], 0, 16u * sizeof(int16_t));
    }
  }
}

static bool same_weights(const ne16_config_t *c, size_t size) {
  const ne16_config_t *l = &last.config;
  return last.valid && last.size == size && c->weights == l->weights && c->weight_bit == l->weight_bit &&
         c->weight_channel == l->weight_channel && c->weight_offset == l->weight_offset &&
         c->tiles.mode == l->tiles.mode && c->tiles.weight_bits == l->tiles.weight_bits &&
         c->tiles.tiles_ko == l->tiles.tiles_ko && c->tiles.tiles_ki == l->tiles.tiles_ki &&
         c->tiles.rem_ko == l->tiles.rem_ko && c->mask_top == l->mask_top && c->mask_right == l->mask_right &&
         c->mask_bottom == l->mask_bottom && c->mask_left == l->mask_left &&
         memcmp(last.bytes, gap9_l1_access(c->weights, size, "NE16 weights"), size) == 0;
}

const int16_t *ne16_decode_weights(const ne16_config_t *c) {
  const gap9_ne16_job_t *t = &c->tiles;
  const bool depthwise = t->mode == GAP9_NE16_DEPTHWISE;
  const uint32_t taps = t->mode == GAP9_NE16_1X1 ? 1u : 9u;
  const uint32_t channels =
      depthwise ? 1u : (t->tiles_ko - 1u) * NE16_SUBTILE_OUTPUT_CHANNEL + t->rem_ko; /* depthwise: Ko counts as 1 */
  const uint32_t tile_bytes = t->weight_bits * taps * 2u;
  const size_t count = (size_t)channels * t->tiles_ki * taps * 16u;
  const size_t size = (size_t)channels * t->tiles_ki * tile_bytes;
  /* In the usual order the bits of a 1x1 tile follow each other and channels are tiles_ki tiles apart. */
  const uint32_t bit_pitch = t->mode == GAP9_NE16_1X1 ? 2u : c->weight_bit;
  const bool dense = bit_pitch == taps * 2u && (depthwise || c->weight_channel == t->tiles_ki * tile_bytes);
  if (count > MAX_WEIGHTS) {
    match_twin_faultf("NE16: %zu weights do not fit L1", count);
  }
  if (dense && same_weights(c, size)) {
    return last.weights;
  }
  for (uint32_t k = 0u; k < channels; k++) {
    /* Tiles of 32 channels start where the counters say, channels inside of a tile by the stride register. */
    const uint32_t tile = k / NE16_SUBTILE_OUTPUT_CHANNEL, inner = k % NE16_SUBTILE_OUTPUT_CHANNEL;
    const uint32_t base = c->weights + tile * NE16_SUBTILE_OUTPUT_CHANNEL * t->tiles_ki * tile_bytes +
                          (depthwise ? 0u : inner * c->weight_channel);
    for (uint32_t ki = 0u; ki < t->tiles_ki; ki++) {
      unpack(c, base + ki * tile_bytes, bit_pitch, taps, &last.weights[((size_t)k * t->tiles_ki + ki) * taps * 16u]);
    }
  }
  last.valid = dense;
  last.config = *c;
  last.size = size;
  if (dense) {
    memcpy(last.bytes, gap9_l1_access(c->weights, size, "NE16 weights"), size);
  }
  return last.weights;
}

/* ---- outputs --------------------------------------------------------------------------------------------- */

ne16_extent_t ne16_extent(const ne16_config_t *c, uint32_t ko, uint32_t ho, uint32_t wo) {
  const gap9_ne16_job_t *t = &c->tiles;
  const uint32_t whole =
      t->mode == GAP9_NE16_DEPTHWISE ? NE16_SUBTILE_INPUT_CHANNEL : NE16_SUBTILE_OUTPUT_CHANNEL;
  return (ne16_extent_t){.channels = ko == t->tiles_ko - 1u ? t->rem_ko : whole,
                         .rows = ho == t->tiles_ho - 1u ? t->rem_ho : NE16_SUBTILE_OUTPUT_HEIGHT,
                         .columns = wo == t->tiles_wo - 1u ? t->rem_wo : NE16_SUBTILE_OUTPUT_WIDTH};
}

bool ne16_stores(const ne16_config_t *c, uint32_t row, uint32_t column) {
  return !c->stride2 || (row != 1u && column != 1u);
}

uint8_t *ne16_output(const ne16_config_t *c, uint32_t ko, uint32_t ho, uint32_t wo, uint32_t row, uint32_t column,
                     uint32_t group, uint32_t bytes) {
  const uint32_t whole =
      c->tiles.mode == GAP9_NE16_DEPTHWISE ? NE16_SUBTILE_INPUT_CHANNEL : NE16_SUBTILE_OUTPUT_CHANNEL;
  const uint32_t address = c->outfeat + (3u * ho + row) * c->out_row + (3u * wo + column) * c->out_pixel +
                           ko * whole * (c->tiles.out_bits / 8u) + group * c->out_group;
  return gap9_l1_access(address, bytes, "NE16 output");
}

void ne16_poison(const ne16_config_t *c) {
  const gap9_ne16_job_t *t = &c->tiles;
  for (uint32_t tile = 0u; tile < t->tiles_ko * t->tiles_ho * t->tiles_wo; tile++) {
    const uint32_t wo = tile % t->tiles_wo, ho = tile / t->tiles_wo % t->tiles_ho;
    const uint32_t ko = tile / t->tiles_wo / t->tiles_ho;
    const ne16_extent_t extent = ne16_extent(c, ko, ho, wo);
    for (uint32_t pixel = 0u; pixel < extent.rows * extent.columns; pixel++) {
      const uint32_t row = pixel / extent.columns, column = pixel % extent.columns;
      if (!ne16_stores(c, row, column)) {
        continue;
      }
      if (t->out_bits == 8u) {
        memset(ne16_output(c, ko, ho, wo, row, column, 0u, extent.channels), MATCH_TWIN_POISON, extent.channels);
        continue;
      }
      for (uint32_t k = 0u; k < extent.channels; k += 8u) {
        const uint32_t bytes = 4u * (extent.channels - k < 8u ? extent.channels - k : 8u);
        memset(ne16_output(c, ko, ho, wo, row, column, k / 8u, bytes), MATCH_TWIN_POISON, bytes);
      }
    }
  }
}
