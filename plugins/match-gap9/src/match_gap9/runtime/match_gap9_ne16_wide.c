/* match_gap9_ne16_wide.c - NE16 computes raw 32-bit sums, the cores requantise them with 64-bit products.
 *
 * A tile of stride 1 is cut into bands of rows, one job each, so that the cores work on one band while NE16 works on
 * the next two. Stride 2 takes a job for each 2 by 2 outputs and keeps the controller busy: one band.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_ne16_border.h"
#include "match_gap9_wide.h"
#include "match_gap9_wide_core.h"
#include "ne16_pulp_bsp.h"
#include "ne16_task.h"
#include "pulp_nnx_ne16.h"

#define CONTEXTS 2u       /* jobs that NE16 holds */
#define SUBTILE_ROWS 3u   /* output rows that NE16 computes at once; bands are multiples */
#define BAND_ELEMENTS 1024u /* outputs below which another band costs more than it hides */
#define BANDS_MAX 8u
#define SUM_BYTES 4u

typedef struct {
    const void *input, *weight;
    uint32_t in_y, in_x, c, row_bytes, pixel_bytes; /* row_bytes, pixel_bytes: between inputs of neighbouring outputs */
    uint32_t oy, ox, k;
    uint8_t top, bottom, left, right, pad_value;
    uint8_t kernel, depthwise, stride, weight_bits;
} geometry_t;

typedef struct {
    int32_t *sums;
    uint8_t *output;
    const int32_t *multiplier;
    const int64_t *addend;
    uint32_t channels, shift;
    uint32_t elements; /* of this band */
} requant_t;

/* The tile that match_gap9_ne16_wide_wait waits for. */
static struct {
    geometry_t shape;
    requant_t requant;
    uint32_t bands, rows; /* rows of every band but the last */
    ne16_task_t task;     /* the first band's */
    ne16_task_t jobs[CONTEXTS];
} tile;

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return (a < b) ? a : b;
}

static void set_border(ne16_task_t *job, uint32_t rows, uint32_t columns, uint8_t top, uint8_t bottom)
{
    const geometry_t *const s = &tile.shape;
    if (s->kernel == 1u) {
        ne16_task_set_counters(job, s->c, rows, columns, s->k, 0, 0);
    } else {
        const match_gap9_ne16_border_t border = {.top = top, .bottom = bottom, .left = s->left, .right = s->right,
                                                 .value = s->pad_value, .through_registers = s->stride == 2u};
        match_gap9_ne16_set_border(job, s->c, rows, columns, s->k, &border);
    }
}

static void build(void)
{
    const geometry_t *const s = &tile.shape;
    const uint32_t pixel = SUM_BYTES * s->k, row = s->ox * pixel;
    ne16_task_t *const task = &tile.task;
    ne16_task_init(task);
    ne16_task_set_op_to_conv(task, s->kernel, s->depthwise, s->stride);
    ne16_task_set_bits(task, 8, 32, s->weight_bits);
    ne16_task_set_weight_offset(task, weightOffsetModeLayerWise, -(1 << (s->weight_bits - 1)));
    if (s->stride == 2u) {
        ne16_task_set_dims_stride2x2(task, s->in_y, s->in_x, s->c, s->row_bytes, s->pixel_bytes, s->oy, s->ox, s->k,
                                     row, pixel, s->kernel, s->kernel, 0, 0, 0, 0);
    } else {
        ne16_task_set_dims(task, s->in_x, s->c, s->row_bytes, s->pixel_bytes, s->oy, s->ox, s->k, row, pixel, 0, 0, 0,
                           0);
    }
    ne16_task_set_addr_conv(task, address(s->input), s->in_x, s->pixel_bytes, s->top, s->left,
                            address(tile.requant.sums), address(s->weight));
}

static uint32_t rows_of(uint32_t band)
{
    return least(tile.rows, tile.shape.oy - band * tile.rows);
}

static void issue(uint32_t band)
{
    const ne16_dev_t *const device = ne16_pulp_get_dev();
    const geometry_t *const s = &tile.shape;
    ne16_task_t *const job = &tile.jobs[band % CONTEXTS];
    *job = tile.task;
    job->data.infeat_addr += band * tile.rows * s->row_bytes;
    job->data.outfeat_addr += band * tile.rows * s->ox * s->k * SUM_BYTES;
    set_border(job, rows_of(band), s->ox, (uint8_t)((band == 0u) ? s->top : 0u),
               (uint8_t)((band + 1u == tile.bands) ? s->bottom : 0u));
    ne16_nnx_dispatch_wait(device);
    (void)ne16_nnx_dispatch(device, job);
}

static void start(void)
{
    const geometry_t *const s = &tile.shape;
    build();
    if (s->stride == 2u) {
        tile.bands = 1u;
        tile.rows = s->oy;
        tile.jobs[0] = tile.task;
        /* A job's outputs are the corners of 3 by 3. */
        set_border(&tile.jobs[0], (s->oy > 1u) ? 3u : 1u, (s->ox > 1u) ? 3u : 1u, s->top, s->bottom);
        ne16_nnx_dispatch_stride2x2(ne16_pulp_get_dev(), &tile.jobs[0], s->in_x, s->c, s->oy, s->ox, s->k, s->kernel,
                                    s->kernel);
        return;
    }
    const uint32_t subtiles = (s->oy + SUBTILE_ROWS - 1u) / SUBTILE_ROWS;
    const uint32_t wanted = least(least(s->oy * s->ox * s->k / BAND_ELEMENTS, BANDS_MAX), subtiles);
    const uint32_t bands = (wanted > 0u) ? wanted : 1u;
    tile.rows = SUBTILE_ROWS * ((subtiles + bands - 1u) / bands);
    tile.bands = (s->oy + tile.rows - 1u) / tile.rows;
    for (uint32_t band = 0u; band < least(CONTEXTS, tile.bands); band++) {
        issue(band);
    }
}

/* ---- requantisation ------------------------------------------------------------------------------------------ */

static void requant_core(void *argument)
{
    const requant_t *const r = argument;
    const match_gap9_share_t share = match_gap9_wide_share(r->elements);
    const uint32_t shift = r->shift;
    MATCH_GAP9_CHARGE_WIDE_REQUANT(r->elements, shift);
    for (uint32_t i = share.start, k = share.start % r->channels; i < share.stop; k = 0u) {
        const uint32_t n = least(r->channels - k, share.stop - i);
        const int32_t *const sums = r->sums + i, *const multiplier = r->multiplier + k;
        const int64_t *const addend = r->addend + k;
        uint8_t *const output = r->output + i;
        if (shift >= 32u) {
            for (uint32_t j = 0u; j < n; j++) {
                output[j] = match_gap9_wide_upper(sums[j], multiplier[j], addend[j], shift);
            }
        } else {
            for (uint32_t j = 0u; j < n; j++) {
                output[j] = match_gap9_wide_lower(sums[j], multiplier[j], addend[j], shift);
            }
        }
        i += n;
    }
    pi_cl_team_barrier(0);
}

void match_gap9_ne16_wide_wait(void)
{
    requant_t *const r = &tile.requant;
    for (uint32_t band = 0u; band < tile.bands; band++) {
        ne16_nnx_resolve_wait(ne16_pulp_get_dev(), &tile.jobs[band % CONTEXTS]);
        if (band + CONTEXTS < tile.bands) {
            issue(band + CONTEXTS);
        }
        r->elements = rows_of(band) * tile.shape.ox * r->channels;
        pi_cl_team_fork(NUM_CORES, requant_core, r);
        r->sums += r->elements;
        r->output += r->elements;
    }
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static requant_t requant_of(const void *multiplier, const void *addend, int32_t shift, uint32_t channels, void *sums,
                            void *output)
{
    const requant_t r = {
        .sums = sums, .output = output, .multiplier = multiplier, .addend = addend, .channels = channels,
        .shift = (uint32_t)shift,
    };
    return r;
}

void match_gap9_ne16_wide_conv3x3(const match_conv2d_t *t)
{
    tile.shape = (geometry_t){
        .input = t->input, .weight = t->weight, .in_y = t->input_y, .in_x = t->input_x, .c = t->c,
        .row_bytes = t->input_x * t->c, .pixel_bytes = t->c, .oy = t->oy, .ox = t->ox, .k = t->k,
        .top = (uint8_t)t->input_y_pad_before, .bottom = (uint8_t)t->input_y_pad_after,
        .left = (uint8_t)t->input_x_pad_before, .right = (uint8_t)t->input_x_pad_after,
        .pad_value = (uint8_t)t->pad_value, .kernel = 3u, .stride = (uint8_t)t->stride_x,
        .weight_bits = (uint8_t)t->weight_bits,
    };
    tile.requant = requant_of(t->multiplier, t->addend, t->shift, t->k, t->scratch, t->output);
    start();
}

/* A stride of a 1x1 kernel is only a stride of the input addresses. */
void match_gap9_ne16_wide_conv1x1(const match_conv2d_t *t)
{
    tile.shape = (geometry_t){
        .input = t->input, .weight = t->weight, .in_y = t->input_y, .in_x = t->input_x, .c = t->c,
        .row_bytes = t->input_x * t->c * (uint32_t)t->stride_y, .pixel_bytes = t->c * (uint32_t)t->stride_x,
        .oy = t->oy, .ox = t->ox, .k = t->k, .kernel = 1u, .stride = 1u, .weight_bits = (uint8_t)t->weight_bits,
    };
    tile.requant = requant_of(t->multiplier, t->addend, t->shift, t->k, t->scratch, t->output);
    start();
}

void match_gap9_ne16_wide_depthwise(const match_depthwise2d_t *t)
{
    tile.shape = (geometry_t){
        .input = t->input, .weight = t->weight, .in_y = t->input_y, .in_x = t->input_x, .c = t->k,
        .row_bytes = t->input_x * t->k, .pixel_bytes = t->k, .oy = t->oy, .ox = t->ox, .k = t->k,
        .top = (uint8_t)t->input_y_pad_before, .bottom = (uint8_t)t->input_y_pad_after,
        .left = (uint8_t)t->input_x_pad_before, .right = (uint8_t)t->input_x_pad_after,
        .pad_value = (uint8_t)t->pad_value, .kernel = 3u, .depthwise = 1u, .stride = (uint8_t)t->stride_x,
        .weight_bits = (uint8_t)t->weight_bits,
    };
    tile.requant = requant_of(t->multiplier, t->addend, t->shift, t->k, t->scratch, t->output);
    start();
}

/* N rows of C values are an image of N by 1 pixels. */
void match_gap9_ne16_wide_linear(const match_linear_t *t)
{
    tile.shape = (geometry_t){
        .input = t->input, .weight = t->weight, .in_y = t->n, .in_x = 1u, .c = t->c, .row_bytes = t->c,
        .pixel_bytes = t->c, .oy = t->n, .ox = 1u, .k = t->k, .kernel = 1u, .stride = 1u,
        .weight_bits = (uint8_t)t->weight_bits,
    };
    tile.requant = requant_of(t->multiplier, t->addend, t->shift, t->k, t->scratch, t->output);
    start();
}
