/* match_carfield_half_layers.h - the kernels that add up windows: convolutions, dense layers, products, pooling, and
 * element by element. A unit's file says before what its kernels are called and how many lanes its vectors have.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_LAYERS_H
#define MATCH_CARFIELD_HALF_LAYERS_H

#include "match_carfield_half_kernels.h"
#include "match_carfield_half_taps.h"

/* ---- convolutions ---------------------------------------------------------------------------------------------- */

static void group2d_core(void *tile)
{
    const match_half_group2d_t *const t = tile;
    layer_t l = {
        .windows = MATCH_CARFIELD_WINDOWS(t, t->dilation_y, t->dilation_x),
        .k = t->kg, .c = t->cg, .input_pixel = t->g * t->cg, .output_pixel = t->g * t->kg, .weight_row = t->kg,
        .tap_weights = t->cg * t->kg, .relu = t->relu != 0,
    };
    const uint32_t group_weights = t->fy * t->fx * l.tap_weights;
    for (uint32_t g = 0u; g < t->g; g++) {
        l.input = (const element_t *)t->input + g * t->cg;
        l.weight = (const element_t *)t->weight + g * group_weights;
        l.mul = (const element_t *)t->mul + g * t->kg;
        l.add = (const element_t *)t->add + g * t->kg;
        l.output = (element_t *)t->output + g * t->kg;
        layer_share(TAP_MIXES, &l, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    }
}

static void conv2d_core(void *tile)
{
    const match_half_conv2d_t *const t = tile;
    const layer_t l = {
        .windows = MATCH_CARFIELD_WINDOWS(t, t->dilation_y, t->dilation_x), .input = t->input, .weight = t->weight,
        .mul = t->mul, .add = t->add, .output = t->output, .k = t->k, .c = t->c, .input_pixel = t->c,
        .output_pixel = t->k, .weight_row = t->k, .tap_weights = t->c * t->k, .relu = t->relu != 0,
    };
    layer_share(TAP_MIXES, &l, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
}

static void depthwise2d_core(void *tile)
{
    const match_half_depthwise2d_t *const t = tile;
    const layer_t l = {
        .windows = MATCH_CARFIELD_WINDOWS(t, t->dilation_y, t->dilation_x), .input = t->input, .weight = t->weight,
        .mul = t->mul, .add = t->add, .output = t->output, .k = t->k, .input_pixel = t->k, .output_pixel = t->k,
        .tap_weights = t->k, .relu = t->relu != 0,
    };
    layer_share(TAP_WEIGHS, &l, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
}

void MATCH_CARFIELD_KERNEL(conv2d)(const match_half_conv2d_t *tile)
{
    MATCH_CARFIELD_BEGIN(conv2d, tile);
    MATCH_CARFIELD_TEAM(conv2d_core, tile);
}

void MATCH_CARFIELD_KERNEL(group2d)(const match_half_group2d_t *tile)
{
    MATCH_CARFIELD_BEGIN(group2d, tile);
    MATCH_CARFIELD_TEAM(group2d_core, tile);
}

void MATCH_CARFIELD_KERNEL(depthwise2d)(const match_half_depthwise2d_t *tile)
{
    MATCH_CARFIELD_BEGIN(depthwise2d, tile);
    MATCH_CARFIELD_TEAM(depthwise2d_core, tile);
}

/* ---- dense layers and products --------------------------------------------------------------------------------- */

static void linear_core(void *tile)
{
    const match_half_linear_t *const t = tile;
    const layer_t l = {
        .windows = match_carfield_rows(t->n), .input = t->input, .weight = t->weight, .mul = t->mul, .add = t->add,
        .output = t->output, .k = t->k, .c = t->c, .input_pixel = t->c, .output_pixel = t->k, .weight_row = t->k,
        .tap_weights = t->c * t->k, .relu = t->relu != 0,
    };
    layer_share(TAP_MIXES, &l, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
}

/* target[i] = source[i * step] */
MATCH_CARFIELD_INLINE void gather(element_t *target, const element_t *source, uint32_t step, uint32_t size)
{
    vec_t vector;
    uint32_t i = 0u;
    for (; i + MATCH_CARFIELD_LANES <= size; i += MATCH_CARFIELD_LANES, source += MATCH_CARFIELD_LANES * step) {
        vec_gather(&vector, source, step, MATCH_CARFIELD_LANES);
        vec_store(target + i, &vector, MATCH_CARFIELD_LANES);
    }
    if (i < size) {
        vec_gather(&vector, source, step, size - i);
        vec_store(target + i, &vector, size - i);
    }
}

/* The right operand, which lies as [B][K][C] or [K][B][C], becomes [B][C][K] in scratch. */
void MATCH_CARFIELD_KERNEL(turn)(void *tile)
{
    const match_half_matmul_t *const t = tile;
    const uint32_t row = (t->b_between != 0) ? t->b * t->c : t->c;
    const uint32_t batch = (t->b_between != 0) ? t->c : t->k * t->c;
    const match_carfield_share_t rows = match_carfield_share(t->b * t->c, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    for (uint32_t i = rows.start; i < rows.stop; i++) {
        const uint32_t b = i / t->c;
        gather((element_t *)t->scratch + i * t->k, (const element_t *)t->right + b * batch + (i - b * t->c), row, t->k);
    }
}

static void matmul_core(void *tile)
{
    const match_half_matmul_t *const t = tile;
    const int turned = t->b_transposed != 0, between = t->b_between != 0 && !turned;
    layer_t l = {
        .windows = match_carfield_rows(t->m), .k = t->k, .c = t->c,
        .input_pixel = (t->a_between != 0) ? t->b * t->c : t->c,
        .output_pixel = (t->output_between != 0) ? t->b * t->k : t->k,
        .weight_row = between ? t->b * t->k : t->k, .scale_bits = (uint32_t)t->scale_bits,
    };
    const uint32_t a_batch = (t->a_between != 0) ? t->c : t->m * t->c;
    const uint32_t output_batch = (t->output_between != 0) ? t->k : t->m * t->k;
    const uint32_t b_batch = between ? t->k : t->c * t->k;
    for (uint32_t b = 0u; b < t->b; b++) {
        l.input = (const element_t *)t->left + b * a_batch;
        l.weight = (const element_t *)(turned ? t->scratch : t->right) + b * b_batch;
        l.output = (element_t *)t->output + b * output_batch;
        layer_share(TAP_MIXES, &l, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    }
}

void MATCH_CARFIELD_KERNEL(linear)(const match_half_linear_t *tile)
{
    MATCH_CARFIELD_BEGIN(linear, tile);
    MATCH_CARFIELD_TEAM(linear_core, tile);
}

void MATCH_CARFIELD_KERNEL(matmul)(const match_half_matmul_t *tile)
{
    MATCH_CARFIELD_BEGIN(matmul, tile);
    if (tile->b_transposed != 0) {
        MATCH_CARFIELD_TEAM(MATCH_CARFIELD_KERNEL(turn), tile);
    }
    MATCH_CARFIELD_TEAM(matmul_core, tile);
}

/* ---- pooling --------------------------------------------------------------------------------------------------- */

static void pool2d_core(void *tile)
{
    const match_half_pool2d_t *const t = tile;
    const layer_t l = {
        .windows = MATCH_CARFIELD_WINDOWS(t, 1, 1), .input = t->input, .weight = t->input, .output = t->output,
        .k = t->c, .input_pixel = t->c, .output_pixel = t->c,
        .scale_bits = (t->average != 0) ? (uint32_t)t->scale_bits : MATCH_HALF_ONE,
    };
    if (t->average != 0) {
        layer_share(TAP_ADDS, &l, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    } else {
        layer_share(TAP_COMPARES, &l, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    }
}

void MATCH_CARFIELD_KERNEL(pool2d)(const match_half_pool2d_t *tile)
{
    MATCH_CARFIELD_BEGIN(pool2d, tile);
    MATCH_CARFIELD_TEAM(pool2d_core, tile);
}

/* ---- layout ---------------------------------------------------------------------------------------------------- */

static void transpose_core(void *tile)
{
    const match_half_transpose_t *const t = tile;
    const match_carfield_share_t rows = match_carfield_share(t->c, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    for (uint32_t c = rows.start; c < rows.stop; c++) {
        gather((element_t *)t->output + c * t->r, (const element_t *)t->input + c, t->c, t->r);
    }
}

void MATCH_CARFIELD_KERNEL(transpose)(const match_half_transpose_t *tile)
{
    MATCH_CARFIELD_BEGIN(transpose, tile);
    MATCH_CARFIELD_TEAM(transpose_core, tile);
}

/* ---- element by element ---------------------------------------------------------------------------------------- */

MATCH_CARFIELD_INLINE void sum_vector(const element_t *a, const element_t *b, element_t *output, int relu, uint32_t n)
{
    vec_t sum, addend;
    vec_load(&sum, a, n);
    vec_load(&addend, b, n);
    vec_add(&sum, &addend, n);
    if (relu) {
        vec_relu(&sum, n);
    }
    vec_store(output, &sum, n);
}

static void add_core(void *tile)
{
    const match_half_add_t *const t = tile;
    const uint32_t size = t->y * t->x * t->c;
    /* Whole vectors for all cores. */
    const match_carfield_share_t share = match_carfield_share(
        (size + MATCH_CARFIELD_LANES_MIN - 1u) / MATCH_CARFIELD_LANES_MIN, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    const uint32_t stop = share.stop * MATCH_CARFIELD_LANES_MIN, end = (stop < size) ? stop : size;
    const element_t *const a = t->input_a, *const b = t->input_b;
    element_t *const output = t->output;
    uint32_t i = share.start * MATCH_CARFIELD_LANES_MIN;
    for (; i + MATCH_CARFIELD_LANES <= end; i += MATCH_CARFIELD_LANES) {
        sum_vector(a + i, b + i, output + i, t->relu != 0, MATCH_CARFIELD_LANES);
    }
    if (i < end) {
        sum_vector(a + i, b + i, output + i, t->relu != 0, end - i);
    }
}

void MATCH_CARFIELD_KERNEL(add)(const match_half_add_t *tile)
{
    MATCH_CARFIELD_BEGIN(add, tile);
    MATCH_CARFIELD_TEAM(add_core, tile);
}

#endif
