/* diana_analog_cells.c - the array of ternary cells: what the encoded weights mean, and the sums of its columns.
 *
 * Encoding (dory, weights_encoder_analog.py): rows padded to a multiple of 288 and stored last row first; of each row
 * the bits of +1 for all columns, then those of -1, 32 to a word, first column at the most significant bit. The sign is
 * turned where the wiring of a block of 64 rows turns it back, which depends on the column's parity.
 * Reading: the wiring counts stored rows from 0, also where fewer than 1152 are stored, as the encoder does.
 * Reading: with ox_unroll the array repeats the cells for the other pixels itself, since they are stored once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "diana_analog.h"
#include "diana_twin.h"

#define BLOCK_ROWS 64u

/* By stored row; as a row acts on its column. */
static int8_t cells[MATCH_DIANA_ANALOG_ROWS][MATCH_DIANA_ANALOG_COLUMNS];

/* Whether the wiring of a cell turns its sign. */
static bool is_turned(uint32_t row, uint32_t column) {
  const uint32_t block = row / BLOCK_ROWS;
  return column % 2u == 0u ? block < 6u || block > 11u : block <= 8u;
}

static uint32_t bit(const uint32_t *words, uint32_t column) { return words[column / 32u] >> (31u - column % 32u) & 1u; }

/* Cells without a driven row or a channel are padding and hold nothing. */
static void check_padding(const diana_analog_layer_t *layer, uint32_t row, uint32_t column) {
  if (column >= layer->k || row < layer->stored_rows - layer->rows) {
    match_twin_faultf("analog: stored row %u, column %u is padding, but its cell holds a weight", (unsigned)row,
                      (unsigned)column);
  }
}

static void load_row(const diana_analog_layer_t *layer, uint32_t row, const uint32_t *plus, const uint32_t *minus) {
  for (uint32_t column = 0u; column < layer->stored_columns; column++) {
    const uint32_t is_plus = bit(plus, column), is_minus = bit(minus, column);
    if ((is_plus & is_minus) != 0u) {
      match_twin_faultf("analog: the cell of stored row %u, column %u is +1 and -1", (unsigned)row, (unsigned)column);
    }
    if ((is_plus | is_minus) != 0u) {
      check_padding(layer, row, column);
    }
    const int stored = (int)is_plus - (int)is_minus;
    cells[row][column] = (int8_t)(is_turned(row, column) ? -stored : stored);
  }
}

void diana_analog_load(const diana_analog_layer_t *layer, const uint32_t *encoded) {
  const uint32_t plane_words = layer->stored_columns / 32u;
  for (uint32_t row = 0u; row < layer->stored_rows; row++) {
    const uint32_t *const plus = encoded + (size_t)row * 2u * plane_words;
    load_row(layer, row, plus, plus + plane_words);
  }
}

void diana_analog_sum(const diana_analog_layer_t *layer, const int8_t *lines, int32_t *sums) {
  memset(sums, 0, layer->k * sizeof *sums);
  for (uint32_t row = layer->stored_rows - layer->rows; row < layer->stored_rows; row++) {
    for (uint32_t column = 0u; column < layer->k; column++) {
      sums[column] += lines[row] * cells[row][column];
    }
  }
}
