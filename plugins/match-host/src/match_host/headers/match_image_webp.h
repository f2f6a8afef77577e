/* Lossy WebP, a key frame of VP8 (RFC 6386), for match_image.h. Chroma is interpolated and converted to RGB as libwebp
 * does it.
 */
#ifndef MATCH_IMAGE_WEBP_H
#define MATCH_IMAGE_WEBP_H

#include <stddef.h>

#include "match_image.h"
#include "match_image_vp8_tables.h"

/* Decodes binary decisions. */
typedef struct {
    const match_image_t *image;
    uint32_t at, end, value, range, shifts;
} match_vp8_bits_t;

enum { MATCH_VP8_DC, MATCH_VP8_TM, MATCH_VP8_V, MATCH_VP8_H, MATCH_VP8_BLOCKS };
enum { MATCH_VP8_RD = 4, MATCH_VP8_VR, MATCH_VP8_LD, MATCH_VP8_VL, MATCH_VP8_HD, MATCH_VP8_HU };

/* Factors of a segment: DC and AC of luma, of the second order, of chroma. */
typedef struct {
    int32_t y[2], y2[2], uv[2];
} match_vp8_factors_t;

typedef struct {
    const match_image_t *image;
    match_vp8_bits_t head, parts[8];
    uint32_t part_count, across, down, stride_y, stride_uv;
    uint8_t *y, *u, *v; /* the first sample of each plane; one row above and one column on the left belong to it */
    uint8_t *chances, *above, *modes, *filters;
    uint8_t left[9], left_modes[4];
    match_vp8_factors_t factors[4];
    int32_t levels[4];
    uint32_t has_segments, has_map, has_deltas, is_simple, sharpness, skips, skip_chance;
    int32_t delta_frame, delta_blocks;
    uint8_t segments[3];
} match_vp8_t;

/* ---- decisions --------------------------------------------------------------------------------------------------- */

static inline uint32_t match_vp8_byte(match_vp8_bits_t *b)
{
    return b->at < b->end ? match_image_byte(b->image, b->at++) : 0u;
}

static inline void match_vp8_begin(match_vp8_bits_t *b, const match_image_t *image, uint32_t at, uint32_t end)
{
    *b = (match_vp8_bits_t){.image = image, .at = at, .end = end, .range = 255u};
    b->value = match_vp8_byte(b) << 8;
    b->value |= match_vp8_byte(b);
}

static inline uint32_t match_vp8_bit(match_vp8_bits_t *b, uint32_t chance)
{
    const uint32_t split = 1u + (((b->range - 1u) * chance) >> 8), found = b->value >= split << 8;
    if (found != 0u) {
        b->range -= split;
        b->value -= split << 8;
    } else {
        b->range = split;
    }
    while (b->range < 128u) {
        b->value <<= 1;
        b->range <<= 1;
        if (++b->shifts == 8u) {
            b->shifts = 0u;
            b->value |= match_vp8_byte(b);
        }
    }
    return found;
}

static inline uint32_t match_vp8_number(match_vp8_bits_t *b, uint32_t bits)
{
    uint32_t value = 0u;
    while (bits-- > 0u) {
        value = (value << 1) | match_vp8_bit(b, 128u);
    }
    return value;
}

static inline int32_t match_vp8_signed(match_vp8_bits_t *b, uint32_t bits)
{
    const int32_t value = (int32_t)match_vp8_number(b, bits);
    return match_vp8_number(b, 1u) != 0u ? -value : value;
}

/* A signed number that may be left out. */
static inline int32_t match_vp8_optional(match_vp8_bits_t *b, uint32_t bits)
{
    return match_vp8_number(b, 1u) != 0u ? match_vp8_signed(b, bits) : 0;
}

/* ---- the frame's header ------------------------------------------------------------------------------------------ */

static inline uint32_t match_vp8_index(int32_t index, int32_t most)
{
    return (uint32_t)(index < 0 ? 0 : index > most ? most : index);
}

static inline void match_vp8_header(match_vp8_t *d)
{
    match_vp8_bits_t *const b = &d->head;
    int32_t quants[4] = {0}, levels[4] = {0};
    uint32_t absolute = 1u;
    (void)match_vp8_number(b, 2u); /* colour space, clamping */
    d->has_segments = match_vp8_number(b, 1u);
    memset(d->segments, 255, sizeof d->segments);
    if (d->has_segments != 0u) {
        d->has_map = match_vp8_number(b, 1u);
        if (match_vp8_number(b, 1u) != 0u) {
            absolute = match_vp8_number(b, 1u);
            for (uint32_t i = 0u; i < 4u; i++) {
                quants[i] = match_vp8_optional(b, 7u);
            }
            for (uint32_t i = 0u; i < 4u; i++) {
                levels[i] = match_vp8_optional(b, 6u);
            }
        }
        for (uint32_t i = 0u; d->has_map != 0u && i < 3u; i++) {
            d->segments[i] = (uint8_t)(match_vp8_number(b, 1u) != 0u ? match_vp8_number(b, 8u) : 255u);
        }
    }
    d->is_simple = match_vp8_number(b, 1u);
    const int32_t level = (int32_t)match_vp8_number(b, 6u);
    d->sharpness = match_vp8_number(b, 3u);
    d->has_deltas = match_vp8_number(b, 1u);
    if (d->has_deltas != 0u && match_vp8_number(b, 1u) != 0u) {
        for (uint32_t i = 0u; i < 8u; i++) {
            const int32_t delta = match_vp8_optional(b, 6u);
            d->delta_frame = i == 0u ? delta : d->delta_frame;
            d->delta_blocks = i == 4u ? delta : d->delta_blocks;
        }
    }
    d->part_count = 1u << match_vp8_number(b, 2u);
    const int32_t base = (int32_t)match_vp8_number(b, 7u);
    int32_t deltas[5];
    for (uint32_t i = 0u; i < 5u; i++) {
        deltas[i] = match_vp8_optional(b, 4u);
    }
    for (uint32_t s = 0u; s < 4u; s++) {
        const int32_t q = d->has_segments == 0u ? base : absolute != 0u ? quants[s] : base + quants[s];
        match_vp8_factors_t *const f = &d->factors[s];
        f->y[0] = match_vp8_dc[match_vp8_index(q + deltas[0], 127)];
        f->y[1] = match_vp8_ac[match_vp8_index(q, 127)];
        f->y2[0] = match_vp8_dc[match_vp8_index(q + deltas[1], 127)] * 2;
        f->y2[1] = match_vp8_ac[match_vp8_index(q + deltas[2], 127)] * 155 / 100;
        f->y2[1] = f->y2[1] < 8 ? 8 : f->y2[1];
        f->uv[0] = match_vp8_dc[match_vp8_index(q + deltas[3], 117)];
        f->uv[1] = match_vp8_ac[match_vp8_index(q + deltas[4], 127)];
        d->levels[s] = d->has_segments == 0u ? level : absolute != 0u ? levels[s] : level + levels[s];
    }
    (void)match_vp8_number(b, 1u); /* probabilities of later frames */
    for (uint32_t i = 0u; i < sizeof match_vp8_chances; i++) {
        d->chances[i] = match_vp8_chances[i];
        if (match_vp8_bit(b, match_vp8_updates[i]) != 0u) {
            d->chances[i] = (uint8_t)match_vp8_number(b, 8u);
        }
    }
    d->skips = match_vp8_number(b, 1u);
    d->skip_chance = d->skips != 0u ? match_vp8_number(b, 8u) : 0u;
}

/* ---- coefficients ------------------------------------------------------------------------------------------------ */

static inline int32_t match_vp8_large(match_vp8_bits_t *b, const uint8_t *p)
{
    static const uint8_t more[4][12] = {{173, 148, 140},
                                        {176, 155, 140, 135},
                                        {180, 157, 141, 134, 130},
                                        {254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}};
    if (match_vp8_bit(b, p[3]) == 0u) {
        return match_vp8_bit(b, p[4]) == 0u ? 2 : 3 + (int32_t)match_vp8_bit(b, p[5]);
    }
    if (match_vp8_bit(b, p[6]) == 0u) {
        if (match_vp8_bit(b, p[7]) == 0u) {
            return 5 + (int32_t)match_vp8_bit(b, 159u);
        }
        const int32_t two = (int32_t)match_vp8_bit(b, 165u);
        return 7 + 2 * two + (int32_t)match_vp8_bit(b, 145u);
    }
    const uint32_t high = match_vp8_bit(b, p[8]), kind = 2u * high + match_vp8_bit(b, p[9u + high]);
    int32_t value = 0;
    for (uint32_t i = 0u; more[kind][i] != 0u; i++) {
        value = 2 * value + (int32_t)match_vp8_bit(b, more[kind][i]);
    }
    return value + 3 + (8 << kind);
}

/* Reads a block's coefficients from `n` on; returns the position behind the last one. */
static inline uint32_t match_vp8_block(const match_vp8_t *d, match_vp8_bits_t *b, uint32_t type, uint32_t context, uint32_t n,
                                       const int32_t *factors, int32_t *out)
{
    static const uint8_t band[17] = {0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0};
    static const uint8_t zigzag[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
    const uint8_t *const chances = d->chances + type * 264u, *p = chances + band[n] * 33u + context * 11u;
    if (match_vp8_bit(b, p[0]) == 0u) {
        return n;
    }
    for (;;) {
        while (match_vp8_bit(b, p[1]) == 0u) {
            if (++n == 16u) {
                return 16u;
            }
            p = chances + band[n] * 33u;
        }
        const uint32_t is_large = match_vp8_bit(b, p[2]);
        const int32_t value = is_large != 0u ? match_vp8_large(b, p) : 1;
        out[zigzag[n]] = (match_vp8_bit(b, 128u) != 0u ? -value : value) * factors[n > 0u];
        if (++n == 16u) {
            return 16u;
        }
        p = chances + band[n] * 33u + (1u + is_large) * 11u;
        if (match_vp8_bit(b, p[0]) == 0u) {
            return n;
        }
    }
}

/* DC coefficients of the 16 blocks of luma from those of the second order. */
static inline void match_vp8_spread(const int32_t *in, int32_t *coefficients)
{
    int32_t t[16];
    for (uint32_t i = 0u; i < 4u; i++) {
        const int32_t a = in[i] + in[12u + i], b = in[4u + i] + in[8u + i];
        const int32_t c = in[4u + i] - in[8u + i], e = in[i] - in[12u + i];
        t[i] = a + b;
        t[4u + i] = e + c;
        t[8u + i] = a - b;
        t[12u + i] = e - c;
    }
    for (uint32_t i = 0u; i < 4u; i++) {
        const int32_t first = t[4u * i] + 3, a = first + t[4u * i + 3u], b = t[4u * i + 1u] + t[4u * i + 2u];
        const int32_t c = t[4u * i + 1u] - t[4u * i + 2u], e = first - t[4u * i + 3u];
        coefficients[64u * i] = (a + b) >> 3;
        coefficients[64u * i + 16u] = (e + c) >> 3;
        coefficients[64u * i + 32u] = (a - b) >> 3;
        coefficients[64u * i + 48u] = (e - c) >> 3;
    }
}

static inline int32_t match_vp8_more(int32_t a) /* a * sqrt(2) * cos(pi / 8) */
{
    return ((a * 20091) >> 16) + a;
}

static inline int32_t match_vp8_less(int32_t a) /* a * sqrt(2) * sin(pi / 8) */
{
    return (a * 35468) >> 16;
}

/* Adds the transformed coefficients to the prediction. */
static inline void match_vp8_add(const int32_t *in, uint8_t *out, uint32_t stride)
{
    int32_t t[16];
    for (uint32_t i = 0u; i < 4u; i++) {
        const int32_t a = in[i] + in[8u + i], b = in[i] - in[8u + i];
        const int32_t c = match_vp8_less(in[4u + i]) - match_vp8_more(in[12u + i]);
        const int32_t e = match_vp8_more(in[4u + i]) + match_vp8_less(in[12u + i]);
        t[i] = a + e;
        t[4u + i] = b + c;
        t[8u + i] = b - c;
        t[12u + i] = a - e;
    }
    for (uint32_t i = 0u; i < 4u; i++) {
        const int32_t *const r = t + 4u * i;
        uint8_t *const row = out + i * stride;
        const int32_t a = r[0] + 4 + r[2], b = r[0] + 4 - r[2];
        const int32_t c = match_vp8_less(r[1]) - match_vp8_more(r[3]), e = match_vp8_more(r[1]) + match_vp8_less(r[3]);
        row[0] = match_image_clip(row[0] + ((a + e) >> 3));
        row[1] = match_image_clip(row[1] + ((b + c) >> 3));
        row[2] = match_image_clip(row[2] + ((b - c) >> 3));
        row[3] = match_image_clip(row[3] + ((a - e) >> 3));
    }
}

/* Reads the 24 blocks of a macroblock; returns whether any coefficient is not 0. */
static inline int match_vp8_coefficients(match_vp8_t *d, match_vp8_bits_t *b, uint32_t mb_x, int has_second,
                                         const match_vp8_factors_t *f, int32_t *coefficients)
{
    uint8_t *const above = d->above + 9u * mb_x, *const left = d->left;
    int any = 0;
    if (has_second) {
        int32_t second[16] = {0};
        const uint32_t end = match_vp8_block(d, b, 1u, (uint32_t)above[8] + left[8], 0u, f->y2, second);
        above[8] = left[8] = end > 0u;
        match_vp8_spread(second, coefficients);
    }
    for (uint32_t i = 0u; i < 24u; i++) {
        const uint32_t first = has_second && i < 16u ? 1u : 0u, type = i >= 16u ? 2u : has_second ? 0u : 3u;
        const uint32_t chroma = 4u + (i >= 20u ? 2u : 0u);
        uint8_t *const up = above + (i < 16u ? i % 4u : chroma + i % 2u);
        uint8_t *const side = left + (i < 16u ? i / 4u : chroma + i / 2u % 2u);
        int32_t *const own = coefficients + 16u * i;
        const uint32_t end = match_vp8_block(d, b, type, (uint32_t)*up + *side, first, i < 16u ? f->y : f->uv, own);
        *up = *side = end > first;
        any = any || end > 1u || own[0] != 0;
    }
    return any;
}

/* ---- prediction -------------------------------------------------------------------------------------------------- */

/* A square of `size` samples. */
static inline void match_vp8_square(uint8_t *to, uint32_t stride, uint32_t size, uint32_t mode, int has_above, int has_left)
{
    const uint8_t *const above = to - stride;
    uint32_t sum = 0u, shift = size == 16u ? 3u : 2u;
    for (uint32_t i = 0u; i < size; i++) {
        sum += (has_above ? above[i] : 0u) + (has_left ? *(to + i * stride - 1) : 0u);
    }
    shift += has_above && has_left ? 2u : 1u;
    const uint32_t mean = has_above || has_left ? (sum + (1u << (shift - 1u))) >> shift : 128u;
    for (uint32_t y = 0u; y < size; y++) {
        const int32_t left = *(to + y * stride - 1), corner = *(above - 1);
        for (uint32_t x = 0u; x < size; x++) {
            to[y * stride + x] = mode == MATCH_VP8_DC  ? (uint8_t)mean
                                 : mode == MATCH_VP8_V ? above[x]
                                 : mode == MATCH_VP8_H ? (uint8_t)left
                                                       : match_image_clip(left + above[x] - corner);
        }
    }
}

/* A block of 4x4 samples; `right`: the four samples above, on the right. */
static inline void match_vp8_small(uint8_t *to, uint32_t stride, uint32_t mode, const uint8_t *right)
{
    /* For modes from V on and each sample: twice the place on the edge where a mean begins, of three if 1 is added, else
     * of two. */
    static const uint8_t means[8][16] = {
        {11, 13, 15, 17, 11, 13, 15, 17, 11, 13, 15, 17, 11, 13, 15, 17},
        {7, 7, 7, 7, 5, 5, 5, 5, 3, 3, 3, 3, 1, 1, 1, 1},
        {9, 11, 13, 15, 7, 9, 11, 13, 5, 7, 9, 11, 3, 5, 7, 9},
        {10, 12, 14, 16, 9, 11, 13, 15, 7, 10, 12, 14, 5, 9, 11, 13},
        {13, 15, 17, 19, 15, 17, 19, 21, 17, 19, 21, 23, 19, 21, 23, 25},
        {12, 14, 16, 18, 13, 15, 17, 19, 14, 16, 18, 21, 15, 17, 19, 23},
        {8, 9, 11, 13, 6, 7, 8, 9, 4, 5, 6, 7, 2, 3, 4, 5},
        {6, 5, 4, 3, 4, 3, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0},
    };
    /* From the lowest on the left to the corner, and on above; the samples at both ends are there twice. */
    uint8_t edge[15];
    const uint8_t *const above = to - stride;
    uint32_t sum = 4u;
    for (uint32_t i = 0u; i < 4u; i++) {
        edge[1u + i] = *(to + (3u - i) * stride - 1);
        edge[6u + i] = above[i];
        edge[10u + i] = right[i];
        sum += (uint32_t)edge[1u + i] + edge[6u + i];
    }
    edge[0] = edge[1];
    edge[5] = *(above - 1);
    edge[14] = edge[13];
    for (uint32_t i = 0u; i < 16u; i++) {
        uint8_t *const sample = to + i / 4u * stride + i % 4u;
        if (mode == MATCH_VP8_DC) {
            *sample = (uint8_t)(sum >> 3);
        } else if (mode == MATCH_VP8_TM) {
            *sample = match_image_clip(edge[4u - i / 4u] + edge[6u + i % 4u] - edge[5]);
        } else {
            const uint32_t mean = means[mode - MATCH_VP8_V][i];
            const uint8_t *const e = edge + mean / 2u;
            *sample = (uint8_t)((mean & 1u) != 0u ? (e[0] + 2u * e[1] + e[2] + 2u) >> 2 : (e[0] + (uint32_t)e[1] + 1u) >> 1);
        }
    }
}

static inline uint32_t match_vp8_small_mode(match_vp8_bits_t *b, uint32_t above, uint32_t left)
{
    const uint8_t *const p = match_vp8_modes + 90u * above + 9u * left;
    if (match_vp8_bit(b, p[0]) == 0u) {
        return MATCH_VP8_DC;
    }
    if (match_vp8_bit(b, p[1]) == 0u) {
        return MATCH_VP8_TM;
    }
    if (match_vp8_bit(b, p[2]) == 0u) {
        return MATCH_VP8_V;
    }
    if (match_vp8_bit(b, p[3]) == 0u) {
        if (match_vp8_bit(b, p[4]) == 0u) {
            return MATCH_VP8_H;
        }
        return match_vp8_bit(b, p[5]) == 0u ? MATCH_VP8_RD : MATCH_VP8_VR;
    }
    if (match_vp8_bit(b, p[6]) == 0u) {
        return MATCH_VP8_LD;
    }
    if (match_vp8_bit(b, p[7]) == 0u) {
        return MATCH_VP8_VL;
    }
    return match_vp8_bit(b, p[8]) == 0u ? MATCH_VP8_HD : MATCH_VP8_HU;
}

/* ---- macroblocks ------------------------------------------------------------------------------------------------- */

/* The level of the loop filter, and whether it also takes the edges inside of the macroblock (128). */
static inline uint8_t match_vp8_filter(const match_vp8_t *d, uint32_t segment, int is_blocks, int inner)
{
    int32_t level = d->levels[segment];
    if (d->has_deltas != 0u) {
        level += d->delta_frame + (is_blocks ? d->delta_blocks : 0);
    }
    level = level < 0 ? 0 : level > 63 ? 63 : level;
    return (uint8_t)(level | (inner ? 128 : 0));
}

static inline void match_vp8_macroblock(match_vp8_t *d, uint32_t mb_x, uint32_t mb_y)
{
    match_vp8_bits_t *const h = &d->head, *const b = &d->parts[mb_y % d->part_count];
    uint8_t *const modes = d->modes + 4u * mb_x;
    uint32_t segment = 0u, skipped = 0u, mode = MATCH_VP8_BLOCKS, small[16];
    if (d->has_map != 0u) {
        segment = match_vp8_bit(h, d->segments[0]) == 0u ? match_vp8_bit(h, d->segments[1])
                                                         : 2u + match_vp8_bit(h, d->segments[2]);
    }
    if (d->skips != 0u) {
        skipped = match_vp8_bit(h, d->skip_chance);
    }
    if (match_vp8_bit(h, 145u) != 0u) {
        if (match_vp8_bit(h, 156u) != 0u) {
            mode = match_vp8_bit(h, 128u) != 0u ? MATCH_VP8_TM : MATCH_VP8_H;
        } else {
            mode = match_vp8_bit(h, 163u) != 0u ? MATCH_VP8_V : MATCH_VP8_DC;
        }
    }
    for (uint32_t i = 0u; i < 16u; i++) {
        uint8_t *const above = modes + i % 4u, *const left = d->left_modes + i / 4u;
        small[i] = mode == MATCH_VP8_BLOCKS ? match_vp8_small_mode(h, *above, *left) : mode;
        *above = *left = (uint8_t)small[i];
    }
    uint32_t chroma = MATCH_VP8_DC;
    if (match_vp8_bit(h, 142u) != 0u) {
        chroma = match_vp8_bit(h, 114u) == 0u ? MATCH_VP8_V : match_vp8_bit(h, 183u) != 0u ? MATCH_VP8_TM : MATCH_VP8_H;
    }
    const int is_blocks = mode == MATCH_VP8_BLOCKS;
    int32_t coefficients[24 * 16] = {0};
    int any = 0;
    if (skipped == 0u) {
        any = match_vp8_coefficients(d, b, mb_x, !is_blocks, &d->factors[segment], coefficients);
    } else {
        memset(d->above + 9u * mb_x, 0, is_blocks ? 8u : 9u);
        memset(d->left, 0, is_blocks ? 8u : 9u);
    }
    d->filters[mb_y * d->across + mb_x] = match_vp8_filter(d, segment, is_blocks, is_blocks || any);
    uint8_t *const y = d->y + 16u * (mb_y * d->stride_y + mb_x);
    if (is_blocks) {
        uint8_t right[4];
        const uint8_t *const above = y - d->stride_y;
        for (uint32_t i = 0u; i < 4u; i++) {
            right[i] = mb_y == 0u ? 127u : mb_x + 1u < d->across ? above[16u + i] : above[15];
        }
        for (uint32_t i = 0u; i < 16u; i++) {
            uint8_t *const block = y + i / 4u * 4u * d->stride_y + i % 4u * 4u;
            match_vp8_small(block, d->stride_y, small[i], i % 4u == 3u ? right : block - d->stride_y + 4);
            match_vp8_add(coefficients + 16u * i, block, d->stride_y);
        }
    } else {
        match_vp8_square(y, d->stride_y, 16u, mode, mb_y > 0u, mb_x > 0u);
        for (uint32_t i = 0u; i < 16u; i++) {
            match_vp8_add(coefficients + 16u * i, y + i / 4u * 4u * d->stride_y + i % 4u * 4u, d->stride_y);
        }
    }
    for (uint32_t plane = 0u; plane < 2u; plane++) {
        uint8_t *const samples = (plane == 0u ? d->u : d->v) + 8u * (mb_y * d->stride_uv + mb_x);
        match_vp8_square(samples, d->stride_uv, 8u, chroma, mb_y > 0u, mb_x > 0u);
        for (uint32_t i = 0u; i < 4u; i++) {
            match_vp8_add(coefficients + 16u * (16u + 4u * plane + i), samples + i / 2u * 4u * d->stride_uv + i % 2u * 4u,
                          d->stride_uv);
        }
    }
}

/* ---- loop filter ------------------------------------------------------------------------------------------------- */

static inline int32_t match_vp8_apart(int32_t a, int32_t b)
{
    return a > b ? a - b : b - a;
}

static inline int32_t match_vp8_limit(int32_t value, int32_t least, int32_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* One place of an edge between p[-step] and p[0]. `kind`: 0 simple, 1 inside of a macroblock, 2 between two. */
static inline void match_vp8_smooth(uint8_t *p, ptrdiff_t step, int32_t edge, int32_t inside, int32_t sharp, uint32_t kind)
{
    const int32_t p1 = p[-2 * step], p0 = p[-step], q0 = p[0], q1 = p[step];
    if (4 * match_vp8_apart(p0, q0) + match_vp8_apart(p1, q1) > 2 * edge + 1) {
        return;
    }
    int is_sharp = 1;
    if (kind != 0u) {
        const int32_t p3 = p[-4 * step], p2 = p[-3 * step], q2 = p[2 * step], q3 = p[3 * step];
        if (match_vp8_apart(p3, p2) > inside || match_vp8_apart(p2, p1) > inside || match_vp8_apart(p1, p0) > inside ||
            match_vp8_apart(q3, q2) > inside || match_vp8_apart(q2, q1) > inside || match_vp8_apart(q1, q0) > inside) {
            return;
        }
        is_sharp = match_vp8_apart(p1, p0) > sharp || match_vp8_apart(q1, q0) > sharp;
    }
    const int32_t outer = match_vp8_limit(p1 - q1, -128, 127), near = 3 * (q0 - p0);
    if (!is_sharp && kind == 2u) {
        const int32_t a = match_vp8_limit(near + outer, -128, 127);
        for (int32_t i = 0; i < 3; i++) {
            const int32_t change = (9 * (3 - i) * a + 63) >> 7;
            p[-(i + 1) * step] = match_image_clip(p[-(i + 1) * step] + change);
            p[i * step] = match_image_clip(p[i * step] - change);
        }
        return;
    }
    const int32_t a = near + (is_sharp ? outer : 0);
    const int32_t up = match_vp8_limit((a + 4) >> 3, -16, 15), down = match_vp8_limit((a + 3) >> 3, -16, 15);
    p[-step] = match_image_clip(p0 + down);
    p[0] = match_image_clip(q0 - up);
    if (!is_sharp) {
        const int32_t half = (up + 1) >> 1;
        p[-2 * step] = match_image_clip(p1 + half);
        p[step] = match_image_clip(q1 - half);
    }
}

/* All edges of a macroblock in one direction, in one plane. */
static inline void match_vp8_edges(const match_vp8_t *d, uint8_t *p, uint32_t stride, uint32_t size, int across, int outer,
                                   uint32_t told)
{
    const int32_t level = (int32_t)(told & 63u);
    int32_t inside = level;
    if (d->sharpness > 0u) {
        inside >>= d->sharpness > 4u ? 2 : 1;
        inside = inside > 9 - (int32_t)d->sharpness ? 9 - (int32_t)d->sharpness : inside;
    }
    inside = inside < 1 ? 1 : inside;
    const int32_t limit = 2 * level + inside, sharp = level >= 40 ? 2 : level >= 15 ? 1 : 0;
    const ptrdiff_t step = across ? 1 : (ptrdiff_t)stride, along = across ? (ptrdiff_t)stride : 1;
    for (uint32_t at = outer ? 0u : 4u; at < ((told & 128u) != 0u ? size : 4u); at += 4u) {
        const uint32_t kind = d->is_simple != 0u ? 0u : at == 0u ? 2u : 1u;
        for (uint32_t i = 0u; i < size; i++) {
            match_vp8_smooth(p + (ptrdiff_t)at * step + (ptrdiff_t)i * along, step, at == 0u ? limit + 4 : limit, inside, sharp,
                             kind);
        }
    }
}

static inline void match_vp8_filters(const match_vp8_t *d)
{
    for (uint32_t i = 0u; i < d->across * d->down; i++) {
        const uint32_t told = d->filters[i], mb_x = i % d->across, mb_y = i / d->across;
        if ((told & 63u) == 0u) {
            continue;
        }
        for (uint32_t turn = 0u; turn < 2u; turn++) {
            const int across = turn == 0u, outer = across ? mb_x > 0u : mb_y > 0u;
            match_vp8_edges(d, d->y + 16u * (mb_y * d->stride_y + mb_x), d->stride_y, 16u, across, outer, told);
            if (d->is_simple == 0u) {
                match_vp8_edges(d, d->u + 8u * (mb_y * d->stride_uv + mb_x), d->stride_uv, 8u, across, outer, told);
                match_vp8_edges(d, d->v + 8u * (mb_y * d->stride_uv + mb_x), d->stride_uv, 8u, across, outer, told);
            }
        }
    }
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

/* Chroma at a pixel: weights 9, 3, 3 and 1 of 16. */
static inline int32_t match_vp8_chroma(const match_vp8_t *d, const uint8_t *plane, uint32_t x, uint32_t y)
{
    const uint32_t columns = (d->image->width + 1u) / 2u, rows = (d->image->height + 1u) / 2u, cx = x / 2u, cy = y / 2u;
    const uint32_t far_y = (y & 1u) != 0u ? cy + (cy + 1u < rows) : cy - (cy > 0u);
    const uint8_t *const row = plane + cy * d->stride_uv, *const other = plane + far_y * d->stride_uv;
    if (x == 0u || ((x & 1u) != 0u && cx + 1u == columns)) {
        return (3 * row[cx] + other[cx] + 2) >> 2;
    }
    const uint32_t far_x = (x & 1u) != 0u ? cx + 1u : cx - 1u;
    const int32_t sides = row[far_x] + other[cx], all = row[cx] + sides + other[far_x] + 8;
    return (((all + 2 * sides) >> 3) + row[cx]) >> 1;
}

static inline uint8_t match_vp8_color(int32_t value)
{
    return match_image_clip(value >> 6);
}

static inline void match_vp8_pixels(const match_vp8_t *d)
{
    for (uint32_t y = 0u; y < d->image->height; y++) {
        for (uint32_t x = 0u; x < d->image->width; x++) {
            const int32_t u = match_vp8_chroma(d, d->u, x, y), v = match_vp8_chroma(d, d->v, x, y);
            const int32_t luma = (d->y[y * d->stride_y + x] * 19077) >> 8;
            match_image_put(d->image, y * d->image->width + x, match_vp8_color(luma + ((v * 26149) >> 8) - 14234),
                            match_vp8_color(luma - ((u * 6419) >> 8) - ((v * 13320) >> 8) + 8708),
                            match_vp8_color(luma + ((u * 33050) >> 8) - 17685));
        }
    }
}

/* A plane with its border: 127 above, 129 on the left. Returns its first sample. */
static inline uint8_t *match_vp8_plane(uint8_t **bytes, uint32_t stride, uint32_t rows)
{
    uint8_t *const start = *bytes;
    memset(start, 127, stride);
    for (uint32_t y = 0u; y < rows; y++) {
        start[(y + 1u) * stride] = 129u;
    }
    *bytes += stride * (rows + 1u);
    return start + stride + 1;
}

static inline int match_image_webp(const match_image_t *m)
{
    uint32_t at = 12u;
    while (match_image_holds(m, at, 8u) && match_image_be(m, at, 4u) != 0x56503820u) { /* "VP8 " */
        const uint32_t size = match_image_le(m, at + 4u, 4u);
        if (!match_image_holds(m, at + 8u, size)) {
            return 0;
        }
        at += 8u + size + (size & 1u);
    }
    const uint32_t bytes = match_image_le(m, at + 4u, 4u), tag = match_image_le(m, at + 8u, 3u), head = at + 18u;
    if (!match_image_holds(m, at, 18u) || !match_image_holds(m, at + 8u, bytes) || (tag & 1u) != 0u ||
        match_image_be(m, at + 11u, 3u) != 0x9D012Au || (match_image_le(m, at + 14u, 2u) & 0x3FFFu) != m->width ||
        (match_image_le(m, at + 16u, 2u) & 0x3FFFu) != m->height || !match_image_holds(m, head, tag >> 5)) {
        return 0;
    }
    match_vp8_t d;
    memset(&d, 0, sizeof d);
    d.image = m;
    d.across = (m->width + 15u) / 16u;
    d.down = (m->height + 15u) / 16u;
    d.stride_y = 16u * d.across + 1u;
    d.stride_uv = 8u * d.across + 1u;
    uint8_t *left = m->work;
    d.y = match_vp8_plane(&left, d.stride_y, 16u * d.down);
    d.u = match_vp8_plane(&left, d.stride_uv, 8u * d.down);
    d.v = match_vp8_plane(&left, d.stride_uv, 8u * d.down);
    d.chances = left;
    d.above = d.chances + sizeof match_vp8_chances;
    d.modes = d.above + 9u * d.across;
    d.filters = d.modes + 4u * d.across;
    memset(d.above, 0, 13u * (size_t)d.across);
    const uint32_t end = at + 8u + bytes;
    uint32_t part = head + (tag >> 5);
    match_vp8_begin(&d.head, m, head, part);
    match_vp8_header(&d);
    uint32_t sizes = part;
    part += 3u * (d.part_count - 1u);
    for (uint32_t i = 0u; i < d.part_count; i++, sizes += 3u) {
        const uint32_t size = match_image_le(m, sizes, 3u), stop = i + 1u < d.part_count && size < end ? part + size : end;
        match_vp8_begin(&d.parts[i], m, part, stop);
        part = stop;
    }
    for (uint32_t y = 0u; y < d.down; y++) {
        memset(d.left, 0, sizeof d.left);
        memset(d.left_modes, 0, sizeof d.left_modes);
        for (uint32_t x = 0u; x < d.across; x++) {
            match_vp8_macroblock(&d, x, y);
        }
    }
    match_vp8_filters(&d);
    match_vp8_pixels(&d);
    return 1;
}

#endif
