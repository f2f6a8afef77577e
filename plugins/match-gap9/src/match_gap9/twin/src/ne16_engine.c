/* ne16_engine.c - the arithmetic of an NE16 job, from encoded weights in L1 to outputs in L1.
 *
 * As in the public RTL: accumulators of 32 bits wrap; pixels beyond the valid input rows and columns of a subtile are
 * zero whatever the padding value ("implicit padding"), pixels in the padding registers' border have the padding
 * value; scaled values are 32 bits with a bias and 48 bits without; shifts are arithmetic without rounding.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ne16_task_defs.h"
#include "ne16_twin.h"
#include "pulp_nn_twin.h"

#define LANES NE16_SUBTILE_INPUT_CHANNEL
#define MAX_INPUT_TILES (MATCH_GAP9_L1_BYTES / 2u / LANES + 1u)

/* ---- requantisation -------------------------------------------------------------------------------------- */

typedef struct {
  uint32_t scale, shift;
  int32_t bias;
} norm_t;

static norm_t load_norm(const ne16_config_t *c, uint32_t channel) {
  norm_t norm = {.scale = 1u, .shift = c->shift_amount};
  const uint32_t bytes = c->tiles.scale_bits / 8u;
  if (bytes > 0u) {
    const uint8_t *scale = gap9_l1_access(c->scale + channel * bytes, bytes, "NE16 scale");
    norm.scale = 0u;
    for (uint32_t i = 0u; i < bytes; i++) {
      norm.scale |= (uint32_t)scale[i] << (8u * i);
    }
  }
  if (c->tiles.shift) {
    norm.shift = *gap9_l1_access(c->scale_shift + channel, 1u, "NE16 shift") & 0x3Fu; /* six bits in hardware */
  }
  if (c->tiles.bias) {
    memcpy(&norm.bias, gap9_l1_access(c->scale_bias + 4u * channel, 4u, "NE16 bias"), sizeof norm.bias);
  }
  return norm;
}

static int64_t wrap48(int64_t value) {
  const uint64_t bits = (uint64_t)value & 0xFFFFFFFFFFFFu;
  return bits < 0x800000000000u ? (int64_t)bits : (int64_t)bits - 0x1000000000000;
}

static int64_t shift_right(int64_t value, uint32_t amount) { return value >> (amount < 63u ? amount : 63u); }

/* The low 32 bits are what is stored; 8-bit outputs take the lowest 8 of them. */
static uint32_t requantise(const ne16_config_t *c, uint32_t accumulator, const norm_t *norm) {
  if (c->tiles.scale_bits == 0u) {
    return accumulator;
  }
  int64_t value;
  if (c->tiles.bias) {
    const uint32_t scaled = accumulator * norm->scale;
    value = pulp_nn_wrap(scaled + (uint32_t)norm->bias);
  } else {
    /* A product of 32 signed and 32 unsigned bits reaches 64 bits; only its low 48 exist. */
    const uint64_t extended = (uint64_t)(int64_t)pulp_nn_wrap(accumulator);
    value = wrap48((int64_t)((extended * norm->scale) & 0xFFFFFFFFFFFFu));
  }
  value = shift_right(value, norm->shift);
  if (c->relu) {
    if (value < 0) {
      return 0u;
    }
    return c->tiles.out_bits == 8u && value > 255 ? 255u : (uint32_t)((uint64_t)value & 0xFFFFFFFFu);
  }
  const int64_t most = c->tiles.out_bits == 8u ? 127 : INT32_MAX;
  const int64_t clipped = value > most ? most : value < -most - 1 ? -most - 1 : value;
  return (uint32_t)((uint64_t)clipped & 0xFFFFFFFFu);
}

/* ---- input ----------------------------------------------------------------------------------------------- */

typedef struct {
  /* Pixels of a subtile, all input tiles: tile, row, column, lane. Zero where nothing is loaded. */
  int16_t pixel[MAX_INPUT_TILES][5][5][LANES];
} buffer_t;

static buffer_t buffer;

/* Valid input rows or columns of subtile `index`. */
static uint32_t valid_input(uint32_t index, uint32_t count, uint32_t remainder, uint32_t full) {
  return index == count - 1u ? remainder : full;
}

static bool in_border(uint32_t position, uint32_t before, bool first, uint32_t after, bool last) {
  return (first && position < before) || (last && position >= 5u - after);
}

/* Loads input tile `ki` of the subtile (ho, wo) into buffer.pixel[slot]. */
static void load(const ne16_config_t *c, uint32_t ki, uint32_t ho, uint32_t wo, uint32_t slot) {
  const gap9_ne16_job_t *t = &c->tiles;
  const uint32_t full = t->mode == GAP9_NE16_1X1 ? 3u : 5u;
  const uint32_t rows = valid_input(ho, t->tiles_ho, t->rem_hi, full);
  const uint32_t columns = valid_input(wo, t->tiles_wo, t->rem_wi, full);
  const uint32_t lanes = ki == t->tiles_ki - 1u ? t->rem_ki : LANES;
  memset(buffer.pixel[slot], 0, sizeof buffer.pixel[slot]);
  for (uint32_t row = 0u; row < rows; row++) {
    const bool row_border = in_border(row, c->pad_top, ho == 0u, c->pad_bottom, ho == t->tiles_ho - 1u);
    for (uint32_t column = 0u; column < columns; column++) {
      int16_t *pixel = buffer.pixel[slot][row][column];
      if (row_border || in_border(column, c->pad_left, wo == 0u, c->pad_right, wo == t->tiles_wo - 1u)) {
        for (uint32_t lane = 0u; lane < lanes; lane++) {
          pixel[lane] = c->pad_value;
        }
        continue;
      }
      const uint32_t address =
          c->infeat + (3u * ho + row) * c->in_row + (3u * wo + column) * c->in_pixel + ki * LANES;
      const uint8_t *data = gap9_l1_access(address, lanes, "NE16 input");
      for (uint32_t lane = 0u; lane < lanes; lane++) {
        pixel[lane] = data[lane];
      }
    }
  }
}

/* ---- accumulation ---------------------------------------------------------------------------------------- */

typedef struct {
  uint32_t sum[NE16_SUBTILE_OUTPUT_CHANNEL];
} sums_t;

/* Adds one pixel's products over all input tiles. `weights` starts at the first channel of the output tile. */
static void accumulate_3x3(const ne16_config_t *c, const int16_t *weights, uint32_t channels, uint32_t row,
                           uint32_t column, sums_t *sums) {
  static int16_t patch[9u * LANES];
  for (uint32_t ki = 0u; ki < c->tiles.tiles_ki; ki++) {
    for (uint32_t y = 0u; y < 3u; y++) {
      memcpy(&patch[3u * LANES * y], buffer.pixel[ki][row + y][column], 3u * LANES * sizeof(int16_t));
    }
    for (uint32_t k = 0u; k < channels; k++) {
      const int16_t *row_weights = &weights[((size_t)k * c->tiles.tiles_ki + ki) * 9u * LANES];
      sums->sum[k] += (uint32_t)pulp_nn_dot(patch, row_weights, 9u * LANES);
    }
  }
}

static void accumulate_1x1(const ne16_config_t *c, const int16_t *weights, uint32_t channels, uint32_t row,
                           uint32_t column, sums_t *sums) {
  static int16_t patch[MAX_INPUT_TILES * LANES];
  const uint32_t tiles = c->tiles.tiles_ki;
  for (uint32_t ki = 0u; ki < tiles; ki++) {
    memcpy(&patch[LANES * ki], buffer.pixel[ki][row][column], LANES * sizeof(int16_t));
  }
  for (uint32_t k = 0u; k < channels; k++) {
    const int16_t *row_weights = &weights[(size_t)k * tiles * LANES];
    for (uint32_t ki = 0u; ki < tiles; ki += 512u) { /* 512 tiles stay below 2^31 with 9-bit weights */
      const uint32_t some = tiles - ki < 512u ? tiles - ki : 512u;
      sums->sum[k] += (uint32_t)pulp_nn_dot(&patch[LANES * ki], &row_weights[LANES * ki], (size_t)LANES * some);
    }
  }
}

static void accumulate_depthwise(const int16_t *weights, uint32_t row, uint32_t column, sums_t *sums) {
  for (uint32_t tap = 0u; tap < 9u; tap++) {
    const int16_t *pixel = buffer.pixel[0][row + tap / 3u][column + tap % 3u];
    for (uint32_t lane = 0u; lane < LANES; lane++) {
      sums->sum[lane] += (uint32_t)((int32_t)pixel[lane] * (int32_t)weights[tap * LANES + lane]);
    }
  }
}

/* ---- the job --------------------------------------------------------------------------------------------- */

typedef struct {
  uint32_t ko, ho, wo;
  ne16_extent_t extent;
  norm_t norm[NE16_SUBTILE_OUTPUT_CHANNEL];
} tile_t;

static void store(const ne16_config_t *c, const tile_t *tile, uint32_t row, uint32_t column, const sums_t *sums) {
  const uint32_t channels = tile->extent.channels;
  if (c->tiles.out_bits == 8u) {
    uint8_t *out = ne16_output(c, tile->ko, tile->ho, tile->wo, row, column, 0u, channels);
    for (uint32_t k = 0u; k < channels; k++) {
      out[k] = (uint8_t)(requantise(c, sums->sum[k], &tile->norm[k]) & 0xFFu);
    }
    return;
  }
  for (uint32_t k = 0u; k < channels; k++) {
    const uint32_t value = requantise(c, sums->sum[k], &tile->norm[k]);
    const uint32_t in_group = channels - k / 8u * 8u < 8u ? channels - k / 8u * 8u : 8u;
    uint8_t *out = ne16_output(c, tile->ko, tile->ho, tile->wo, row, column, k / 8u, 4u * in_group);
    memcpy(out + (size_t)(4u * (k % 8u)), &value, sizeof value);
  }
}

static void run_tile(const ne16_config_t *c, const tile_t *tile, const int16_t *weights) {
  for (uint32_t row = 0u; row < tile->extent.rows; row++) {
    for (uint32_t column = 0u; column < tile->extent.columns; column++) {
      sums_t sums = {{0u}};
      if (!ne16_stores(c, row, column)) {
        continue;
      }
      if (c->tiles.mode == GAP9_NE16_3X3) {
        accumulate_3x3(c, weights, tile->extent.channels, row, column, &sums);
      } else if (c->tiles.mode == GAP9_NE16_1X1) {
        accumulate_1x1(c, weights, tile->extent.channels, row, column, &sums);
      } else {
        accumulate_depthwise(weights, row, column, &sums);
      }
      store(c, tile, row, column, &sums);
    }
  }
}

void ne16_compute(const ne16_config_t *c) {
  const gap9_ne16_job_t *t = &c->tiles;
  const bool depthwise = t->mode == GAP9_NE16_DEPTHWISE;
  const uint32_t taps = t->mode == GAP9_NE16_1X1 ? 1u : 9u;
  const uint32_t whole = depthwise ? NE16_SUBTILE_INPUT_CHANNEL : NE16_SUBTILE_OUTPUT_CHANNEL;
  const int16_t *weights = ne16_decode_weights(c);
  const size_t tile_weights = (size_t)LANES * taps * (depthwise ? 1u : (size_t)whole * t->tiles_ki);
  if (!depthwise && t->tiles_ki > MAX_INPUT_TILES) {
    match_twin_faultf("NE16: %u input channel tiles do not fit L1", (unsigned)t->tiles_ki);
  }
  for (uint32_t ho = 0u; ho < t->tiles_ho; ho++) {
    for (uint32_t wo = 0u; wo < t->tiles_wo; wo++) {
      for (uint32_t ki = 0u; !depthwise && ki < t->tiles_ki; ki++) {
        load(c, ki, ho, wo, ki);
      }
      for (uint32_t ko = 0u; ko < t->tiles_ko; ko++) {
        tile_t tile = {.ko = ko, .ho = ho, .wo = wo, .extent = ne16_extent(c, ko, ho, wo)};
        for (uint32_t k = 0u; k < tile.extent.channels; k++) {
          tile.norm[k] = load_norm(c, ko * whole + k);
        }
        if (depthwise) {
          load(c, ko, ho, wo, 0u);
        }
        run_tile(c, &tile, &weights[(size_t)ko * tile_weights]);
      }
    }
  }
}
