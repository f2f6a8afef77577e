/* diana_digital_cycles.c - modelled cycles of the digital array. Convolution: the published model of an output tile of
 * 16 columns by 16 channels (sheet 3.1), counted row by row, since a tile lies in one row. The published model uses the
 * same formula for fully connected layers, 16 outputs at a time, and for sums (one channel, 256 elements at a time); no
 * figure of their own is public. SPDX-License-Identifier: Apache-2.0 */
#include "diana_digital.h"

/* `rows`: filter rows that do not lie in the padding. */
static uint64_t tile_cycles(uint64_t c, uint64_t rows, uint64_t fx) {
  return c * rows * fx + MATCH_DIANA_ROW_LOAD_CYCLES * c * rows + MATCH_DIANA_TILE_OVERHEAD_CYCLES;
}

static uint32_t filter_rows(const diana_digital_job_t *job, uint32_t y) {
  uint32_t rows = 0u;
  for (uint32_t row = 0u; row < job->fy; row++) {
    const uint32_t padded = y * job->stride + row;
    rows += padded >= job->top && padded - job->top < job->cy ? 1u : 0u;
  }
  return rows;
}

uint64_t diana_digital_cycles(const diana_digital_job_t *job) {
  const uint64_t tiles = (uint64_t)(job->k / MATCH_DIANA_ARRAY_ROWS) * (job->ox / MATCH_DIANA_ARRAY_COLUMNS);
  const uint32_t block = MATCH_DIANA_ARRAY_ROWS * MATCH_DIANA_ARRAY_COLUMNS;
  uint64_t cycles = 0u;
  if (job->mode == DIANA_FC) {
    return job->k / MATCH_DIANA_ARRAY_ROWS * tile_cycles(job->c, 1u, 1u);
  }
  if (job->mode == DIANA_SUM) {
    return (job->c + block - 1u) / block * tile_cycles(1u, 1u, 1u);
  }
  for (uint32_t y = 0u; y < job->oy; y++) {
    cycles += tiles * tile_cycles(job->c, filter_rows(job, y), job->fx);
  }
  return cycles;
}
