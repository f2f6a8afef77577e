/* ${name}_twin.c - the SDK on the development machine: the same results, and the chip's cycles. */
#include <string.h>

#include "${name}_sdk.h"
#include "match_twin.h"
#include "match_twin_clocks.h" /* numbers of the clocks that emit.py names */

enum { HOST = MATCH_TWIN_CLOCK_HOST, DMA = MATCH_TWIN_CLOCK_DMA, ARRAY = MATCH_TWIN_CLOCK_${name.upper()}_ARRAY };

typedef struct {
    uint8_t *to;
    const uint8_t *from;
    size_t planes, rows, bytes, to_row, to_plane, from_row, from_plane;
} copy_t;

static uint64_t copies[64], copies_end, kernel, kernel_end;
static uint32_t copies_count;

static void do_copy(void *argument)
{
    const copy_t *const c = argument;
    for (size_t row = 0u; row < c->planes * c->rows; row++) {
        const size_t plane = row / c->rows, rest = row % c->rows;
        memcpy(c->to + plane * c->to_plane + rest * c->to_row, c->from + plane * c->from_plane + rest * c->from_row,
               c->bytes);
    }
}

/* Data in flight must not be read: in lazy mode it is poison until the wait. */
static void hide(const copy_t *c)
{
    for (size_t row = 0u; match_twin_mode() == MATCH_TWIN_LAZY && row < c->planes * c->rows; row++) {
        memset(c->to + row / c->rows * c->to_plane + row % c->rows * c->to_row, MATCH_TWIN_POISON, c->bytes);
    }
}

static void start_copy(copy_t copy)
{
    if (copies_count == sizeof copies / sizeof copies[0]) {
        match_twin_fault("more copies in flight than the DMA holds");
    }
    hide(&copy);
    const uint64_t words = (copy.bytes + DMA_BYTES_PER_CYCLE - 1u) / DMA_BYTES_PER_CYCLE;
    match_twin_spend(HOST, DMA_SETUP_CYCLES);
    copies_end = match_twin_issue(HOST, DMA, copy.planes * copy.rows * words);
    copies[copies_count++] = match_twin_defer(do_copy, &copy, sizeof copy);
}

void ${name}_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t bytes,
                        uint32_t row_stride, uint32_t plane_stride)
{
    start_copy((copy_t){near, far, planes, rows, bytes, bytes, (size_t)rows * bytes, row_stride, plane_stride});
}

void ${name}_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t bytes,
                         uint32_t row_stride, uint32_t plane_stride)
{
    start_copy((copy_t){far, near, planes, rows, bytes, row_stride, plane_stride, bytes, (size_t)rows * bytes});
}

void ${name}_copy_wait(void)
{
    for (uint32_t i = 0u; i < copies_count; i++) {
        match_twin_complete(copies[i]);
    }
    copies_count = 0u;
    match_twin_wait_until(HOST, copies_end);
}

static void do_dense(void *argument)
{
    const match_${name}_dense_t *const t = argument;
    const uint8_t *const input = t->input;
    const int8_t *const weight = t->weight;
    const int32_t *const multiplier = t->multiplier;
    const int64_t *const addend = t->addend;
    for (size_t n = 0u; n < t->n; n++) {
        for (size_t k = 0u; k < t->k; k++) {
            int32_t sum = 0;
            for (size_t c = 0u; c < t->c; c++) {
                sum += input[n * t->c + c] * weight[k * t->c + c];
            }
            const int64_t y = (sum * (int64_t)multiplier[k] + addend[k]) >> t->shift;
            ((uint8_t *)t->output)[n * t->k + k] = (uint8_t)(y < t->low ? t->low : y > t->high ? t->high : y);
        }
    }
}

void ${name}_dense(const match_${name}_dense_t *ctx)
{
    const uint64_t steps = (uint64_t)ctx->n * ((ctx->k + SIDE - 1u) / SIDE) * ((ctx->c + SIDE - 1u) / SIDE);
    hide(&(copy_t){ctx->output, NULL, 1u, ctx->n, ctx->k, ctx->k, 0u, 0u, 0u});
    match_twin_spend(HOST, START_CYCLES);
    kernel_end = match_twin_issue(HOST, ARRAY, steps);
    kernel = match_twin_defer(do_dense, ctx, sizeof *ctx);
}

void ${name}_wait(void)
{
    match_twin_complete(kernel);
    match_twin_wait_until(HOST, kernel_end);
}
