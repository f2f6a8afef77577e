/* pulp_nn_conv.c - PULP-NN convolutions and pointwise convolutions, bit exact to the published 32-bit library.
 *
 * What the published sources do and a caller may trip over:
 * - im2col checks borders only where it expects padding: in the first pad_top and last pad_bottom output rows, and
 *   elsewhere in the first pad_left and last pad_right output columns. A window that leaves the input anywhere else
 *   reads its neighbours; the twin faults.
 * - padding is zero, whatever the zero point.
 * - kappa and lambda count only with both flags set; without them the int8 bias is added to the raw sum.
 * - pointwise kernels ignore stride, padding and kernel size; their im2col buffer is not touched.
 * The twin faults wherever the published result would not be the convolution.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pmsis.h"
#include "pulp_nn_kernels.h"
#include "pulp_nn_twin.h"

#define MAX_LENGTH 65535u /* the library counts im2col values in uint16 */

typedef struct {
  pulp_nn_quant_t quant;
  const uint8_t *in;
  uint8_t *columns; /* this core's im2col buffer: two columns */
  const int8_t *bias;
  uint8_t *out;
  const int16_t *weights;
  size_t length, padded;
  int in_x, in_y, ch_in, out_x, out_y, ch_out;
  int kernel_x, kernel_y, pad_top, pad_bottom, pad_left, pad_right, stride_x, stride_y;
} conv_t;

#define PARAMETERS                                                                                                 \
  const uint8_t *pInBuffer, uint8_t *pIm2ColBuffer, const int8_t *bias, uint8_t *pOutBuffer, const int8_t *pWeight, \
      int32_t *k, int32_t *lambda, const uint16_t out_mult, const uint16_t out_shift, const uint16_t dim_in_x,       \
      const uint16_t dim_in_y, const uint16_t ch_in, const uint16_t dim_out_x, const uint16_t dim_out_y,             \
      const uint16_t ch_out, const uint16_t dim_kernel_x, const uint16_t dim_kernel_y,                               \
      const uint16_t padding_y_top, const uint16_t padding_y_bottom, const uint16_t padding_x_left,                  \
      const uint16_t padding_x_right, const uint16_t stride_x, const uint16_t stride_y, int flag_relu,               \
      int flag_batch_norm

/* `columns` is the buffer of all cores here; enter() moves it to this core's. */
#define GATHER(name)                                                                                          \
  {                                                                                                           \
    .quant = {name, k, lambda, out_mult, out_shift, flag_relu, flag_batch_norm}, .in = pInBuffer,             \
    .columns = pIm2ColBuffer, .bias = bias, .out = pOutBuffer, .in_x = dim_in_x, .in_y = dim_in_y,            \
    .ch_in = ch_in, .out_x = dim_out_x, .out_y = dim_out_y, .ch_out = ch_out, .kernel_x = dim_kernel_x,       \
    .kernel_y = dim_kernel_y, .pad_top = padding_y_top, .pad_bottom = padding_y_bottom,                       \
    .pad_left = padding_x_left, .pad_right = padding_x_right, .stride_x = stride_x, .stride_y = stride_y,     \
    .length = (size_t)dim_kernel_x * dim_kernel_y * ch_in                                                     \
  }

static gap9_conv_shape_t shape_of(const conv_t *c) {
  return (gap9_conv_shape_t){.out_y = (uint32_t)c->out_y,
                             .out_x = (uint32_t)c->out_x,
                             .k_out = (uint32_t)c->ch_out,
                             .c_in = (uint32_t)c->ch_in,
                             .kernel_y = (uint32_t)c->kernel_y,
                             .kernel_x = (uint32_t)c->kernel_x};
}

/* Checks the call, charges it once and prepares this core. Returns the core. */
static int enter(conv_t *c, const int8_t *weights, bool pointwise) {
  const gap9_conv_shape_t shape = shape_of(c);
  const int core = gap9_enter_kernel(c->quant.kernel);
  pulp_nn_charge(c->quant.kernel, pointwise ? gap9_cost_pointwise(&shape) : gap9_cost_conv(&shape));
  PULP_NN_COUNT(c->quant.kernel, CONV_CALL, 1u);
  if (c->length == 0u || c->length > MAX_LENGTH || c->in_x == 0 || c->in_y == 0 || c->out_x == 0 || c->out_y == 0 ||
      c->ch_out == 0 || c->stride_x == 0 || c->stride_y == 0) {
    match_twin_faultf("%s: a size is 0, or kernel times channels (%zu) exceeds %u", c->quant.kernel, c->length,
                      MAX_LENGTH);
  }
  gap9_check_l1(c->in, volume(c->in_y, c->in_x, c->ch_in), "convolution input");
  gap9_check_l1(c->out, volume(c->out_y, c->out_x, c->ch_out), "convolution output");
  if (c->bias != NULL) {
    gap9_check_l1(c->bias, (size_t)c->ch_out, "convolution bias");
  }
  pulp_nn_check_quant(&c->quant, (uint32_t)c->ch_out);
  if (pointwise) {
    if (c->kernel_x != 1 || c->kernel_y != 1 || c->stride_x != 1 || c->stride_y != 1 || c->pad_top != 0 ||
        c->pad_bottom != 0 || c->pad_left != 0 || c->pad_right != 0 || c->out_x > c->in_x || c->out_y > c->in_y) {
      match_twin_faultf("%s ignores kernel size, stride and padding, and reads in place", c->quant.kernel);
    }
  } else {
    gap9_check_l1(c->columns, 2u * (size_t)NUM_CORES * c->length, "im2col buffer");
    c->columns += 2u * (size_t)core * c->length;
  }
  c->padded = pulp_nn_padded(c->length);
  c->weights = pulp_nn_widen(weights, (size_t)c->ch_out, c->length);
  return core;
}

/* Writes the im2col column of output pixel (y, x). */
static void im2col(const conv_t *c, int y, int x, uint8_t *column) {
  const bool y_checked = y < c->pad_top || y >= c->out_y - c->pad_bottom;
  const bool x_checked = y_checked || x < c->pad_left || x >= c->out_x - c->pad_right;
  const size_t pixel = (size_t)c->ch_in;
  const int first_y = y * c->stride_y - c->pad_top, first_x = x * c->stride_x - c->pad_left;
  for (int in_y = first_y; in_y < first_y + c->kernel_y; in_y++) {
    const bool y_inside = in_y >= 0 && in_y < c->in_y;
    if (y_inside && first_x >= 0 && first_x + c->kernel_x <= c->in_x) {
      memcpy(column, c->in + volume(in_y, c->in_x, c->ch_in) + (size_t)first_x * pixel, (size_t)c->kernel_x * pixel);
      column += (size_t)c->kernel_x * pixel;
      continue;
    }
    for (int in_x = first_x; in_x < first_x + c->kernel_x; in_x++) {
      const bool x_inside = in_x >= 0 && in_x < c->in_x;
      if ((!y_inside && !y_checked) || (!x_inside && !x_checked)) {
        match_twin_faultf("%s: the window of output (%d, %d) leaves the input where the kernel does not pad",
                          c->quant.kernel, y, x);
      }
      if (y_inside && x_inside) {
        memcpy(column, c->in + volume(in_y, c->in_x, c->ch_in) + (size_t)in_x * pixel, pixel);
      } else {
        memset(column, 0, pixel);
      }
      column += pixel;
    }
  }
}

/* One output pixel from a column of `length` values. */
static void matmul(const conv_t *c, const uint8_t *column, uint8_t *out) {
  static int16_t wide[MAX_LENGTH + 16u];
  for (size_t i = 0u; i < c->length; i++) {
    wide[i] = column[i];
  }
  memset(&wide[c->length], 0, (c->padded - c->length) * sizeof(int16_t));
  for (int channel = 0; channel < c->ch_out; channel++) {
    const int32_t bias = c->bias != NULL ? c->bias[channel] : 0;
    const int32_t sum = pulp_nn_dot(wide, &c->weights[(size_t)channel * c->padded], c->padded);
    out[channel] = pulp_nn_quantise(&c->quant, pulp_nn_wrap((uint32_t)sum + (uint32_t)bias), channel);
  }
}

/* The products of an output row: blocks of two pixels by four channels, leftover channels, and the last pixel of an odd
 * row. */
static void count_products(const conv_t *c) {
  const char *const kernel = c->quant.kernel;
  const uint64_t words = c->length / 4u, taps = c->length % 4u, pairs = (uint64_t)c->out_x / 2u;
  const uint64_t blocks = pairs * ((uint64_t)c->ch_out / 4u), rest = pairs * ((uint64_t)c->ch_out % 4u);
  PULP_NN_COUNT(kernel, BLOCK, blocks);
  PULP_NN_COUNT(kernel, BLOCK_WORD, blocks * words);
  PULP_NN_COUNT(kernel, BLOCK_TAP, blocks * taps);
  PULP_NN_COUNT(kernel, REST_WORD, rest * words);
  PULP_NN_COUNT(kernel, REST_TAP, rest * taps);
  PULP_NN_COUNT(kernel, SINGLE_WORD, (uint64_t)(c->out_x % 2) * (uint64_t)c->ch_out * words);
}

static void convolve(const conv_t *c, pulp_nn_share_t rows) {
  unsigned parity = 0u;
  for (int y = rows.start; y < rows.stop; y++) {
    PULP_NN_COUNT(c->quant.kernel, CONV_ROW, 1u);
    PULP_NN_COUNT(c->quant.kernel, IM2COL_WORD, (uint64_t)c->out_x * c->length / 4u);
    count_products(c);
    for (int x = 0; x < c->out_x; x++) {
      uint8_t *column = c->columns + parity * c->length;
      im2col(c, y, x, column);
      matmul(c, column, c->out + volume(y * c->out_x + x, 1, c->ch_out));
      parity = 1u - parity;
    }
  }
}

static void pointwise(const conv_t *c, pulp_nn_share_t rows) {
  for (int y = rows.start; y < rows.stop; y++) {
    PULP_NN_COUNT(c->quant.kernel, POINTWISE_PAIR, (uint64_t)c->out_x / 2u);
    count_products(c);
    for (int x = 0; x < c->out_x; x++) {
      matmul(c, c->in + volume(y * c->in_x + x, 1, c->ch_in), c->out + volume(y * c->out_x + x, 1, c->ch_out));
    }
  }
}

void pulp_nn_conv_Ho_parallel(PARAMETERS) {
  conv_t c = GATHER("pulp_nn_conv_Ho_parallel");
  const int core = enter(&c, pWeight, false);
  convolve(&c, pulp_nn_share(core, c.out_y));
  pi_cl_team_barrier(0);
}

void pulp_nn_pointwise_Ho_parallel(PARAMETERS) {
  conv_t c = GATHER("pulp_nn_pointwise_Ho_parallel");
  const int core = enter(&c, pWeight, true);
  pointwise(&c, pulp_nn_share(core, c.out_y));
  pi_cl_team_barrier(0);
}
