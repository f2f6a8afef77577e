/* match_gap9_ne16_wide.c - NE16 computes raw 32-bit sums, the cores requantise them with 64-bit products.
 *
 * All of it runs on the workers, so that the controller is free until the wait: core 0 issues NE16's jobs and waits for
 * them, all cores requantise. A tile of stride 1 is cut into bands of rows, one job each, so that the cores work on one
 * band while NE16 works on the next two. Stride 2 takes a job for each 2 by 2 outputs and keeps core 0 busy: one band.
 * Where the workers run a loop of their own, core 0 launches it on all of them, or the controller does it all alone, and
 * the launch returns when it is done.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_cores.h"
#include "match_gap9_ne16_job.h"
#include "match_gap9_ne16_stride2.h"
#include "match_gap9_wide.h"
#include "match_gap9_wide_core.h"
#include "ne16_pulp_bsp.h"
#include "pulp_nnx_ne16.h"

#define CONTEXTS 2u       /* jobs that NE16 holds */
#define SUBTILE_ROWS 3u   /* output rows that NE16 computes at once; bands are multiples */
#define BAND_ELEMENTS 1024u /* outputs below which another band costs more than it hides */
#define BANDS_MAX 8u
#define FEW_PIXELS 4u       /* below which loading a channel's constants costs more than keeping them saves */

/* Only the core that issues jobs touches these. */
PI_L1 static ne16_task_t whole; /* the words of a job for the whole tile */
PI_L1 static ne16_task_t jobs[CONTEXTS];

typedef struct {
    const match_gap9_ne16_tile_t *tile;
    uint32_t bands, rows; /* rows of every band but the last */
} bands_t;

static uint32_t least(uint32_t a, uint32_t b)
{
    return (a < b) ? a : b;
}

static bands_t bands_of(const match_gap9_ne16_tile_t *t)
{
    const uint32_t subtiles = (t->oy + SUBTILE_ROWS - 1u) / SUBTILE_ROWS;
    const uint32_t wanted = least(least(t->oy * t->ox * t->k / BAND_ELEMENTS, BANDS_MAX), subtiles);
    bands_t b = {.tile = t, .bands = 1u, .rows = t->oy};
    if ((t->stride == 1u) && (wanted > 1u)) {
        b.rows = SUBTILE_ROWS * ((subtiles + wanted - 1u) / wanted);
        b.bands = (t->oy + b.rows - 1u) / b.rows;
    }
    return b;
}

static uint32_t rows_of(const bands_t *b, uint32_t band)
{
    return least(b->rows, b->tile->oy - band * b->rows);
}

/* ---- cores --------------------------------------------------------------------------------------------------- */

/* The controller runs this, while the workers have a loop of their own. */
static int is_alone(void)
{
    return pi_core_id() >= NUM_CORES;
}

/* This core issues jobs. */
static int is_first(void)
{
    return (pi_core_id() == 0) || is_alone();
}

static void meet(void)
{
    if (!is_alone()) {
        pi_cl_team_barrier(0);
    }
}

static match_gap9_share_t share_of(uint32_t outputs)
{
    const match_gap9_share_t all = {0u, outputs};
    return is_alone() ? all : match_gap9_wide_share(outputs);
}

static void launch(void (*core)(void *), const void *tile)
{
    if ((match_gap9_team_is_led() != 0) && is_alone()) {
        core((void *)(uintptr_t)tile);
    } else {
        match_gap9_team_launch(core, tile);
    }
}

/* ---- core 0: jobs -------------------------------------------------------------------------------------------- */

static void issue(const bands_t *b, uint32_t band)
{
    const match_gap9_ne16_tile_t *const t = b->tile;
    const ne16_dev_t *const device = ne16_pulp_get_dev();
    ne16_task_t *const job = &jobs[band % CONTEXTS];
    if (band >= b->bands) {
        return;
    }
    *job = whole;
    if (t->stride == 2u) {
        match_gap9_ne16_dispatch_stride2(job, t->oy, t->ox);
        return;
    }
    if (b->bands > 1u) {
        const uint32_t top = (band == 0u) ? t->top : 0u;
        /* The address of the whole tile is that of its first row of padding, and moves on by rows. */
        job->data.infeat_addr += band * b->rows * t->row_bytes;
        job->data.outfeat_addr += band * b->rows * t->ox * t->k * t->out_bytes;
        match_gap9_ne16_set_rows(job, t, rows_of(b, band), top, (band + 1u == b->bands) ? t->bottom : 0u);
    }
    ne16_nnx_dispatch_wait(device);
    (void)ne16_nnx_dispatch(device, job);
}

/* ---- all cores: requantisation ------------------------------------------------------------------------------- */

typedef struct {
    const int32_t *sums, *multiplier;
    const int64_t *addend;
    uint8_t *output;
    uint32_t pixels, channels, shift;
} requant_t;

/* Outputs [start, stop) of a band, counted channel after channel: multiplier and addend stay in registers. */
static void by_channels(const requant_t *r, const match_gap9_share_t *share)
{
    uint32_t channel = share->start / r->pixels, pixel = share->start - channel * r->pixels;
    for (uint32_t left = share->stop - share->start; left > 0u; channel++, pixel = 0u) {
        const uint32_t n = least(r->pixels - pixel, left), end = (pixel + n) * r->channels + channel;
        const int32_t multiplier = r->multiplier[channel];
        const int64_t addend = r->addend[channel];
        MATCH_GAP9_COUNT(REQUANT_CHANNEL, 1u);
        MATCH_GAP9_COUNT(REQUANT_OUTPUT, n);
        if (r->shift >= 32u) {
            for (uint32_t i = pixel * r->channels + channel; i < end; i += r->channels) {
                r->output[i] = match_gap9_wide_upper(r->sums[i], multiplier, addend, r->shift);
            }
        } else {
            for (uint32_t i = pixel * r->channels + channel; i < end; i += r->channels) {
                r->output[i] = match_gap9_wide_lower(r->sums[i], multiplier, addend, r->shift);
            }
        }
        left -= n;
    }
}

/* The same of a band of few pixels, counted pixel after pixel. */
static void by_pixels(const requant_t *r, const match_gap9_share_t *share)
{
    uint32_t channel = share->start % r->channels;
    MATCH_GAP9_COUNT(REQUANT_FEW_OUTPUT, share->stop - share->start);
    for (uint32_t i = share->start; i < share->stop; i++) {
        r->output[i] = match_gap9_wide_requant(r->sums[i], r->multiplier[channel], r->addend[channel], r->shift);
        channel = (channel + 1u < r->channels) ? channel + 1u : 0u;
    }
}

static void requant(const bands_t *b, uint32_t band, uint8_t *output)
{
    const match_gap9_ne16_tile_t *const t = b->tile;
    const uint32_t before = band * b->rows * t->ox * t->k;
    const requant_t r = {
        .sums = (const int32_t *)t->output + before, .multiplier = t->multiplier, .addend = t->addend,
        .output = output + before, .pixels = rows_of(b, band) * t->ox, .channels = t->k, .shift = t->shift,
    };
    const match_gap9_share_t share = share_of(r.pixels * r.channels);
    MATCH_GAP9_COUNT(REQUANT_CALL, 1u);
    MATCH_GAP9_COUNT(REQUANT_LOW, (r.shift >= 32u) ? 0u : share.stop - share.start);
    if (r.pixels < FEW_PIXELS) {
        by_pixels(&r, &share);
    } else {
        by_channels(&r, &share);
    }
}

/* Every core runs this; a barrier tells the others that core 0 has seen the end of a band's job. */
static void run(const match_gap9_ne16_tile_t *tile, uint8_t *output)
{
    const bands_t b = bands_of(tile);
    if (is_first()) {
        match_gap9_ne16_fill(&whole, tile);
        issue(&b, 0u);
        issue(&b, 1u);
    }
    for (uint32_t band = 0u; band < b.bands; band++) {
        if (is_first()) {
            ne16_nnx_resolve_wait(ne16_pulp_get_dev(), &jobs[band % CONTEXTS]);
            issue(&b, band + CONTEXTS);
        }
        meet();
        requant(&b, band, output);
    }
    meet();
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static void conv3x3_core(void *argument)
{
    const match_conv2d_t *const t = argument;
    match_gap9_ne16_tile_t tile;
    match_gap9_ne16_tile_3x3(&tile, t, 1);
    run(&tile, t->output);
}

static void conv1x1_core(void *argument)
{
    const match_conv2d_t *const t = argument;
    match_gap9_ne16_tile_t tile;
    match_gap9_ne16_tile_1x1(&tile, t, 1);
    run(&tile, t->output);
}

static void depthwise_core(void *argument)
{
    const match_depthwise2d_t *const t = argument;
    match_gap9_ne16_tile_t tile;
    match_gap9_ne16_tile_depthwise(&tile, t, 1);
    run(&tile, t->output);
}

static void linear_core(void *argument)
{
    const match_linear_t *const t = argument;
    match_gap9_ne16_tile_t tile;
    match_gap9_ne16_tile_linear(&tile, t, 1);
    run(&tile, t->output);
}

void match_gap9_ne16_wide_conv3x3(const match_conv2d_t *tile)
{
    launch(conv3x3_core, tile);
}

void match_gap9_ne16_wide_conv1x1(const match_conv2d_t *tile)
{
    launch(conv1x1_core, tile);
}

void match_gap9_ne16_wide_depthwise(const match_depthwise2d_t *tile)
{
    launch(depthwise_core, tile);
}

void match_gap9_ne16_wide_linear(const match_linear_t *tile)
{
    launch(linear_core, tile);
}
