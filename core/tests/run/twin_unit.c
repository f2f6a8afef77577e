/* twin_unit.c - the units of fake_unit.h and fake_queues.h on the twin's contexts: copies and kernels take effect as the
 * twin's mode says, both units share one DMA engine. Only what side_program.py uses. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "fake_queues.h"
#include "fake_unit.h"
#include "match_twin.h"
#include "match_twin_clocks.h"
#include "match_twin_context.h"

#define MAX_COPIES 64u
#define BYTES_PER_CYCLE 8u
#define MACS_PER_CYCLE 4u
#define STORE_BASE 0x10000000u

/* ---- copies ------------------------------------------------------------------------------------------------------ */

typedef struct {
    uint8_t *to;
    const uint8_t *from;
    uint32_t planes, rows, row_bytes;
    uint32_t to_row, to_plane, from_row, from_plane; /* strides */
} copy_t;

typedef struct {
    uint64_t ticket[MAX_COPIES], end;
    uint32_t count;
} flight_t;

/* Each unit waits for its own. */
static _Thread_local flight_t copies, stored;

static void perform(void *argument)
{
    const copy_t *const c = argument;
    for (uint32_t p = 0u; p < c->planes; p++) {
        for (uint32_t r = 0u; r < c->rows; r++) {
            memcpy(c->to + p * c->to_plane + r * c->to_row, c->from + p * c->from_plane + r * c->from_row, c->row_bytes);
        }
    }
}

static void issue(flight_t *flight, unsigned clock, copy_t c)
{
    if (flight->count == MAX_COPIES) {
        match_twin_fault("too many copies in flight");
    }
    for (uint32_t p = 0u; p < c.planes; p++) {
        for (uint32_t r = 0u; r < c.rows; r++) {
            match_twin_poison(c.to + p * c.to_plane + r * c.to_row, c.row_bytes);
        }
    }
    flight->end = match_twin_issue_kind(match_twin_context_clock(), clock,
                                        c.planes * c.rows * (1u + c.row_bytes / BYTES_PER_CYCLE), "copy");
    flight->ticket[flight->count++] = match_twin_defer(perform, &c, sizeof c);
}

static void finish(flight_t *flight)
{
    for (uint32_t i = 0u; i < flight->count; i++) {
        match_twin_complete(flight->ticket[i]);
    }
    match_twin_wait_until(match_twin_context_clock(), flight->end);
    flight->count = 0u;
}

void copy_wait(void) { finish(&copies); }
void store_wait(void) { finish(&stored); }

void in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
           uint32_t plane_stride)
{
    issue(&copies, MATCH_TWIN_CLOCK_DMA,
          (copy_t){near, far, planes, rows, row_bytes, row_bytes, rows * row_bytes, row_stride, plane_stride});
}

void out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
            uint32_t plane_stride)
{
    issue(&copies, MATCH_TWIN_CLOCK_DMA,
          (copy_t){far, near, planes, rows, row_bytes, row_stride, plane_stride, row_bytes, rows * row_bytes});
}

void in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    in_3d(near, far, 1u, rows, row_bytes, row_stride, 0u);
}

void in_1d(void *near, const void *far, uint32_t bytes) { in_3d(near, far, 1u, 1u, bytes, 0u, 0u); }

void out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    out_3d(far, near, 1u, rows, row_bytes, row_stride, 0u);
}

void out_1d(void *far, const void *near, uint32_t bytes) { out_3d(far, near, 1u, 1u, bytes, 0u, 0u); }

/* ---- store ------------------------------------------------------------------------------------------------------- */

static uint8_t store[FAKE_STORE_BYTES];
static uint32_t used;

uint32_t fake_load_store(const uint8_t *data, uint32_t bytes)
{
    const uint32_t start = used;
    used += (bytes + 15u) / 16u * 16u;
    if (used > sizeof store) {
        match_twin_fault("the store is full");
    }
    memcpy(store + start, data, bytes);
    return STORE_BASE + start;
}

void store_copy(void *home, uint32_t address, uint32_t bytes)
{
    issue(&stored, MATCH_TWIN_CLOCK_LINK, (copy_t){home, store + (address - STORE_BASE), 1u, 1u, bytes, 0u, 0u, 0u, 0u});
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static _Thread_local uint64_t launched;

static uint8_t clip(int64_t v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v); }

/* One output of the convolution of uint8 and int8 with padding. */
static uint8_t output_of(const match_conv2d_t *t, uint32_t y, uint32_t x, uint32_t k)
{
    const int32_t *const m = t->multiplier, *const a = t->addend;
    int64_t sum = 0;
    for (uint32_t i = 0u; i < t->fy * t->fx * t->c; i++) {
        const int64_t row = (int64_t)y * t->stride_y + i / (t->fx * t->c) - t->input_y_pad_before;
        const int64_t column = (int64_t)x * t->stride_x + i / t->c % t->fx - t->input_x_pad_before;
        const int inside = row >= 0 && column >= 0 && row < t->input_y && column < t->input_x;
        const int64_t at = (row * t->input_x + column) * t->c + i % t->c;
        const int32_t value = inside ? ((const uint8_t *)t->input)[at] : t->pad_value;
        sum += value * ((const int8_t *)t->weight)[k * t->fy * t->fx * t->c + i];
    }
    return clip((sum * m[k] + a[k]) >> t->shift);
}

static void compute(void *argument)
{
    const match_conv2d_t *tile;
    memcpy(&tile, argument, sizeof tile);
    uint8_t *const out = tile->output;
    for (uint32_t i = 0u; i < tile->oy * tile->ox * tile->k; i++) {
        out[i] = output_of(tile, i / (tile->ox * tile->k), i / tile->k % tile->ox, i % tile->k);
    }
}

/* The kernel reads its context when it runs. */
void conv2d_launch(const match_conv2d_t *tile)
{
    if (launched != 0u) {
        match_twin_fault("a kernel is launched while another one runs");
    }
    match_twin_poison(tile->output, tile->oy * tile->ox * tile->k);
    match_twin_spend_kind(match_twin_context_clock(),
                          tile->oy * tile->ox * tile->k * tile->fy * tile->fx * tile->c / MACS_PER_CYCLE, "conv2d");
    launched = match_twin_defer(compute, &tile, sizeof tile);
}

void kernel_wait(void)
{
    match_twin_complete(launched);
    launched = 0u;
}

/* ---- dispatch loops ------------------------------------------------------------------------------------------------ */

static uint32_t contexts[2];

static int launch(uint32_t *context, const char *name, unsigned clock, void (*loop)(void *), void *argument)
{
    if (*context != 0u) {
        return 1;
    }
    *context = match_twin_start(name, clock, loop, argument);
    return 0;
}

static int join(uint32_t *context)
{
    const int failed = match_twin_join_bounded(*context);
    *context = (failed != 0) ? *context : 0u;
    return failed;
}

int array_launch(void (*loop)(void *), void *argument)
{
    return launch(&contexts[0], "array", MATCH_TWIN_CLOCK_ARRAY, loop, argument);
}

int other_launch(void (*loop)(void *), void *argument)
{
    return launch(&contexts[1], "other", MATCH_TWIN_CLOCK_OTHER, loop, argument);
}

int array_join(void) { return join(&contexts[0]); }
int other_join(void) { return join(&contexts[1]); }
int queues_start(void) { return 0; }
void queues_stop(void) {}
int fake_queue_wait(const match_queue_t *queue, uint32_t count) { return match_spin(queue, count); }
void fake_signal(void) {}
void fake_notify(void) {}
int match_port_wait(void) { return match_twin_relax_bounded(); }

/* ---- swaps: a context that copies at its end ------------------------------------------------------------------------- */

static copy_t moved;
static uint32_t mover;

static void move(void *argument)
{
    match_twin_spend_kind(MATCH_TWIN_CLOCK_LINK, 10u + moved.row_bytes / BYTES_PER_CYCLE, "swap");
    match_twin_yield();
    match_twin_delay();
    perform(argument);
}

static void swap(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (mover != 0u) {
        match_twin_fault("two swaps at once");
    }
    moved = (copy_t){to, from, 1u, 1u, bytes, 0u, 0u, 0u, 0u};
    match_twin_poison(to, bytes);
    mover = match_twin_start("link", MATCH_TWIN_CLOCK_LINK, move, &moved);
}

void swap_out(uint32_t address, const void *home, uint32_t bytes) { swap(store + (address - STORE_BASE), home, bytes); }
void swap_in(void *home, uint32_t address, uint32_t bytes) { swap(home, store + (address - STORE_BASE), bytes); }

int swap_busy(void)
{
    if (!match_twin_ended(mover)) {
        return 1;
    }
    match_twin_join(mover);
    mover = 0u;
    return 0;
}
