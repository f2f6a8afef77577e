/* match_snitch_products_conv.c - convolution of images as they lie in ONNX (NCHW), and maximum pooling: the pixels under
 * the windows of four outputs make a panel, weights are the stream. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_hooks.h"
#include "match_snitch_products.h"
#include "match_snitch_products_kernels.h"

/* Row or column of the input under a tap, or -1 where there is padding. */
static inline int32_t under(uint32_t output, int32_t stride, uint32_t tap, int32_t dilation, uint32_t pad, uint32_t size)
{
    const int32_t at = (int32_t)output * stride + (int32_t)tap * dilation - (int32_t)pad;
    return ((at < 0) || (at >= (int32_t)size)) ? -1 : at;
}

/* The window of output `pixel` as vector `number` of a panel of pairs: in words, even vectors are added to what is there,
 * which a first vector of its word replaces. */
static void window(const match_snitch_conv2d_t *t, uint32_t pixel, match_snitch_panel_t *panel, uint32_t number)
{
    const uint32_t oy = pixel / t->ox, ox = pixel - oy * t->ox;
    const int32_t offset = t->input_unsigned ? 128 : 0, padding = t->pad_value - offset;
    const uint8_t *channel = t->input;
    uint32_t *word = panel->words + number / 2u;
    const uint32_t places = (number % 2u) * 16u, keep = (number % 2u) ? UINT32_MAX : 0u;
    match_ita_charge(MATCH_ITA_WORK(WINDOW) +
                     t->c * t->fy * (MATCH_ITA_WORK(WINDOW_ROW) + t->fx * MATCH_ITA_WORK(WINDOW_TAP)));
    for (uint32_t c = 0u; c < t->c; c++, channel += t->input_y * t->input_x) {
        for (uint32_t fy = 0u; fy < t->fy; fy++) {
            const int32_t y = under(oy, t->stride_y, fy, t->dilation_y, t->input_y_pad_before, t->input_y);
            for (uint32_t fx = 0u; fx < t->fx; fx++) {
                const int32_t x = under(ox, t->stride_x, fx, t->dilation_x, t->input_x_pad_before, t->input_x);
                int32_t value = padding;
                if ((y >= 0) && (x >= 0)) {
                    const uint8_t byte = channel[(uint32_t)y * t->input_x + (uint32_t)x];
                    value = (t->input_unsigned ? (int32_t)byte : (int32_t)(int8_t)byte) - offset;
                }
                *word = (*word & keep) + ((uint32_t)value << places);
                word += 2;
            }
        }
    }
}

static void conv2d_core(void *context)
{
    const match_snitch_conv2d_t *const t = context;
    const uint32_t pixels = t->oy * t->ox, taps = t->c * t->fy * t->fx;
    const uint32_t panels = match_snitch_up(pixels, MATCH_SNITCH_PANEL);
    const match_snitch_part_t part = match_snitch_part(panels * MATCH_SNITCH_PANEL, MATCH_SNITCH_PANEL);
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    for (uint32_t i = part.start; i < part.stop; i++) {
        match_snitch_panel_t *const panel = match_snitch_panel(t->scratch, i / MATCH_SNITCH_PANEL, taps);
        panel->sums[i % MATCH_SNITCH_PANEL] = 0; /* nothing is taken off the weights */
        window(t, (i < pixels) ? i : pixels - 1u, panel, i % MATCH_SNITCH_PANEL);
    }
    match_ita_barrier();
    const match_snitch_product_t p = {
        .panels = t->scratch, .vectors = pixels, .taps = taps, .columns = t->k, .stream = t->weight,
        .stream_step = taps, .output = t->output, .vector_step = 1u, .column_step = pixels,
        .multiplier = t->multiplier, .addend = t->addend, .parameter_step = 1u, .shift = (uint32_t)t->shift,
        .low = t->low, .high = t->high, .wide = t->wide, .pairs = 1,
    };
    match_snitch_product(&p);
}

static uint8_t largest(const match_snitch_maxpool2d_t *t, const uint8_t *channel, uint32_t oy, uint32_t ox, uint8_t flip)
{
    int32_t most = INT8_MIN;
    match_ita_charge(MATCH_ITA_WORK(MAXPOOL_OUTPUT) +
                     t->fy * (MATCH_ITA_WORK(MAXPOOL_ROW) + t->fx * MATCH_ITA_WORK(MAXPOOL_TAP)));
    for (uint32_t fy = 0u; fy < t->fy; fy++) {
        const int32_t y = under(oy, t->stride_y, fy, t->dilation_y, t->input_y_pad_before, t->input_y);
        for (uint32_t fx = 0u; (fx < t->fx) && (y >= 0); fx++) {
            const int32_t x = under(ox, t->stride_x, fx, t->dilation_x, t->input_x_pad_before, t->input_x);
            if (x >= 0) {
                const int32_t value = (int8_t)(uint8_t)(channel[(uint32_t)y * t->input_x + (uint32_t)x] ^ flip);
                most = (value > most) ? value : most;
            }
        }
    }
    return (uint8_t)((uint8_t)most ^ flip);
}

static void maxpool2d_core(void *context)
{
    const match_snitch_maxpool2d_t *const t = context;
    const uint8_t flip = t->input_unsigned ? 0x80u : 0u;
    const uint32_t pixels = t->oy * t->ox;
    const match_snitch_part_t part = match_snitch_part(t->c * pixels, 1u);
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    for (uint32_t i = part.start; i < part.stop; i++) {
        const uint32_t c = i / pixels, pixel = i - c * pixels, oy = pixel / t->ox;
        const uint8_t *const channel = (const uint8_t *)t->input + c * t->input_y * t->input_x;
        ((uint8_t *)t->output)[i] = largest(t, channel, oy, pixel - oy * t->ox, flip);
    }
}

void match_snitch_conv2d(const match_snitch_conv2d_t *ctx) { match_ita_team_launch(conv2d_core, ctx); }
void match_snitch_maxpool2d(const match_snitch_maxpool2d_t *ctx) { match_ita_team_launch(maxpool2d_core, ctx); }
