/* diana_analog.h - what the source files of the analog array share. Not for emitted programs.
 *
 * What is public is taken from it: register offsets (pulp-sdk-diana, archi/hwme), instruction words and what the kernel
 * library writes into them (ABurrello/dory-hal), the cells' encoding (dory, weights_encoder_analog.py), the arithmetic
 * (diana-quantlib, htvm). What is not public is read as simply as possible, and each such reading says so where it is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DIANA_ANALOG_H
#define DIANA_ANALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIANA_ANALOG_PIXEL_BYTES 64u /* channels of a group: four words of 16 bytes */
#define DIANA_ANALOG_WORDS 32u       /* of an instruction, 16 bits each */

/* One job, as its instruction word says. Offsets are bytes in L1. */
typedef struct {
  uint32_t input, output, partial_sums;
  bool adds_partial_sums;
  bool normalises; /* batch-norm, shift and clip to 7 bits behind the ADC */
  bool rectifies;
  uint32_t c, k, cx, cy, fx, fy, oy;
  uint32_t ox; /* true columns: those of the instruction times ox_unroll */
  uint32_t ox_unroll, stride;
  uint32_t top, bottom, left, right;
  uint32_t gain_log2, shift;
  uint32_t rows;                   /* that an input drives: c * fy * fx */
  uint32_t stored_rows, stored_columns; /* of the encoded cells */
} diana_analog_layer_t;

/* ---- diana_analog_instruction.c --------------------------------------------------------------------------------- */

/* Decodes an instruction and the stop behind it; faults where the array cannot do it. */
diana_analog_layer_t diana_analog_decode(const uint16_t *words);
/* Sizes in bytes of what the job reads and writes. */
size_t diana_analog_input_bytes(const diana_analog_layer_t *layer);
size_t diana_analog_output_bytes(const diana_analog_layer_t *layer);
size_t diana_analog_cell_bytes(const diana_analog_layer_t *layer);
/* 0 without batch-norm. */
size_t diana_analog_norm_bytes(const diana_analog_layer_t *layer);

/* ---- diana_analog_cells.c --------------------------------------------------------------------------------------- */

/* Loads the encoded weights into the cells. */
void diana_analog_load(const diana_analog_layer_t *layer, const uint32_t *encoded);
/* Sums per column of what the driven rows give: `lines` has a value per stored row, `sums` one per output channel. */
void diana_analog_sum(const diana_analog_layer_t *layer, const int8_t *lines, int32_t *sums);

/* ---- diana_analog_simd.c ---------------------------------------------------------------------------------------- */

/* ADC of 6 bits, with noise where it is on. */
int32_t diana_analog_adc(int32_t sum, uint32_t gain_log2);
/* The output byte of channel `channel`: partial sum, batch-norm, shift, clip. `norm`: k words mul, then k words add. */
int8_t diana_analog_post(const diana_analog_layer_t *layer, const int32_t *norm, uint32_t channel, int32_t value,
                         int32_t partial_sum);
/* Faults unless all numbers of the batch-norm have 8 bits. */
void diana_analog_check_norm(const diana_analog_layer_t *layer, const int32_t *norm);

/* ---- diana_analog_noise.c --------------------------------------------------------------------------------------- */

/* The value with noise, not yet clipped; the value itself while noise is off. */
int32_t diana_analog_noise(int32_t value);

/* ---- diana_analog_engine.c -------------------------------------------------------------------------------------- */

/* Computes a job in L1 with the loaded cells. `norm` as above; not read without batch-norm. */
void diana_analog_compute(const diana_analog_layer_t *layer, const int32_t *norm);

#endif
