/* match_gap9_kernels.c - cluster kernels for what PULP-NN cannot compute exactly.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_kernels.h"

#include "match_gap9_clip.h"
#include "match_gap9_cores.h"
#include "pmsis.h"

#ifndef NUM_CORES
#define NUM_CORES 8
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

void match_gap9_add_requant(const uint8_t *a, const uint8_t *b, uint8_t *out, int32_t ma, int32_t mb, int32_t bias,
                            uint32_t shift, uint32_t n)
{
  const range_t share = my_share(n);
  uint32_t i = share.start;
  MATCH_GAP9_COUNT(ADD_CALL, 1u);
  MATCH_GAP9_COUNT(ADD_QUAD, (share.stop - share.start + 3u) / 4u);
  /* Four at once, and all loads before the first store: a compiler does not move them over it, as `out` may be `a`. */
  for (; share.stop - i >= 4u; i += 4u) {
    const int32_t sum0 = ma * (int32_t)a[i] + mb * (int32_t)b[i] + bias;
    const int32_t sum1 = ma * (int32_t)a[i + 1u] + mb * (int32_t)b[i + 1u] + bias;
    const int32_t sum2 = ma * (int32_t)a[i + 2u] + mb * (int32_t)b[i + 2u] + bias;
    const int32_t sum3 = ma * (int32_t)a[i + 3u] + mb * (int32_t)b[i + 3u] + bias;
    out[i] = match_gap9_clip_u8(sum0 >> shift);
    out[i + 1u] = match_gap9_clip_u8(sum1 >> shift);
    out[i + 2u] = match_gap9_clip_u8(sum2 >> shift);
    out[i + 3u] = match_gap9_clip_u8(sum3 >> shift);
  }
  for (; i < share.stop; i++) {
    out[i] = match_gap9_clip_u8((ma * (int32_t)a[i] + mb * (int32_t)b[i] + bias) >> shift);
  }
  pi_cl_team_barrier(0);
}

void match_gap9_hwc_to_chw(const uint8_t *in, uint8_t *out, const match_gap9_planes_t *planes)
{
  const uint32_t width = planes->pad_left + planes->in_x + planes->pad_right;
  const uint32_t height = planes->pad_top + planes->in_y + planes->pad_bottom;
  const range_t share = my_share(planes->channels);
  MATCH_GAP9_COUNT(TURN_PIXEL, (share.stop - share.start) * width * height);
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
static range_t valid_part(uint32_t out, uint32_t stride, uint32_t pad, uint32_t kernel, uint32_t size)
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

/* The window of an output pixel. */
typedef struct {
  range_t rows, columns;
  uint32_t padding; /* what its padding adds to the sum */
} window_t;

static window_t window_of(const match_gap9_pool_t *pool, uint32_t pixel)
{
  const uint32_t y = pixel / pool->out_x, taps = (uint32_t)pool->kernel_x * pool->kernel_y;
  window_t w;
  w.rows = valid_part(y, pool->stride_y, pool->pad_top, pool->kernel_y, pool->in_y);
  w.columns = valid_part(pixel - y * pool->out_x, pool->stride_x, pool->pad_left, pool->kernel_x, pool->in_x);
  w.padding = (taps - (w.rows.stop - w.rows.start) * (w.columns.stop - w.columns.start)) * pool->pad_value;
  return w;
}

/* The sum of one channel in a window, padding included. */
static uint32_t window_sum(const uint8_t *in, const match_gap9_pool_t *pool, const window_t *w, uint32_t channel)
{
  uint32_t sum = w->padding;
  MATCH_GAP9_COUNT(AVGPOOL_ELEMENT, 1u);
  MATCH_GAP9_COUNT(AVGPOOL_ROW, w->rows.stop - w->rows.start);
  MATCH_GAP9_COUNT(AVGPOOL_TAP, (w->rows.stop - w->rows.start) * (w->columns.stop - w->columns.start));
  for (uint32_t y = w->rows.start; y < w->rows.stop; y++) {
    const uint8_t *value = in + (y * pool->in_x + w->columns.start) * pool->channels + channel;
    for (uint32_t x = w->columns.start; x < w->columns.stop; x++, value += pool->channels) {
      sum += *value;
    }
  }
  return sum;
}

/* The first element of the next pixel, or the end of the share. */
static uint32_t end_of_pixel(const match_gap9_pool_t *pool, uint32_t pixel, uint32_t stop)
{
  const uint32_t end = (pixel + 1u) * pool->channels;
  return (end < stop) ? end : stop;
}

void match_gap9_avgpool_requant(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool, int32_t m,
                                int32_t bias, uint32_t shift)
{
  const range_t share = my_share((uint32_t)pool->out_x * pool->out_y * pool->channels);
  MATCH_GAP9_COUNT(AVGPOOL_CALL, 1u);
  uint32_t element = share.start;
  for (uint32_t pixel = element / pool->channels; element < share.stop; pixel++) {
    const window_t w = window_of(pool, pixel);
    const uint32_t first = pixel * pool->channels, end = end_of_pixel(pool, pixel, share.stop);
    MATCH_GAP9_COUNT(AVGPOOL_PIXEL, 1u);
    for (; element < end; element++) {
      const int32_t sum = (int32_t)window_sum(in, pool, &w, element - first);
      out[element] = match_gap9_clip_u8((sum * m + bias) >> shift);
    }
  }
  pi_cl_team_barrier(0);
}

void match_gap9_avgpool_even(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool, uint32_t shift)
{
  const range_t share = my_share((uint32_t)pool->out_x * pool->out_y * pool->channels);
  const uint32_t half = 1u << (shift - 1u);
  MATCH_GAP9_COUNT(AVGPOOL_CALL, 1u);
  uint32_t element = share.start;
  for (uint32_t pixel = element / pool->channels; element < share.stop; pixel++) {
    const window_t w = window_of(pool, pixel);
    const uint32_t first = pixel * pool->channels, end = end_of_pixel(pool, pixel, share.stop);
    MATCH_GAP9_COUNT(AVGPOOL_PIXEL, 1u);
    for (; element < end; element++) {
      const uint32_t sum = window_sum(in, pool, &w, element - first);
      const uint32_t quotient = sum >> shift, rest = sum & (2u * half - 1u);
      out[element] = (uint8_t)(quotient + ((rest + (quotient & 1u) > half) ? 1u : 0u));
    }
  }
  pi_cl_team_barrier(0);
}

void match_gap9_maxpool(const uint8_t *in, uint8_t *out, const match_gap9_pool_t *pool)
{
  const uint32_t channels = pool->channels;
  const range_t share = my_share((uint32_t)pool->out_x * pool->out_y);
  MATCH_GAP9_COUNT(MAXPOOL_CALL, 1u);
  for (uint32_t pixel = share.start; pixel < share.stop; pixel++) {
    const window_t w = window_of(pool, pixel);
    const uint32_t rows = w.rows.stop - w.rows.start;
    MATCH_GAP9_COUNT(MAXPOOL_PIXEL, 1u);
    MATCH_GAP9_COUNT(MAXPOOL_ELEMENT, channels);
    MATCH_GAP9_COUNT(MAXPOOL_ROW, channels * rows);
    MATCH_GAP9_COUNT(MAXPOOL_TAP, channels * rows * (w.columns.stop - w.columns.start));
    for (uint32_t channel = 0u; channel < channels; channel++) {
      uint8_t most = 0u;
      for (uint32_t y = w.rows.start; y < w.rows.stop; y++) {
        for (uint32_t x = w.columns.start; x < w.columns.stop; x++) {
          const uint8_t value = in[(y * pool->in_x + x) * channels + channel];
          most = (value > most) ? value : most;
        }
      }
      out[pixel * channels + channel] = most;
    }
  }
  pi_cl_team_barrier(0);
}
