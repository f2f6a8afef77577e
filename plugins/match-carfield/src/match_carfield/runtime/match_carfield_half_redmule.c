/* match_carfield_half_redmule.c - products on RedMulE. The cores clear the output, core 0 hands out the jobs, which add
 * to it one after another, and the cores turn the sums into results.
 *
 * A convolution is a job for each row of output pixels and tap: the pixels that the tap meets lie one behind the other.
 * So sums run in the order fy, fx, c, rounded after each product, as on the cores. Every job adds to Z, because only so
 * may a tap leave out pixels.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "match_carfield_pulp.h"

#include "match_carfield_half_kernels.h"
#include "match_carfield_half_window.h"
#include "match_carfield_io.h"
#include "match_carfield_redmule.h"

#define MATCH_CARFIELD_LANES 4u
#define MATCH_CARFIELD_LANES_MIN 4u
#include "match_carfield_half_vector.h"

/* ---- jobs ------------------------------------------------------------------------------------------------------ */

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static void begin_jobs(void)
{
    const uintptr_t clock = MATCH_CARFIELD_CLUSTER_CONTROL_BASE + MATCH_CARFIELD_CLUSTER_CLOCK;
    MATCH_CARFIELD_WRITE(clock, MATCH_CARFIELD_READ(clock) | MATCH_CARFIELD_CLUSTER_CLOCK_HWPE);
}

static void put(uint32_t word, uint32_t value)
{
    MATCH_CARFIELD_WRITE(MATCH_CARFIELD_REDMULE_BASE + MATCH_CARFIELD_REDMULE_JOB + 4u * word, value);
}

/* z += x * w; starts when the jobs before have ended. */
static void job(const element_t *x, const element_t *w, element_t *z, uint32_t m, uint32_t n, uint32_t k)
{
    while ((int32_t)MATCH_CARFIELD_READ(MATCH_CARFIELD_REDMULE_BASE + MATCH_CARFIELD_REDMULE_ACQUIRE) < 0) {
        if (MATCH_CARFIELD_LOOK_AGAIN()) {
            return;
        }
    }
    put(MATCH_CARFIELD_REDMULE_X, address(x));
    put(MATCH_CARFIELD_REDMULE_W, address(w));
    put(MATCH_CARFIELD_REDMULE_Z, address(z));
    put(MATCH_CARFIELD_REDMULE_K_M, (k << 16) | m);
    put(MATCH_CARFIELD_REDMULE_N, n);
    put(MATCH_CARFIELD_REDMULE_ARITHMETIC, MATCH_CARFIELD_REDMULE_GEMM | MATCH_CARFIELD_REDMULE_BINARY16);
    MATCH_CARFIELD_WRITE(MATCH_CARFIELD_REDMULE_BASE + MATCH_CARFIELD_REDMULE_TRIGGER, 0u);
}

static void end_jobs(void)
{
    while (MATCH_CARFIELD_READ(MATCH_CARFIELD_REDMULE_BASE + MATCH_CARFIELD_REDMULE_STATUS) != 0u) {
        if (MATCH_CARFIELD_LOOK_AGAIN()) {
            return;
        }
    }
    const uintptr_t clock = MATCH_CARFIELD_CLUSTER_CONTROL_BASE + MATCH_CARFIELD_CLUSTER_CLOCK;
    MATCH_CARFIELD_WRITE(clock, MATCH_CARFIELD_READ(clock) & ~MATCH_CARFIELD_CLUSTER_CLOCK_HWPE);
}

/* ---- what the cores do ----------------------------------------------------------------------------------------- */

/* Rows of `k` sums; `mul` NULL: results are sums times `scale_bits`. */
typedef struct {
    const element_t *mul, *add;
    element_t *output;
    uint32_t rows, k, scale_bits;
    int relu;
} sums_t;

static void clear_core(void *argument)
{
    const sums_t *const s = argument;
    const uint32_t size = s->rows * s->k;
    const match_carfield_share_t share =
        match_carfield_share((size + 3u) / 4u, (uint32_t)rt_core_id(), (uint32_t)get_core_num());
    vec_t zero;
    vec_fill(&zero, scalar_of_bits(0u), 4u);
    for (uint32_t i = 4u * share.start; i < 4u * share.stop; i += 4u) {
        if (size - i >= 4u) {
            vec_store(s->output + i, &zero, 4u);
        } else {
            vec_store(s->output + i, &zero, size - i);
        }
    }
}

MATCH_CARFIELD_INLINE void finish(const sums_t *s, element_t *output, uint32_t k, uint32_t n)
{
    vec_t sum, factor, addend;
    vec_load(&sum, output, n);
    if (s->mul != NULL) {
        vec_load(&factor, s->mul + k, n);
        vec_load(&addend, s->add + k, n);
        vec_change(&sum, &factor, &addend, n);
    } else {
        vec_scale(&sum, scalar_of_bits(s->scale_bits), n);
    }
    if (s->relu) {
        vec_relu(&sum, n);
    }
    vec_store(output, &sum, n);
}

static void finish_core(void *argument)
{
    const sums_t *const s = argument;
    const uint32_t parts = (s->k + 3u) / 4u;
    const match_carfield_share_t share =
        match_carfield_share(s->rows * parts, (uint32_t)rt_core_id(), (uint32_t)get_core_num());
    uint32_t row = share.start / parts, part = share.start - row * parts;
    for (uint32_t i = share.start; i < share.stop; i++) {
        const uint32_t k = 4u * part, left = s->k - k;
        if (left >= 4u) {
            finish(s, s->output + row * s->k + k, k, 4u);
        } else {
            finish(s, s->output + row * s->k + k, k, left);
        }
        if (++part == parts) {
            part = 0u;
            row++;
        }
    }
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

/* Output pixels of a row, [start, stop), whose tap at `offset` lies inside of the image; the stride is 1. */
static match_carfield_share_t columns_of(int32_t offset, uint32_t ox, uint32_t input_x)
{
    const int32_t first = (offset < 0) ? -offset : 0, end = (int32_t)input_x - offset;
    match_carfield_share_t columns;
    columns.stop = (end < 0) ? 0u : (((uint32_t)end < ox) ? (uint32_t)end : ox);
    columns.start = ((uint32_t)first < columns.stop) ? (uint32_t)first : columns.stop;
    return columns;
}

/* The jobs of a row of output pixels. */
static void row_jobs(const match_half_conv2d_t *t, uint32_t oy)
{
    const element_t *const input = t->input, *weight = t->weight;
    element_t *const output = (element_t *)t->output + oy * t->ox * t->k;
    int32_t y = (int32_t)oy * t->stride_y - (int32_t)t->input_y_pad_before;
    for (uint32_t fy = 0u; fy < t->fy; fy++, y += t->dilation_y) {
        int32_t x = -(int32_t)t->input_x_pad_before;
        for (uint32_t fx = 0u; fx < t->fx; fx++, x += t->dilation_x, weight += t->c * t->k) {
            const match_carfield_share_t columns = columns_of(x, t->ox, t->input_x);
            if (y < 0 || (uint32_t)y >= t->input_y || columns.start == columns.stop) {
                continue;
            }
            const uint32_t pixel = (uint32_t)(y * (int32_t)t->input_x + x + (int32_t)columns.start);
            job(input + pixel * t->c, weight, output + columns.start * t->k, columns.stop - columns.start, t->c, t->k);
        }
    }
}

void match_carfield_redmule_conv2d(const match_half_conv2d_t *tile)
{
    const match_carfield_windows_t windows = MATCH_CARFIELD_WINDOWS(tile, tile->dilation_y, tile->dilation_x);
    const sums_t sums = {
        .mul = tile->mul, .add = tile->add, .output = tile->output, .rows = tile->oy * tile->ox, .k = tile->k,
        .relu = tile->relu != 0,
    };
    MATCH_CARFIELD_CHARGE(redmule_conv2d, tile);
    match_carfield_pulp_team(clear_core, &sums);
    begin_jobs();
    if (match_carfield_is_dense(&windows)) {
        job(tile->input, tile->weight, tile->output, sums.rows, tile->c, tile->k);
    } else {
        for (uint32_t oy = 0u; oy < tile->oy; oy++) {
            row_jobs(tile, oy);
        }
    }
    end_jobs();
    match_carfield_pulp_team(finish_core, &sums);
}

void match_carfield_redmule_linear(const match_half_linear_t *tile)
{
    const sums_t sums = {
        .mul = tile->mul, .add = tile->add, .output = tile->output, .rows = tile->n, .k = tile->k,
        .relu = tile->relu != 0,
    };
    MATCH_CARFIELD_CHARGE(redmule_linear, tile);
    match_carfield_pulp_team(clear_core, &sums);
    begin_jobs();
    job(tile->input, tile->weight, tile->output, tile->n, tile->c, tile->k);
    end_jobs();
    match_carfield_pulp_team(finish_core, &sums);
}

void match_carfield_redmule_matmul(const match_half_matmul_t *tile)
{
    const int turned = tile->b_transposed != 0;
    const element_t *const left = tile->left, *const right = turned ? tile->scratch : tile->right;
    const sums_t sums = {
        .output = tile->output, .rows = tile->b * tile->m, .k = tile->k, .scale_bits = (uint32_t)tile->scale_bits,
    };
    MATCH_CARFIELD_CHARGE(redmule_matmul, tile);
    match_carfield_pulp_team(clear_core, &sums);
    if (turned) {
        match_carfield_pulp_team(match_carfield_pulp_turn, tile);
    }
    begin_jobs();
    for (uint32_t b = 0u; b < tile->b; b++) {
        job(left + b * tile->m * tile->c, right + b * tile->c * tile->k, sums.output + b * tile->m * tile->k, tile->m,
            tile->c, tile->k);
    }
    end_jobs();
    match_carfield_pulp_team(finish_core, &sums);
}
