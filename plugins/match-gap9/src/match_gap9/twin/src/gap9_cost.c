/* gap9_cost.c - the cycle formulas of match_gap9.formulas in C; sections refer to the GAP9 sheet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"

static uint64_t ceil_div(uint64_t size, uint64_t divisor) { return (size + divisor - 1u) / divisor; }

#if MATCH_GAP9_SIMULATOR_FORMS
static uint64_t at_least(uint64_t a, uint64_t b) { return a > b ? a : b; }
#endif

/* ---- cluster (3.2) --------------------------------------------------------------------------------------- */

static uint64_t rows_per_core(uint64_t rows) { return ceil_div(rows, MATCH_GAP9_CORE_COUNT); }

static uint64_t dot(uint64_t length, uint64_t loads, uint64_t macs) {
  const uint64_t bounds = MATCH_GAP9_LOOP_SETUP_CYCLES + MATCH_GAP9_LOOP_FINISH_CYCLES;
  const uint64_t vector = ceil_div(length, MATCH_GAP9_SIMD_VALUES) * (loads + macs);
  const uint64_t scalar = (length % MATCH_GAP9_SIMD_VALUES) *
                          (loads * MATCH_GAP9_SCALAR_LOAD_CYCLES + macs * MATCH_GAP9_SCALAR_MAC_CYCLES);
  return vector + scalar + 2u * bounds;
}

static uint64_t matmul(uint64_t length, uint64_t k_out) {
  const uint64_t blocks = ceil_div(k_out, MATCH_GAP9_CONV_CHANNELS);
  const uint64_t rest = k_out % MATCH_GAP9_CONV_CHANNELS;
  return blocks * dot(length, MATCH_GAP9_CONV_BLOCK_LOADS, MATCH_GAP9_CONV_BLOCK_MACS) +
         rest * dot(length, MATCH_GAP9_CONV_CHANNEL_LOADS, MATCH_GAP9_CONV_CHANNEL_MACS);
}

static uint64_t odd_column(uint64_t length, uint64_t width, uint64_t k_out) {
  return (width % MATCH_GAP9_CONV_PIXELS) * k_out *
         dot(length, MATCH_GAP9_CONV_PIXEL_LOADS, MATCH_GAP9_CONV_PIXEL_MACS);
}

static uint64_t pixel_pairs(const gap9_conv_shape_t *s) {
  return rows_per_core(s->out_y) * ceil_div(s->out_x, MATCH_GAP9_CONV_PIXELS);
}

uint64_t gap9_cost_conv(const gap9_conv_shape_t *s) {
  const uint64_t length = (uint64_t)s->kernel_y * s->kernel_x * s->c_in;
  return pixel_pairs(s) * (MATCH_GAP9_CONV_PIXELS * length + matmul(length, s->k_out)) +
         odd_column(length, s->out_x, s->k_out);
}

uint64_t gap9_cost_pointwise(const gap9_conv_shape_t *s) {
  return pixel_pairs(s) * (matmul(s->c_in, s->k_out) + odd_column(s->c_in, s->out_x, s->k_out));
}

uint64_t gap9_cost_depthwise(const gap9_conv_shape_t *s, uint32_t in_y) {
  const uint64_t taps = (uint64_t)s->kernel_y * s->kernel_x;
  const uint64_t bounds = MATCH_GAP9_LOOP_SETUP_CYCLES + MATCH_GAP9_LOOP_FINISH_CYCLES;
  const uint64_t vector = ceil_div(taps, MATCH_GAP9_SIMD_VALUES) * MATCH_GAP9_DEPTHWISE_VECTOR_STEP_CYCLES + bounds;
  const uint64_t scalar = (taps % MATCH_GAP9_SIMD_VALUES) * MATCH_GAP9_DEPTHWISE_SCALAR_STEP_CYCLES + bounds;
  const uint64_t per_output = vector + scalar + MATCH_GAP9_DEPTHWISE_QUANT_CYCLES;
  return rows_per_core(s->k_out) * s->out_x * ((uint64_t)in_y * s->kernel_y + s->out_y * per_output);
}

uint64_t gap9_cost_linear(uint32_t c_in, uint32_t k_out) {
  return ceil_div(c_in, MATCH_GAP9_LINEAR_INPUTS) * ceil_div(k_out, MATCH_GAP9_LINEAR_OUTPUTS);
}

/* ---- NE16 (3.3, 3.5) ------------------------------------------------------------------------------------- */

#if !MATCH_GAP9_SIMULATOR_FORMS
static uint64_t published_tile(const gap9_ne16_job_t *job, uint64_t k) {
  const uint64_t side = MATCH_GAP9_NE16_TILE_PIXELS, fifo = MATCH_GAP9_NE16_FIFO_CYCLES;
  const uint64_t pixel = ceil_div(MATCH_GAP9_NE16_TILE_INPUTS * 8u, MATCH_GAP9_NE16_MEMORY_BITS);
  uint64_t step = MATCH_GAP9_NE16_UPDATE_CYCLES;
  if (job->mode == GAP9_NE16_1X1) {
    step += MATCH_GAP9_NE16_LOAD_1X1_CYCLES + side * side * pixel + fifo + (fifo + k);
  } else {
    step += fifo + (side + 2u) * (side + 2u) * pixel + fifo + (fifo + k * job->weight_bits);
  }
  uint64_t total = job->mode == GAP9_NE16_DEPTHWISE ? step + k : job->tiles_ki * step;
  if (job->scale_bits > 0u) {
    total += MATCH_GAP9_NE16_SCALE_CYCLES + ceil_div(k * (job->scale_bits / 8u), MATCH_GAP9_NE16_MULTIPLIERS);
    total += job->shift ? ceil_div(MATCH_GAP9_NE16_TILE_OUTPUTS, MATCH_GAP9_NE16_SHIFTERS) : 0u;
    total += job->bias ? MATCH_GAP9_NE16_BIAS_CYCLES + ceil_div(k, MATCH_GAP9_NE16_ADDERS) : 0u;
  }
  const uint64_t store = ceil_div(MATCH_GAP9_NE16_TILE_OUTPUTS * (uint64_t)job->out_bits, MATCH_GAP9_NE16_MEMORY_BITS);
  return total + MATCH_GAP9_NE16_STREAMOUT_CYCLES + side * side * store;
}

uint64_t gap9_cost_ne16(const gap9_ne16_job_t *job) {
  const uint64_t whole =
      job->mode == GAP9_NE16_DEPTHWISE ? MATCH_GAP9_NE16_TILE_INPUTS : MATCH_GAP9_NE16_TILE_OUTPUTS;
  const uint64_t tiles = (uint64_t)job->tiles_ho * job->tiles_wo;
  return tiles * ((job->tiles_ko - 1u) * published_tile(job, whole) + published_tile(job, job->rem_ko));
}
#else
typedef struct {
  uint64_t h, w, loaded;
  bool last;
} subtile_t;

static uint64_t engine_tile(const gap9_ne16_job_t *job, uint64_t k, const subtile_t *tile) {
  const uint64_t side = MATCH_GAP9_NE16_TILE_PIXELS;
  const uint64_t words = job->out_bits == 32u ? ceil_div(k, MATCH_GAP9_NE16_OUT_WORDS) : 1u;
  uint64_t total = (side * (tile->h - 1u) + tile->w) * words;
  if (job->mode == GAP9_NE16_3X3) {
    total += job->tiles_ki * (tile->loaded + job->weight_bits * k + MATCH_GAP9_NE16_CONV3X3_STEP_CYCLES);
  } else if (job->mode == GAP9_NE16_1X1) {
    const uint64_t stored = tile->h * tile->w * (job->out_bits / 8u);
    total += job->tiles_ki * (k + MATCH_GAP9_NE16_CONV1X1_STEP_CYCLES);
    total += at_least(side * side, stored) - stored;
  } else {
    total += tile->loaded + job->weight_bits * k + MATCH_GAP9_NE16_DEPTHWISE_STEP_CYCLES;
  }
  if (job->scale_bits > 0u) {
    const uint64_t per_word = 32u / job->scale_bits;
    const bool runs_full = job->mode == GAP9_NE16_DEPTHWISE && !tile->last;
    total += runs_full ? MATCH_GAP9_NE16_TILE_OUTPUTS / per_word : ceil_div(k, per_word);
    total += job->bias ? MATCH_GAP9_NE16_ENGINE_BIAS_CYCLES : 0u;
    total += job->shift ? MATCH_GAP9_NE16_ENGINE_SHIFT_CYCLES : 0u;
  }
  return total;
}

uint64_t gap9_cost_ne16(const gap9_ne16_job_t *job) {
  const uint64_t side = MATCH_GAP9_NE16_TILE_PIXELS, halo = job->mode == GAP9_NE16_1X1 ? 0u : 2u;
  const uint64_t whole =
      job->mode == GAP9_NE16_DEPTHWISE ? MATCH_GAP9_NE16_TILE_INPUTS : MATCH_GAP9_NE16_TILE_OUTPUTS;
  uint64_t total = MATCH_GAP9_NE16_JOB_CYCLES;
  for (unsigned last_row = 0u; last_row < 2u; last_row++) {
    for (unsigned last_column = 0u; last_column < 2u; last_column++) {
      const uint64_t rows = last_row != 0u ? 1u : job->tiles_ho - 1u;
      const uint64_t columns = last_column != 0u ? 1u : job->tiles_wo - 1u;
      subtile_t tile = {.h = last_row != 0u ? job->rem_ho : side, .w = last_column != 0u ? job->rem_wo : side};
      tile.loaded = (last_row != 0u ? job->rem_hi : side + halo) * (last_column != 0u ? job->rem_wi : side + halo);
      total += rows * columns * (job->tiles_ko - 1u) * engine_tile(job, whole, &tile);
      tile.last = true;
      total += rows * columns * engine_tile(job, job->rem_ko, &tile);
    }
  }
  return total;
}
#endif

/* ---- DMA (3.1, 3.5) -------------------------------------------------------------------------------------- */

uint64_t gap9_cost_dma(uint32_t rows, uint32_t row_bytes, bool inwards, bool strided, uint32_t l1_offset) {
  const uint64_t total = (uint64_t)rows * row_bytes;
#if MATCH_GAP9_SIMULATOR_FORMS
  (void)strided;
  if (inwards) {
    const uint64_t word = MATCH_GAP9_DMA_L1_WORD_BYTES;
    const uint64_t words = ceil_div(total + l1_offset % word, word);
    return at_least(rows, ceil_div(words, MATCH_GAP9_DMA_BYTES_PER_CYCLE / word));
  }
  const uint64_t bursts = row_bytes / MATCH_GAP9_DMA_BURST_BYTES, rest = row_bytes % MATCH_GAP9_DMA_BURST_BYTES;
  const uint64_t burst = MATCH_GAP9_DMA_BURST_BYTES / MATCH_GAP9_DMA_BYTES_PER_CYCLE + MATCH_GAP9_DMA_BURST_CYCLES;
  const uint64_t tail =
      rest > 0u ? ceil_div(rest, MATCH_GAP9_DMA_BYTES_PER_CYCLE) + MATCH_GAP9_DMA_BURST_CYCLES : 0u;
  return rows * (bursts * burst + tail);
#else
  (void)inwards;
  (void)l1_offset;
  if (!strided) {
    return ceil_div(total, MATCH_GAP9_DMA_BYTES_PER_CYCLE);
  }
  if (row_bytes == 1u) {
    return rows + MATCH_GAP9_DMA_BYTE_ROW_COMMAND_CYCLES;
  }
  return ceil_div(total, MATCH_GAP9_DMA_BYTES_PER_CYCLE) + (uint64_t)rows * MATCH_GAP9_DMA_ROW_CYCLES;
#endif
}

uint64_t gap9_cost_l3(uint32_t size) {
  return MATCH_GAP9_L3_SETUP_CYCLES + ceil_div(size, MATCH_GAP9_L3_BYTES_PER_CYCLE);
}

#define JOB_WORDS 24u

uint64_t gap9_cost_ne16_program(uint32_t words) {
  return MATCH_GAP9_NE16_PROGRAM_CYCLES + (uint64_t)words * MATCH_GAP9_NE16_WORD_CYCLES -
         JOB_WORDS * MATCH_GAP9_NE16_WORD_CYCLES;
}
