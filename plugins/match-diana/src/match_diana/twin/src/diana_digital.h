/* diana_digital.h - what the source files of the digital array share. Not for emitted programs.
 *
 * Layouts, all with the bytes of every aligned group of 4 reversed, so that element i of an array lies at i ^ 3:
 *   tensors in rows       [channel][row][column], rows as long as the instruction says
 *   tensors of channels   [64 channels][row][column][64], what the analog array reads; columns are those of the
 *                         instruction, so a row is as long as 16 * ox
 *   vectors               [channel]
 *   weights               convolution: per 16 outputs [channel][fy][fx][16], then 64 bytes of biases; fully connected:
 *                         per 16 outputs [c / 16][16 outputs][16 inputs], then 16 biases of 128 bits
 *   biases                convolution: four planes of 16 bytes, the least significant bytes first; fully connected: 128
 *                         bits each, least significant byte first
 * Sheet 5.2 has the weights; those of fully connected layers are htvm's (match's own packing has [16 outputs][c] where
 * htvm has blocks of 16 inputs). The order of rows in "tensors of channels", and which columns the array fills beyond
 * those that the layer has, is not public. Of `padding`, bits 0 to 3 are the padding left and right; bits 4 to 7, which
 * public code leaves 0, are read as the number of columns at the end of each row that hold nothing, as a comment of
 * DORY's template suggests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DIANA_DIGITAL_H
#define DIANA_DIGITAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diana_twin.h"

#define DIANA_LANES MATCH_DIANA_ARRAY_ROWS /* outputs that are computed together; as many columns, or inputs */
#define DIANA_GROUP 64u                    /* channels side by side for the analog array */
#define DIANA_CONV_BIAS_BYTES 4u
#define DIANA_FC_BIAS_BYTES 16u
#define DIANA_REVERSED(index) ((index) ^ 3u)

typedef enum { DIANA_FC = 0, DIANA_CONV = 1, DIANA_SUM = 3 } diana_mode_t;

/* A job, decoded from its instruction. Addresses are bytes in L1. */
typedef struct {
  diana_mode_t mode;
  uint32_t input, other, output; /* `other`: the second tensor of a sum */
  uint32_t c;                    /* input channels, or elements of a sum */
  uint32_t k;
  uint32_t cx, cy; /* of the input, as it lies */
  uint32_t columns; /* of it that count */
  uint32_t fx, fy, stride;
  uint32_t side, top, bottom; /* padding: left and right are the same */
  uint32_t ox, oy;            /* ox: a multiple of 16 */
  bool by_channels;           /* the output's layout */
  bool relu;
  uint32_t shift;
  uint32_t weights, weight_bytes; /* in L2; 0 bytes: those of the job before stay */
} diana_digital_job_t;

#define DIANA_INSTRUCTION_WORDS 32u

/* diana_digital_decode.c: the job of two instructions, of which the second one stops. */
diana_digital_job_t diana_digital_decode(const uint32_t *word);
/* diana_digital_job.c: bytes of weights that the job uses. */
size_t diana_digital_weight_need(const diana_digital_job_t *job);
/* diana_digital_limits.c: faults where the array cannot do the job. */
void diana_digital_check(const diana_digital_job_t *job);
/* Columns of the output whose windows lie in input and padding. */
uint32_t diana_digital_valid_columns(const diana_digital_job_t *job);
/* Bytes of input and output. */
size_t diana_digital_input_bytes(const diana_digital_job_t *job);
size_t diana_digital_output_bytes(const diana_digital_job_t *job);
/* diana_digital_cycles.c: of the job without the fetch of its weights. */
uint64_t diana_digital_cycles(const diana_digital_job_t *job);
/* diana_digital_conv.c, diana_digital_dense.c: compute a job with what the weight memory holds. */
void diana_digital_conv(const diana_digital_job_t *job, const uint8_t *weights);
void diana_digital_fully_connected(const diana_digital_job_t *job, const uint8_t *weights);
void diana_digital_sum(const diana_digital_job_t *job);

/* y = clip((sum + bias) >> shift); the shift rounds down. */
uint8_t diana_digital_output(const diana_digital_job_t *job, int32_t sum);

#endif
