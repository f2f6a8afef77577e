/* match_gap9_kernels.c - cluster kernels for what PULP-NN cannot compute exactly.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_kernels.h"

#include "pmsis.h"

#ifndef NUM_CORES
#define NUM_CORES 8
#endif

/* Cycle hooks of the twin; nothing on silicon. */
#ifndef MATCH_GAP9_CHARGE_ADD_REQUANT
#define MATCH_GAP9_CHARGE_ADD_REQUANT(n) ((void)0)
#define MATCH_GAP9_CHARGE_REQUANT(n) ((void)0)
#define MATCH_GAP9_CHARGE_TRANSPOSE(pixels, channels) ((void)0)
#define MATCH_GAP9_CHARGE_POOL(out_y, out_x, channels, kernel_y, kernel_x, requant) ((void)0)
#endif

typedef struct {
  uint32_t start, stop;
} range_t;

/* This core's share of n items in equal chunks. */
static range_t my_share(uint32_t n)
{
  const uint32_t chunk = (n + (uint32_t)NUM_CORES - 1u) / (uint32_t)NUM_CORES;
  const uint32_t start = chunk * (uint32_t)pi_core_id();
  range_t share;
  share.start = (start < n) ? start : n;
  share.stop = (n - share.start < chunk) ? n : share.start + chunk;
  return share;
}

static uint8_t clip_u8(int32_t value)
{
  return (uint8_t)((value < 0) ? 0 : ((value > 255) ? 255 : value));
}

void match_gap9_add_requant(const uint8_t *a, const uint8_t *b, uint8_t *out, int32_t ma, int32_t mb, int32_t bias,
                            uint32_t shift, uint32_t n)
{
  const range_t share = my_share(n);
  MATCH_GAP9_CHARGE_ADD_REQUANT(n);
  for (uint32_t i = share.start; i < share.stop; i++) {
    out[i] = clip_u8((ma * (int32_t)a[i] + mb * (int32_t)b[i] + bias) >> shift);
  }
  pi_cl_team_barrier(0);
}

void match_gap9_requant_u8(const uint8_t *in, uint8_t *out, int32_t m, int32_t bias, uint32_t shift, uint32_t n)
{
  const range_t share = my_share(n);
  MATCH_GAP9_CHARGE_REQUANT(n);
  for (uint32_t i = share.start; i < share.stop; i++) {
    out[i] = clip_u8((m * (int32_t)in[i] + bias) >> shift);
  }
  pi_cl_team_barrier(0);
}

void match_gap9_hwc_to_chw(const uint8_t *in, uint8_t *out, const match_gap9_planes_t *planes)
{
  const uint32_t width = planes->pad_left + planes->in_x + planes->pad_right;
  const uint32_t height = planes->pad_top + planes->in_y + planes->pad_bottom;
  const range_t share = my_share(planes->channels);
  MATCH_GAP9_CHARGE_TRANSPOSE(width * height, planes->channels);
  for (uint32_t channel = share.start; channel < share.stop; channel++) {
    uint8_t *pixel = out + channel * width * height;
    for (uint32_t y = 0u; y < height; y++) {
      const uint32_t row = y - planes->pad_top; /* wraps above the tile, and is then out of range */
      for (uint32_t x = 0u; x < width; x++) {
        const uint32_t column = x - planes->pad_left;
        const int inside = (row < planes->in_y) && (column < planes->in_x);
        *pixel++ = inside ? in[(row * planes->in_x + column) * planes->channels + channel] : planes->pad_value;
      }
    }
  }
  pi_cl_team_barrier(0);
}

/* Rows and columns [start, stop) of the input under one window; empty windows have start == stop. */
static range_t window(uint32_t out, uint32_t stride, uint32_t pad, uint32_t kernel, uint32_t size)
{
  const uint32_t first = out * stride; /* pad pixels before the input */
  const uint32_t end = first + kernel;
  range_t valid;
  valid.start = (first > pad) ? first - pad : 0u;
  valid.stop = (end > pad) ? end - pad : 0u;
  if (valid.stop > size) {
    valid.stop = size;
  }
  if (valid.start > valid.stop) {
    valid.start = valid.stop;
  }
  return valid;
}

/* The sum of one output element's window, padding included. */
static int32_t window_sum(const uint8_t *in, const match_gap9_pool_t *pool, uint32_t element)
{
  const uint32_t pixel = element / pool->channels, channel = element % pool->channels;
  const range_t rows = window(pixel / pool->out_x, pool->stride_y, pool->pad_top, pool->kernel_y, pool->in_y);
  const range_t columns = window(pixel % pool->out_x, pool->stride_x, pool->pad_left, pool->kernel_x, pool->in_x);
  const uint32_t taps = (uint32_t)pool->kernel_x * pool->kernel_y;
  const uint32_t valid = (rows.stop - rows.start) * (columns.stop - columns.start);
  uint32_t sum = (taps - valid) * pool->pad_value;
  for (uint32_t y = rows.start; y < rows.stop; y++) {
    for (uint32_t x = columns.start; x < columns.stop; x++) {
      sum += in[(y * pool->in_x + x) * pool->channels + channel];
    }
  }
  return (int32_t)sum;
}

void match_gap9_avgpool_requant(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool, int32_t m,
                                int32_t bias, uint32_t shift)
{
  const range_t share = my_share((uint32_t)pool->out_x * pool->out_y * pool->channels);
  MATCH_GAP9_CHARGE_POOL(pool->out_y, pool->out_x, pool->channels, pool->kernel_y, pool->kernel_x, 1);
  for (uint32_t element = share.start; element < share.stop; element++) {
    out[element] = clip_u8((window_sum(in, pool, element) * m + bias) >> shift);
  }
  pi_cl_team_barrier(0);
}

void match_gap9_avgpool_even(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool, uint32_t shift)
{
  const range_t share = my_share((uint32_t)pool->out_x * pool->out_y * pool->channels);
  const uint32_t half = 1u << (shift - 1u);
  MATCH_GAP9_CHARGE_POOL(pool->out_y, pool->out_x, pool->channels, pool->kernel_y, pool->kernel_x, 1);
  for (uint32_t element = share.start; element < share.stop; element++) {
    const uint32_t sum = (uint32_t)window_sum(in, pool, element);
    const uint32_t quotient = sum >> shift, rest = sum & (2u * half - 1u);
    out[element] = (uint8_t)(quotient + ((rest + (quotient & 1u) > half) ? 1u : 0u));
  }
  pi_cl_team_barrier(0);
}

void match_gap9_maxpool(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool)
{
  const uint32_t channels = pool->channels;
  const range_t share = my_share((uint32_t)pool->out_x * pool->out_y);
  MATCH_GAP9_CHARGE_POOL(pool->out_y, pool->out_x, channels, pool->kernel_y, pool->kernel_x, 0);
  for (uint32_t pixel = share.start; pixel < share.stop; pixel++) {
    const range_t rows = window(pixel / pool->out_x, pool->stride_y, pool->pad_top, pool->kernel_y, pool->in_y);
    const range_t columns = window(pixel % pool->out_x, pool->stride_x, pool->pad_left, pool->kernel_x, pool->in_x);
    for (uint32_t channel = 0u; channel < channels; channel++) {
      uint8_t most = 0u;
      for (uint32_t y = rows.start; y < rows.stop; y++) {
        for (uint32_t x = columns.start; x < columns.stop; x++) {
          const uint8_t value = in[(y * pool->in_x + x) * channels + channel];
          most = (value > most) ? value : most;
        }
      }
      out[pixel * channels + channel] = most;
    }
  }
  pi_cl_team_barrier(0);
}
