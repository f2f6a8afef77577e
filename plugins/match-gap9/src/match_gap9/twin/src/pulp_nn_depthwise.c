/* pulp_nn_depthwise.c - PULP-NN depthwise convolutions (CHW in, HWC out), bit exact to the published library.
 *
 * What the published sources do and a caller may trip over:
 * - each core copies one column of windows (kernel_x wide, all rows) into its buffer and slides down. Output columns
 *   fall into three phases: left, while x*stride < pad_left (zeros on the left only); middle, at least one column
 *   even if none is due (no zeros); right, the rest (zeros on the right only, and their number is guessed).
 * - the right phase of generic takes x*stride + 1 + kernel_x/2 - in_x zeros, which is right only for
 *   pad_left = (kernel_x - 1)/2; less_4_weights takes 1 + (x - out_x)*stride + pad_right. So stride 2 with all its
 *   padding on the right, right edge tiles and images narrower than the kernel come out wrong.
 * - generic runs a SIMD step even for kernels below 4 taps, hence less_4_weights.
 * - copies go in whole words and end up to 3 bytes behind a row. Buffers: generic cores*(kernel_x*(in_y + pad_top +
 *   pad_bottom) + kernel_x) bytes, less_4_weights cores*(the same + (-kernel_x mod 4)). In generic the slack is too
 *   small for kernel_x = 1 (and some wide paddings): a core then writes into its neighbour's buffer.
 * The twin faults wherever the published result would not be the convolution.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pmsis.h"
#include "pulp_nn_kernels.h"
#include "pulp_nn_twin.h"

#define MAX_TAPS 1023 /* the library counts words of taps in uint8 */

typedef struct {
  pulp_nn_quant_t quant;
  const uint8_t *in;
  uint8_t *buffer;
  const int8_t *bias, *weights;
  uint8_t *out;
  int in_x, in_y, ch_in, out_x, out_y, channels;
  int kernel_x, kernel_y, pad_top, pad_bottom, pad_left, pad_right, stride_x, stride_y;
  bool less_4;
} depthwise_t;

#define PARAMETERS                                                                                                \
  const uint8_t *Im_in, uint8_t *bufferC, const int8_t *bias, uint8_t *Im_out, const int8_t *wt, uint8_t *bufferB, \
      int32_t *k, int32_t *lambda, uint16_t out_mult, uint16_t out_shift, const uint16_t dim_im_in_x,               \
      const uint16_t dim_im_in_y, const uint16_t ch_im_in, const uint16_t dim_im_out_x,                             \
      const uint16_t dim_im_out_y, const uint16_t ch_im_out, const uint16_t dim_kernel_x,                           \
      const uint16_t dim_kernel_y, const uint16_t padding_y_top, const uint16_t padding_y_bottom,                   \
      const uint16_t padding_x_left, const uint16_t padding_x_right, const uint16_t stride_x,                       \
      const uint16_t stride_y, int8_t FLAG_RELU, int8_t FLAG_BATCH_NORM

#define GATHER(name, few)                                                                                         \
  {                                                                                                               \
    .quant = {name, k, lambda, out_mult, out_shift, FLAG_RELU, FLAG_BATCH_NORM}, .in = Im_in, .buffer = bufferC,  \
    .bias = bias, .weights = wt, .out = Im_out, .in_x = dim_im_in_x, .in_y = dim_im_in_y, .ch_in = ch_im_in,      \
    .out_x = dim_im_out_x, .out_y = dim_im_out_y, .channels = ch_im_out, .kernel_x = dim_kernel_x,                \
    .kernel_y = dim_kernel_y, .pad_top = padding_y_top, .pad_bottom = padding_y_bottom,                           \
    .pad_left = padding_x_left, .pad_right = padding_x_right, .stride_x = stride_x, .stride_y = stride_y,         \
    .less_4 = few                                                                                                 \
  }

/* Bytes between two cores' buffers. */
static int buffer_pitch(const depthwise_t *d, int word_slack) {
  return d->kernel_x * (d->in_y + d->pad_top + d->pad_bottom) + d->kernel_x + (d->less_4 ? word_slack : 0);
}

static void check(const depthwise_t *d) {
  const int taps = d->kernel_x * d->kernel_y;
  const int word_slack = (4 - d->kernel_x % 4) % 4;
  if (d->in_x == 0 || d->in_y == 0 || d->out_x == 0 || d->out_y == 0 || d->channels == 0 || d->stride_x == 0 ||
      d->stride_y == 0 || taps == 0 || taps > MAX_TAPS || d->ch_in != d->channels) {
    match_twin_faultf("%s: a size is 0, channels differ, or there are more than %d taps", d->quant.kernel, MAX_TAPS);
  }
  if (!d->less_4 && taps < 4) {
    match_twin_faultf("%s reads 4 taps of a kernel of %d; there is a variant for fewer", d->quant.kernel, taps);
  }
  if ((d->out_y - 1) * d->stride_y + d->kernel_y > d->in_y + d->pad_top + d->pad_bottom) {
    match_twin_faultf("%s: output row %d needs more rows than input and padding have", d->quant.kernel, d->out_y - 1);
  }
  /* The last row's words must stay inside of the guard behind the buffer's rows. */
  const int last_row_end = d->kernel_x + word_slack + (d->pad_bottom == 0 ? d->pad_left : 0);
  if (!d->less_4 && last_row_end > 2 * d->kernel_x) {
    match_twin_faultf("%s: with kernel_x %d a core writes %d bytes into its neighbour's buffer", d->quant.kernel,
                      d->kernel_x, last_row_end - 2 * d->kernel_x);
  }
  gap9_check_l1(d->in, volume(d->in_y, d->in_x, d->channels), "depthwise input");
  gap9_check_l1(d->out, volume(d->out_y, d->out_x, d->channels), "depthwise output");
  gap9_check_l1(d->weights, volume(taps, d->channels, 1), "depthwise weights");
  gap9_check_l1(d->buffer, volume(NUM_CORES, buffer_pitch(d, word_slack), 1), "depthwise buffer");
  if (d->bias != NULL) {
    gap9_check_l1(d->bias, (size_t)d->channels, "depthwise bias");
  }
  pulp_nn_check_quant(&d->quant, (uint32_t)d->channels);
}

/* Zeros that the kernel puts left and right of the window of output column x, by its phases. */
static void phase_zeros(const depthwise_t *d, int x, int *left, int *right) {
  const int first_middle = d->pad_left == 0 ? 0 : (d->pad_left + d->stride_x - 1) / d->stride_x;
  bool middle = x == first_middle;
  if (d->less_4) {
    middle = middle || x * d->stride_x < d->out_x * d->stride_x - d->pad_right;
  } else {
    middle = middle || x < d->out_x - d->pad_right;
  }
  *left = 0;
  *right = 0;
  if (x < first_middle) {
    *left = d->pad_left - x * d->stride_x;
  } else if (!middle && d->less_4) {
    *right = 1 + (x - d->out_x) * d->stride_x + d->pad_right;
  } else if (!middle) {
    const int guessed = x * d->stride_x + 1 + d->kernel_x / 2 - d->in_x;
    *right = guessed > 0 ? guessed : 0;
  }
}

/* The middle phase runs once in any case; with no column left it writes beyond the row. */
static void check_columns(const depthwise_t *d) {
  const int first_middle = d->pad_left == 0 ? 0 : (d->pad_left + d->stride_x - 1) / d->stride_x;
  if (first_middle >= d->out_x) {
    match_twin_faultf("%s computes %d columns for an output of %d", d->quant.kernel, first_middle + 1, d->out_x);
  }
  for (int x = 0; x < d->out_x; x++) {
    const int first = x * d->stride_x - d->pad_left, end = first + d->kernel_x;
    int left, right;
    phase_zeros(d, x, &left, &right);
    if (left != (first < 0 ? -first : 0) || right != (end > d->in_x ? end - d->in_x : 0)) {
      match_twin_faultf("%s pads output column %d with %d and %d zeros, its window [%d, %d) of %d needs others",
                        d->quant.kernel, x, left, right, first, end, d->in_x);
    }
  }
}

/* The column of windows of output column x: rows from -pad_top to in_y + pad_bottom, kernel_x values each. */
static void fill_buffer(const depthwise_t *d, uint8_t *buffer, const uint8_t *plane, int x) {
  const int first = x * d->stride_x - d->pad_left;
  const int skip = first < 0 ? -first : 0;
  const int end = first + d->kernel_x < d->in_x ? first + d->kernel_x : d->in_x;
  const size_t width = (size_t)d->kernel_x;
  memset(buffer, 0, volume(d->in_y + d->pad_top + d->pad_bottom, d->kernel_x, 1));
  buffer += (size_t)d->pad_top * width;
  for (int y = 0; y < d->in_y; y++) {
    memcpy(buffer + skip, plane + volume(y, d->in_x, 1) + (first + skip), (size_t)(end - first - skip));
    buffer += width;
  }
}

static void depthwise(const depthwise_t *d) {
  const gap9_conv_shape_t shape = {.out_y = (uint32_t)d->out_y, .out_x = (uint32_t)d->out_x,
                                   .k_out = (uint32_t)d->channels, .kernel_y = (uint32_t)d->kernel_y,
                                   .kernel_x = (uint32_t)d->kernel_x};
  const char *const kernel = d->quant.kernel;
  const int core = gap9_enter_kernel(kernel);
  pulp_nn_charge(kernel, gap9_cost_depthwise(&shape, (uint32_t)d->in_y));
  PULP_NN_COUNT(kernel, DEPTHWISE_CALL, 1u);
  check(d);
  check_columns(d);
  const pulp_nn_share_t share = pulp_nn_share(core, d->channels);
  const int taps = d->kernel_x * d->kernel_y;
  uint8_t *buffer = d->buffer + volume(core, buffer_pitch(d, (4 - d->kernel_x % 4) % 4), 1);
  for (int channel = share.start; channel < share.stop; channel++) {
    const uint8_t *plane = d->in + volume(channel, d->in_y, d->in_x);
    const int8_t *weights = d->weights + volume(channel, taps, 1);
    for (int x = 0; x < d->out_x; x++) {
      fill_buffer(d, buffer, plane, x);
      PULP_NN_COUNT(kernel, DEPTHWISE_ROW, d->in_y);
      PULP_NN_COUNT(kernel, DEPTHWISE_OUTPUT, d->out_y);
      PULP_NN_COUNT(kernel, DEPTHWISE_WORD, (uint64_t)d->out_y * (uint64_t)(taps / 4));
      for (int y = 0; y < d->out_y; y++) {
        const uint8_t *window = buffer + volume(y, d->stride_y, d->kernel_x);
        int32_t sum = d->bias != NULL ? d->bias[channel] : 0;
        for (int tap = 0; tap < taps; tap++) {
          sum += (int32_t)window[tap] * (int32_t)weights[tap];
        }
        d->out[volume(y * d->out_x + x, d->channels, 1) + (size_t)channel] =
            pulp_nn_quantise(&d->quant, sum, channel);
      }
    }
  }
  pi_cl_team_barrier(0);
}

void pulp_nn_depthwise_generic(PARAMETERS) {
  const depthwise_t d = GATHER("pulp_nn_depthwise_generic", false);
  (void)bufferB;
  depthwise(&d);
}

void pulp_nn_depthwise_generic_less_4_weights(PARAMETERS) {
  const depthwise_t d = GATHER("pulp_nn_depthwise_generic_less_4_weights", true);
  (void)bufferB;
  depthwise(&d);
}
