/* match_gap9_ne16_job.c - see match_gap9_ne16_job.h. SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_ne16_job.h"

#include "ne16_task_defs.h"
#include "pmsis.h"

/* A port that measures defines it. */
#ifndef MATCH_GAP9_CHARGE_NE16_WORDS
#define MATCH_GAP9_CHARGE_NE16_WORDS() ((void)0)
#define MATCH_GAP9_CHARGE_NE16_ROWS() ((void)0)
#endif

#define SIDE 3u         /* output rows and columns of a subtile */
#define INPUTS_LOG 4u   /* 16 input channels of a subtile, and output channels of depthwise ones */
#define OUTPUTS_LOG 5u  /* 32 output channels */
#define WORD_BYTES 2u   /* 16 channels of one bit */
#define TAPS 9u

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static uint32_t halves(uint32_t high, uint32_t low)
{
    return (high << 16) | low;
}

/* A division by 3 takes up to 35 cycles, this 2; exact below 98304. */
static uint32_t third(uint32_t value)
{
    return (value * 43691u) >> 17;
}

/* ---- tiles --------------------------------------------------------------------------------------------------- */

void match_gap9_ne16_tile_3x3(match_gap9_ne16_tile_t *tile, const match_conv2d_t *context, int raw)
{
    const match_conv2d_t *const t = context;
    tile->input = t->input;
    tile->weight = t->weight;
    tile->multiplier = t->multiplier;
    tile->addend = t->addend;
    tile->output = (raw != 0) ? t->scratch : t->output;
    tile->in_y = t->input_y;
    tile->in_x = t->input_x;
    tile->c = t->c;
    tile->row_bytes = t->input_x * t->c;
    tile->pixel_bytes = t->c;
    tile->oy = t->oy;
    tile->ox = t->ox;
    tile->k = t->k;
    tile->out_bytes = (raw != 0) ? 4u : 1u;
    tile->kernel = 3u;
    tile->depthwise = 0u;
    tile->stride = (uint32_t)t->stride_x;
    tile->weight_bits = (uint32_t)t->weight_bits;
    tile->shift = (uint32_t)t->shift;
    tile->top = t->input_y_pad_before;
    tile->bottom = t->input_y_pad_after;
    tile->left = t->input_x_pad_before;
    tile->right = t->input_x_pad_after;
    tile->pad_value = (uint32_t)t->pad_value;
}

/* A stride of a 1x1 kernel is only a stride of the input addresses. */
void match_gap9_ne16_tile_1x1(match_gap9_ne16_tile_t *tile, const match_conv2d_t *context, int raw)
{
    match_gap9_ne16_tile_3x3(tile, context, raw);
    tile->kernel = 1u;
    tile->stride = 1u;
    tile->row_bytes *= (uint32_t)context->stride_y;
    tile->pixel_bytes *= (uint32_t)context->stride_x;
}

void match_gap9_ne16_tile_depthwise(match_gap9_ne16_tile_t *tile, const match_depthwise2d_t *context, int raw)
{
    const match_depthwise2d_t *const t = context;
    tile->input = t->input;
    tile->weight = t->weight;
    tile->multiplier = t->multiplier;
    tile->addend = t->addend;
    tile->output = (raw != 0) ? t->scratch : t->output;
    tile->in_y = t->input_y;
    tile->in_x = t->input_x;
    tile->c = t->k;
    tile->row_bytes = t->input_x * t->k;
    tile->pixel_bytes = t->k;
    tile->oy = t->oy;
    tile->ox = t->ox;
    tile->k = t->k;
    tile->out_bytes = (raw != 0) ? 4u : 1u;
    tile->kernel = 3u;
    tile->depthwise = 1u;
    tile->stride = (uint32_t)t->stride_x;
    tile->weight_bits = (uint32_t)t->weight_bits;
    tile->shift = (uint32_t)t->shift;
    tile->top = t->input_y_pad_before;
    tile->bottom = t->input_y_pad_after;
    tile->left = t->input_x_pad_before;
    tile->right = t->input_x_pad_after;
    tile->pad_value = (uint32_t)t->pad_value;
}

/* N rows of C values are an N by 1 image of C channels. */
void match_gap9_ne16_tile_linear(match_gap9_ne16_tile_t *tile, const match_linear_t *context, int raw)
{
    const match_linear_t *const t = context;
    tile->input = t->input;
    tile->weight = t->weight;
    tile->multiplier = t->multiplier;
    tile->addend = t->addend;
    tile->output = (raw != 0) ? t->scratch : t->output;
    tile->in_y = t->n;
    tile->in_x = 1u;
    tile->c = t->c;
    tile->row_bytes = t->c;
    tile->pixel_bytes = t->c;
    tile->oy = t->n;
    tile->ox = 1u;
    tile->k = t->k;
    tile->out_bytes = (raw != 0) ? 4u : 1u;
    tile->kernel = 1u;
    tile->depthwise = 0u;
    tile->stride = 1u;
    tile->weight_bits = (uint32_t)t->weight_bits;
    tile->shift = (uint32_t)t->shift;
    tile->top = 0u;
    tile->bottom = 0u;
    tile->left = 0u;
    tile->right = 0u;
    tile->pad_value = 0u;
}

/* ---- words --------------------------------------------------------------------------------------------------- */

/* Input rows and columns that the counters leave out at the bottom and right read as zero; other padding values, and all
 * padding with stride 2, go through the registers, which count from the end of a whole subtile. */
static void set_border(ne16_task_t *task, const match_gap9_ne16_tile_t *t, uint32_t rows, uint32_t columns,
                       uint32_t top, uint32_t bottom)
{
    ne16_cfg_t *const cfg = &task->data.cfg;
    const uint32_t above = third(rows - 1u), before = third(columns - 1u); /* whole subtiles before the last */
    const uint32_t halo = t->kernel - 1u, height = rows - SIDE * above, width = columns - SIDE * before;
    const uint32_t value = (t->kernel == 1u) ? 0u : t->pad_value; /* 1x1 jobs have no padding */
    uint32_t below = bottom, beside = t->right;
    cfg->subtile.number.HoWo = halves(above + 1u, before + 1u);
    cfg->subtile.remainder.HoWo = halves(height, width);
    if ((value == 0u) && (t->stride == 1u)) {
        cfg->subtile.remainder.HiWi = halves(height + halo - bottom, width + halo - t->right);
    } else {
        cfg->subtile.remainder.HiWi = halves(height + halo, width + halo);
        below += (bottom > 0u) ? SIDE - height : 0u;
        beside += (t->right > 0u) ? SIDE - width : 0u;
    }
    cfg->padding = (top << 28) | (beside << 24) | (below << 20) | (t->left << 16) | value;
}

void match_gap9_ne16_set_rows(ne16_task_t *task, const match_gap9_ne16_tile_t *tile, uint32_t rows, uint32_t top,
                              uint32_t bottom)
{
    MATCH_GAP9_CHARGE_NE16_ROWS();
    set_border(task, tile, rows, tile->ox, top, bottom);
}

static uint32_t conf0(const match_gap9_ne16_tile_t *t)
{
    const uint32_t filter = (t->depthwise != 0u) ? (uint32_t)NE16_FLAG_MODE_3x3_DW : (uint32_t)NE16_FLAG_MODE_3x3;
    uint32_t word = (t->weight_bits - 1u) | (uint32_t)NE16_FLAG_WEIGHT_OFFSET_LAYER_WISE;
    word |= (t->kernel == 1u) ? (uint32_t)NE16_FLAG_MODE_1x1 : filter;
    word |= (t->stride == 2u) ? (uint32_t)NE16_FLAG_STRIDE_2x2 : 0u;
    if (t->out_bytes == 4u) {
        return word | (uint32_t)NE16_QUANT_MODE_32BIT;
    }
    return word | (uint32_t)NE16_FLAG_NORM_QUANT | (uint32_t)NE16_QUANT_MODE_8BIT |
           (uint32_t)NE16_FLAG_QUANT_FUNCTION_RELU | (uint32_t)NE16_NORM_MODE_32BIT |
           (uint32_t)NE16_FLAG_NORM_BIAS | (t->shift << 16);
}

void match_gap9_ne16_fill(ne16_task_t *task, const match_gap9_ne16_tile_t *t)
{
    ne16_task_data_t *const data = &task->data;
    ne16_cfg_t *const cfg = &data->cfg;
    const uint32_t log = (t->depthwise != 0u) ? INPUTS_LOG : OUTPUTS_LOG, inputs = ((t->c - 1u) >> INPUTS_LOG) + 1u;
    const uint32_t out_pixel = (t->k * t->out_bytes) >> (t->stride - 1u); /* half of it in stride-2 mode */
    const uint32_t bit = WORD_BYTES * ((t->kernel == 1u) ? 1u : TAPS);
    MATCH_GAP9_CHARGE_NE16_WORDS();
    data->weights_addr = address(t->weight);
    data->infeat_addr = address(t->input) - t->top * t->row_bytes - t->left * t->pixel_bytes;
    data->outfeat_addr = address(t->output);
    data->scale_addr = address(t->multiplier);
    data->scale_shift_addr = 0u;
    data->scale_bias_addr = address(t->addend);
    cfg->input_stride = (ne16_stride_t){.d0 = t->pixel_bytes, .d1 = t->row_bytes, .d2 = 0u};
    cfg->output_stride =
        (ne16_stride_t){.d0 = NE16_OUTPUT_BANDWIDTH_BYTES, .d1 = out_pixel, .d2 = t->ox * out_pixel};
    if (t->kernel == 1u) {
        cfg->weights_stride =
            (ne16_stride_t){.d0 = bit * t->weight_bits, .d1 = bit * t->weight_bits * inputs, .d2 = 0u};
    } else {
        const uint32_t channel = (t->depthwise != 0u) ? 0u : bit * t->weight_bits * inputs;
        cfg->weights_stride = (ne16_stride_t){.d0 = bit, .d1 = channel, .d2 = 0u};
    }
    cfg->subtile.number.KoKi = halves(((t->k - 1u) >> log) + 1u, inputs);
    cfg->subtile.remainder.KoKi =
        halves(((t->k - 1u) & ((1u << log) - 1u)) + 1u, ((t->c - 1u) & ((1u << INPUTS_LOG) - 1u)) + 1u);
    cfg->weight_offset_factor = 0u - (1u << (t->weight_bits - 1u));
    cfg->filter_mask = 0u;
    cfg->conf0 = conf0(t);
    if (t->stride == 2u) { /* the outputs of a job are the corners of 3 by 3 */
        set_border(task, t, (t->oy > 1u) ? SIDE : 1u, (t->ox > 1u) ? SIDE : 1u, t->top, t->bottom);
    } else {
        set_border(task, t, t->oy, t->ox, t->top, t->bottom);
    }
}
