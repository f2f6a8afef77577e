/* pulp_nn_misc.c - PULP-NN linear, add and pooling kernels, bit exact to the published 32-bit library.
 *
 * What the published sources do and a caller may trip over:
 * - linear_out_32 reads `bias` as int32 although its type says int8; linear adds an int8 bias to the raw sum.
 * - add takes its multipliers as int16 and narrows the shifted sum to uint16 before the clip: above 65535 it wraps.
 * - avgpool divides by kernel_x*kernel_y whatever the padding, truncating, in unsigned arithmetic that wraps at 2^32;
 *   out_add comes after the division, and a negative total with a shift comes out as 255, not 0.
 * - avgpool takes the start of its windows from pad_bottom and their end from pad_top, and the end in x from
 *   pad_right: only symmetric padding is right (the twin faults otherwise).
 * - maxpool works in place in its input along x, and is right only if pad_left <= stride_x - 1 or there is one
 *   output column (the twin faults otherwise); the input is lost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pmsis.h"
#include "pulp_nn_kernels.h"
#include "pulp_nn_twin.h"

static size_t volume(int a, int b, int c) { return (size_t)a * (size_t)b * (size_t)c; }

static int smaller(int a, int b) { return a < b ? a : b; }

static int larger(int a, int b) { return a > b ? a : b; }

/* ---- linear ---------------------------------------------------------------------------------------------- */

static int32_t row_sum(const uint8_t *in, const int8_t *weights, int length) {
  int32_t sum = 0;
  for (int i = 0; i < length; i++) {
    sum += (int32_t)in[i] * (int32_t)weights[i];
  }
  return sum;
}

void pulp_nn_linear(uint8_t *pInBuffer, int8_t *bias, uint8_t *pOutBuffer, int8_t *pWeights, int32_t *k,
                    int32_t *lambda, uint16_t out_mult, int8_t out_shift, uint16_t dim_vec, uint16_t num_o_neurons,
                    int flag_relu, int flag_batch_norm) {
  const char *name = "pulp_nn_linear";
  const uint16_t shift = (uint16_t)(out_shift < 0 ? UINT16_MAX : out_shift);
  const pulp_nn_quant_t quant = {name, k, lambda, out_mult, shift, flag_relu, flag_batch_norm};
  const int core = gap9_enter_kernel(name, gap9_cost_linear(dim_vec, num_o_neurons));
  gap9_check_l1(pInBuffer, dim_vec, "linear input");
  gap9_check_l1(pOutBuffer, num_o_neurons, "linear output");
  gap9_check_l1(pWeights, volume(dim_vec, num_o_neurons, 1), "linear weights");
  if (bias != NULL) {
    gap9_check_l1(bias, num_o_neurons, "linear bias");
  }
  pulp_nn_check_quant(&quant, num_o_neurons);
  const pulp_nn_share_t share = pulp_nn_share(core, num_o_neurons);
  for (int i = share.start; i < share.stop; i++) {
    const uint32_t start = (uint32_t)(bias != NULL ? bias[i] : 0);
    const uint32_t sum = start + (uint32_t)row_sum(pInBuffer, pWeights + volume(i, dim_vec, 1), dim_vec);
    pOutBuffer[i] = pulp_nn_quantise(&quant, pulp_nn_wrap(sum), i);
  }
  pi_cl_team_barrier(0);
}

void pulp_nn_linear_out_32(uint8_t *pInBuffer, int8_t *bias, int32_t *pOutBuffer, int8_t *pWeights, uint16_t dim_vec,
                           uint16_t num_o_neurons) {
  const int core = gap9_enter_kernel("pulp_nn_linear_out_32", gap9_cost_linear(dim_vec, num_o_neurons));
  gap9_check_l1(pInBuffer, dim_vec, "linear input");
  gap9_check_l1(pOutBuffer, num_o_neurons * sizeof(int32_t), "linear output");
  gap9_check_l1(pWeights, volume(dim_vec, num_o_neurons, 1), "linear weights");
  if (bias != NULL) {
    gap9_check_l1(bias, num_o_neurons * sizeof(int32_t), "linear bias");
  }
  const pulp_nn_share_t share = pulp_nn_share(core, num_o_neurons);
  for (int i = share.start; i < share.stop; i++) {
    uint32_t start = 0u;
    if (bias != NULL) {
      memcpy(&start, bias + 4 * i, sizeof start);
    }
    pOutBuffer[i] =
        pulp_nn_wrap(start + (uint32_t)row_sum(pInBuffer, pWeights + volume(i, dim_vec, 1), dim_vec));
  }
  pi_cl_team_barrier(0);
}

/* ---- add ------------------------------------------------------------------------------------------------- */

static int32_t as_int16(uint16_t bits) { return bits <= 0x7FFFu ? (int32_t)bits : (int32_t)bits - 0x10000; }

void pulp_nn_add(uint8_t *Im_in_1, uint8_t *Im_in_2, uint8_t *Im_out, uint16_t out_mult1, uint16_t out_mult2,
                 uint16_t out_shift, uint16_t dim_im_in_h, uint16_t dim_im_in_w, uint16_t ch_im_in) {
  const int core = gap9_enter_kernel("pulp_nn_add", gap9_cost_add(dim_im_in_h, dim_im_in_w, ch_im_in));
  const size_t row = volume(dim_im_in_w, ch_im_in, 1);
  const int32_t m1 = as_int16(out_mult1), m2 = as_int16(out_mult2);
  gap9_check_l1(Im_in_1, row * dim_im_in_h, "first operand of add");
  gap9_check_l1(Im_in_2, row * dim_im_in_h, "second operand of add");
  gap9_check_l1(Im_out, row * dim_im_in_h, "output of add");
  if (row == 0u || dim_im_in_h == 0u || out_shift > 31u) {
    match_twin_faultf("pulp_nn_add: a size is 0 or the shift is %u", out_shift);
  }
  const pulp_nn_share_t share = pulp_nn_row_share(core, dim_im_in_h, NUM_CORES - 1);
  for (size_t i = (size_t)share.start * row; i < (size_t)share.stop * row; i++) {
    const uint32_t sum = (uint32_t)(Im_in_1[i] * m1 + Im_in_2[i] * m2);
    const uint16_t narrowed = (uint16_t)((sum >> out_shift) & 0xFFFFu);
    Im_out[i] = pulp_nn_clip_u8(narrowed);
  }
  pi_cl_team_barrier(0);
}

/* ---- pooling --------------------------------------------------------------------------------------------- */

static void check_pool(const char *name, const uint8_t *in, size_t in_size, const uint8_t *out, size_t out_size,
                       int stride_x, int stride_y, int taps) {
  if (in_size == 0u || out_size == 0u || stride_x == 0 || stride_y == 0 || taps == 0) {
    match_twin_faultf("%s: a size is 0", name);
  }
  gap9_check_l1(in, in_size, "pooling input");
  gap9_check_l1(out, out_size, "pooling output");
}

void pulp_nn_avgpool(uint8_t *Im_in, uint8_t *Im_out, int32_t lambda, uint16_t out_shift, int32_t out_add,
                     uint16_t dim_im_in_x, uint16_t dim_im_in_y, uint16_t ch_im_in, uint16_t dim_im_out_x,
                     uint16_t dim_im_out_y, uint16_t dim_kernel_x, uint16_t dim_kernel_y, uint16_t padding_t,
                     uint16_t padding_b, uint16_t padding_l, uint16_t padding_r, uint16_t stride_x,
                     uint16_t stride_y, int flag_requant) {
  const char *name = "pulp_nn_avgpool";
  const gap9_conv_shape_t shape = {.out_y = dim_im_out_y, .out_x = dim_im_out_x, .k_out = ch_im_in,
                                   .kernel_y = dim_kernel_y, .kernel_x = dim_kernel_x};
  const int core = gap9_enter_kernel(name, gap9_cost_avgpool(&shape));
  const int channels = ch_im_in;
  const uint32_t taps = (uint32_t)dim_kernel_x * dim_kernel_y;
  check_pool(name, Im_in, volume(dim_im_in_y, dim_im_in_x, channels), Im_out,
             volume(dim_im_out_y, dim_im_out_x, channels), stride_x, stride_y, (int)taps);
  if (padding_t != padding_b || padding_l != padding_r) {
    match_twin_faultf("%s mixes up its paddings; only symmetric ones are right (%u %u %u %u)", name, padding_t,
                      padding_b, padding_l, padding_r);
  }
  if (out_shift > 31u) {
    match_twin_faultf("%s: a shift by %u", name, out_shift);
  }
  const pulp_nn_share_t share = pulp_nn_row_share(core, dim_im_out_y, smaller(dim_im_out_y, NUM_CORES) - 1);
  for (int y = share.start; y < share.stop; y++) {
    const int y_start = larger(0, y * stride_y - padding_b);
    const int y_end = smaller(y * stride_y - padding_t + dim_kernel_y, dim_im_in_y);
    for (int x = 0; x < dim_im_out_x; x++) {
      const int x_start = larger(0, x * stride_x - padding_l);
      const int x_end = smaller(x * stride_x - padding_r + dim_kernel_x, dim_im_in_x);
      uint8_t *out = Im_out + volume(y * dim_im_out_x + x, channels, 1);
      for (int channel = 0; channel < channels; channel++) {
        uint32_t sum = 0u;
        for (int in_y = y_start; in_y < y_end; in_y++) {
          for (int in_x = x_start; in_x < x_end; in_x++) {
            sum += Im_in[volume(in_y * dim_im_in_x + in_x, channels, 1) + (size_t)channel];
          }
        }
        const uint32_t total =
            flag_requant != 0 ? (sum * (uint32_t)lambda / taps + (uint32_t)out_add) >> out_shift : sum / taps;
        out[channel] = pulp_nn_clip_u8(pulp_nn_wrap(total));
      }
    }
  }
  pi_cl_team_barrier(0);
}

static void keep_larger(uint8_t *target, const uint8_t *other, size_t count) {
  for (size_t i = 0u; i < count; i++) {
    target[i] = other[i] > target[i] ? other[i] : target[i];
  }
}

void pulp_nn_maxpool(uint8_t *Im_in, uint8_t *Im_out, uint16_t dim_im_in_x, uint16_t dim_im_in_y, uint16_t ch_im_in,
                     uint16_t dim_im_out_x, uint16_t dim_im_out_y, uint16_t dim_kernel_x, uint16_t dim_kernel_y,
                     uint16_t padding_t, uint16_t padding_b, uint16_t padding_l, uint16_t padding_r,
                     uint16_t stride_x, uint16_t stride_y) {
  const char *name = "pulp_nn_maxpool";
  const gap9_conv_shape_t shape = {.out_y = dim_im_out_y, .out_x = dim_im_out_x, .k_out = ch_im_in,
                                   .kernel_y = dim_kernel_y, .kernel_x = dim_kernel_x};
  const int core = gap9_enter_kernel(name, gap9_cost_maxpool(&shape, dim_im_in_y));
  const size_t pixel = ch_im_in, in_row = volume(dim_im_in_x, ch_im_in, 1), out_row = volume(dim_im_out_x, ch_im_in, 1);
  (void)padding_b;
  (void)padding_r;
  check_pool(name, Im_in, in_row * dim_im_in_y, Im_out, out_row * dim_im_out_y, stride_x, stride_y,
             dim_kernel_x * dim_kernel_y);
  if (dim_im_out_x > 1 && padding_l >= stride_x) {
    match_twin_faultf("%s overwrites columns it still needs: padding %u, stride %u", name, padding_l, stride_x);
  }
  if (dim_im_out_x > dim_im_in_x || padding_l >= dim_kernel_x || padding_t >= dim_kernel_y ||
      (dim_im_out_x - 1) * stride_x - padding_l >= dim_im_in_x ||
      (dim_im_out_y - 1) * stride_y - padding_t >= dim_im_in_y) {
    match_twin_faultf("%s: a window has no input, or the output is wider than the input", name);
  }
  /* Along x, in place: the maximum of window x lands in column x. */
  const pulp_nn_share_t rows = pulp_nn_row_share(core, dim_im_in_y, NUM_CORES - 1);
  for (int y = rows.start; y < rows.stop; y++) {
    uint8_t *row = Im_in + (size_t)y * in_row;
    for (int x = 0; x < dim_im_out_x; x++) {
      const int first = larger(x * stride_x - padding_l, 0);
      const int end = smaller(x * stride_x - padding_l + dim_kernel_x, dim_im_in_x);
      uint8_t *target = row + (size_t)x * pixel;
      memmove(target, row + (size_t)first * pixel, pixel);
      for (int in_x = first + 1; in_x < end; in_x++) {
        keep_larger(target, row + (size_t)in_x * pixel, pixel);
      }
    }
  }
  pi_cl_team_barrier(0);
  const pulp_nn_share_t out_rows = pulp_nn_row_share(core, dim_im_out_y, NUM_CORES - 1);
  for (int y = out_rows.start; y < out_rows.stop; y++) {
    const int first = larger(y * stride_y - padding_t, 0);
    const int end = smaller(y * stride_y - padding_t + dim_kernel_y, dim_im_in_y);
    uint8_t *target = Im_out + (size_t)y * out_row;
    memcpy(target, Im_in + (size_t)first * in_row, out_row);
    for (int in_y = first + 1; in_y < end; in_y++) {
      keep_larger(target, Im_in + (size_t)in_y * in_row, out_row);
    }
  }
  pi_cl_team_barrier(0);
}
