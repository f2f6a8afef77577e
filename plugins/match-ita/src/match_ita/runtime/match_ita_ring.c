/* match_ita_ring.c - see the header. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_ring.h"

#include "match_ita_api.h"
#include "match_ita_cluster.h"

/* Cycles, and a check that whoever asks waits, on the twin; nothing on silicon. */
#ifndef MATCH_ITA_CHARGE_RING_POST
#define MATCH_ITA_CHARGE_RING_POST() ((void)0)
#define MATCH_ITA_CHARGE_RING_SERVE() ((void)0)
#define MATCH_ITA_RING_WAITED() ((void)0)
#endif

#define SLOTS 8u

typedef struct {
    void *near;
    uintptr_t far;
    uint32_t planes, rows, row_bytes, row_stride, plane_stride, is_out;
} request_t;

/* Both counters only grow: `asked` is written by core 0, `served` by the DM core. */
MATCH_ITA_SHARED static struct {
    match_counter_t asked, served;
    request_t request[SLOTS];
} ring;
/* Of core 0. */
static uint32_t asked;
/* Of the DM core. */
static uint32_t started, served;
static int is_open;

/* ---- core 0 ----------------------------------------------------------------------------------------------------- */

static void await(uint32_t count)
{
    while ((int32_t)(match_load(&ring.served) - count) < 0) {
        MATCH_RELAX();
    }
}

static void ask(request_t request)
{
    await(asked + 1u - SLOTS);
    MATCH_ITA_CHARGE_RING_POST();
    ring.request[asked % SLOTS] = request;
    asked++;
    match_store(&ring.asked, asked);
}

void match_snitch_copy_wait(void)
{
    await(asked);
    MATCH_ITA_RING_WAITED();
}

void match_snitch_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                             uint32_t row_stride, uint32_t plane_stride)
{
    ask((request_t){near, (uintptr_t)far, planes, rows, row_bytes, row_stride, plane_stride, 0u});
}

void match_snitch_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    match_snitch_copy_in_3d(near, far, 1u, rows, row_bytes, row_stride, 0u);
}

void match_snitch_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    match_snitch_copy_in_3d(near, far, 1u, 1u, bytes, bytes, bytes);
}

void match_snitch_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                              uint32_t row_stride, uint32_t plane_stride)
{
    ask((request_t){(void *)(uintptr_t)near, (uintptr_t)far, planes, rows, row_bytes, row_stride, plane_stride, 1u});
}

void match_snitch_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    match_snitch_copy_out_3d(far, near, 1u, rows, row_bytes, row_stride, 0u);
}

void match_snitch_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    match_snitch_copy_out_3d(far, near, 1u, 1u, bytes, bytes, bytes);
}

/* ---- DM core ---------------------------------------------------------------------------------------------------- */

void match_ita_ring_open(void)
{
    is_open = 1;
}

void match_ita_ring_close(void)
{
    is_open = 0;
}

static void copy(const request_t *r)
{
    if (r->is_out != 0u) {
        match_ita_copy_out_3d((void *)r->far, r->near, r->planes, r->rows, r->row_bytes, r->row_stride,
                              r->plane_stride);
    } else {
        match_ita_copy_in_3d(r->near, (const void *)r->far, r->planes, r->rows, r->row_bytes, r->row_stride,
                             r->plane_stride);
    }
}

void match_ita_ring_start(void)
{
    const uint32_t wanted = (is_open != 0) ? match_load(&ring.asked) : started;
    for (; started != wanted; started++) {
        MATCH_ITA_CHARGE_RING_SERVE();
        copy(&ring.request[started % SLOTS]);
    }
}

void match_ita_ring_publish(void)
{
    if (served != started) {
        served = started;
        match_store(&ring.served, served);
    }
}

void match_ita_ring_serve(void)
{
    match_ita_ring_start();
    if (served != started) {
        match_ita_copy_wait();
    }
}

void match_ita_wait_turn(void)
{
    match_ita_ring_serve();
    MATCH_ITA_RELAX();
}
