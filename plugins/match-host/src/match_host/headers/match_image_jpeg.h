/* Baseline JPEG (Huffman codes, 8 bits) for match_image.h, with the integer transform and the chroma interpolation that
 * libjpeg made common.
 */
#ifndef MATCH_IMAGE_JPEG_H
#define MATCH_IMAGE_JPEG_H

#include "match_image.h"

/* `count`: the number of codes of each length; `symbol`: in the order of their codes. */
typedef struct {
    uint8_t count[17], symbol[256];
} match_jpeg_codes_t;

/* A component: sampling factors, tables, the last DC coefficient, its samples and their row size; `columns` and `rows`
 * are those that belong to the image. */
typedef struct {
    uint32_t id, h, v, quant, dc, ac, stride, columns, rows;
    int32_t last;
    uint8_t *samples;
} match_jpeg_part_t;

typedef struct {
    const match_image_t *image;
    uint32_t at, bits, count, parts, widest, highest, interval;
    int ended, is_rgb;
    match_jpeg_part_t part[3];
    uint16_t quant[4][64];
    match_jpeg_codes_t codes[8]; /* 0 to 3: DC, 4 to 7: AC */
} match_jpeg_t;

static const uint8_t match_jpeg_zigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static inline uint32_t match_jpeg_bits(match_jpeg_t *j, uint32_t count)
{
    while (j->count < count) {
        uint32_t byte = match_image_byte(j->image, j->at);
        if (j->ended || j->at >= j->image->size) {
            j->ended = 1;
            byte = 0u;
        } else if (byte == 0xFFu && match_image_byte(j->image, j->at + 1u) != 0u) {
            j->ended = 1; /* a marker: zeros follow */
            byte = 0u;
        } else {
            j->at += byte == 0xFFu ? 2u : 1u;
        }
        j->bits = (j->bits << 8) | byte;
        j->count += 8u;
    }
    j->count -= count;
    return (j->bits >> j->count) & ((1u << count) - 1u);
}

/* The next symbol; 256 if there is none. */
static inline uint32_t match_jpeg_symbol(match_jpeg_t *j, const match_jpeg_codes_t *codes)
{
    uint32_t code = 0u, first = 0u, index = 0u;
    for (uint32_t n = 1u; n < 17u; n++) {
        code = (code << 1) | match_jpeg_bits(j, 1u);
        first <<= 1;
        if (code >= first && code - first < codes->count[n]) {
            return index + code - first < 256u ? codes->symbol[index + code - first] : 256u;
        }
        index += codes->count[n];
        first += codes->count[n];
    }
    return 256u;
}

/* A number of `size` bits: the upper half is positive. */
static inline int32_t match_jpeg_value(match_jpeg_t *j, uint32_t size)
{
    const int32_t value = (int32_t)match_jpeg_bits(j, size);
    return size > 0u && value < (1 << (size - 1u)) ? value - (1 << size) + 1 : value;
}

/* Eight values that lie `step` apart, transformed and shifted by `shift`. */
static inline void match_jpeg_transform(int64_t *v, uint32_t step, uint32_t shift)
{
    const int64_t half = (int64_t)1 << (shift - 1u), z = (v[2u * step] + v[6u * step]) * 4433;
    const int64_t e2 = z - v[6u * step] * 15137, e3 = z + v[2u * step] * 6270;
    const int64_t e0 = (v[0] + v[4u * step]) * 8192, e1 = (v[0] - v[4u * step]) * 8192;
    const int64_t even[4] = {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
    const int64_t a = v[7u * step], b = v[5u * step], c = v[3u * step], d = v[step], all = (a + b + c + d) * 9633;
    const int64_t z1 = (a + d) * -7373, z2 = (b + c) * -20995;
    const int64_t z3 = (a + c) * -16069 + all, z4 = (b + d) * -3196 + all;
    const int64_t odd[4] = {d * 12299 + z1 + z4, c * 25172 + z2 + z3, b * 16819 + z2 + z4, a * 2446 + z1 + z3};
    for (uint32_t i = 0u; i < 4u; i++) {
        v[i * step] = (even[i] + odd[i] + half) >> shift;
        v[(7u - i) * step] = (even[i] - odd[i] + half) >> shift;
    }
}

/* Reads one block of 8x8 samples; 0 if it is damaged. */
static inline int match_jpeg_block(match_jpeg_t *j, match_jpeg_part_t *part, uint8_t *target)
{
    int64_t v[64] = {0};
    const uint16_t *const quant = j->quant[part->quant];
    const uint32_t size = match_jpeg_symbol(j, &j->codes[part->dc]);
    if (size > 15u) {
        return 0;
    }
    part->last = (int16_t)(part->last + match_jpeg_value(j, size));
    v[0] = (int64_t)part->last * quant[0];
    for (uint32_t k = 1u; k < 64u; k++) {
        const uint32_t symbol = match_jpeg_symbol(j, &j->codes[4u + part->ac]), bits = symbol & 15u;
        if (symbol > 255u) {
            return 0;
        }
        if (bits == 0u && symbol != 0xF0u) {
            break;
        }
        k += symbol >> 4;
        if (k > 63u) {
            return 0;
        }
        v[match_jpeg_zigzag[k]] = (int64_t)match_jpeg_value(j, bits) * quant[k];
    }
    for (uint32_t i = 0u; i < 8u; i++) {
        match_jpeg_transform(v + i, 8u, 11u);
    }
    for (uint32_t i = 0u; i < 8u; i++) {
        match_jpeg_transform(v + 8u * i, 1u, 18u);
        for (uint32_t x = 0u; x < 8u; x++) {
            const int64_t sample = v[8u * i + x] + 128;
            target[i * part->stride + x] = (uint8_t)(sample < 0 ? 0 : sample > 255 ? 255 : sample);
        }
    }
    return 1;
}

/* Reads the scan of all components. */
static inline int match_jpeg_scan(match_jpeg_t *j)
{
    const uint32_t wide = 8u * j->widest, high = 8u * j->highest;
    const uint32_t across = (j->image->width + wide - 1u) / wide, down = (j->image->height + high - 1u) / high;
    uint8_t *free_bytes = j->image->work;
    for (uint32_t p = 0u; p < j->parts; p++) {
        match_jpeg_part_t *const part = &j->part[p];
        part->stride = across * part->h * 8u;
        part->columns = (j->image->width * part->h + j->widest - 1u) / j->widest;
        part->rows = (j->image->height * part->v + j->highest - 1u) / j->highest;
        part->samples = free_bytes;
        free_bytes += part->stride * down * part->v * 8u;
    }
    for (uint32_t unit = 0u; unit < across * down; unit++) {
        if (j->interval != 0u && unit != 0u && unit % j->interval == 0u) {
            while (match_image_holds(j->image, j->at, 2u) &&
                   (match_image_byte(j->image, j->at) != 0xFFu || (match_image_byte(j->image, j->at + 1u) & 0xF8u) != 0xD0u)) {
                j->at++;
            }
            j->at += 2u;
            j->count = 0u;
            j->ended = 0;
            for (uint32_t p = 0u; p < j->parts; p++) {
                j->part[p].last = 0;
            }
        }
        for (uint32_t p = 0u; p < j->parts; p++) {
            match_jpeg_part_t *const part = &j->part[p];
            for (uint32_t block = 0u; block < part->h * part->v; block++) {
                const uint32_t y = (unit / across * part->v + block / part->h) * 8u;
                const uint32_t x = (unit % across * part->h + block % part->h) * 8u;
                if (!match_jpeg_block(j, part, part->samples + y * part->stride + x)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

/* A component at a pixel. Factors of 2 are interpolated with weights 3/4 and 1/4, rounded down and up in turn. */
static inline int32_t match_jpeg_sample(const match_jpeg_t *j, const match_jpeg_part_t *part, uint32_t x, uint32_t y)
{
    const uint32_t sx = j->widest / part->h, sy = j->highest / part->v, cx = x / sx, cy = y / sy;
    const uint8_t *const row = part->samples + cy * part->stride;
    const int smooth = part->columns > 2u;
    if (sx > 2u || sy > 2u || (sx == 1u && sy == 1u) || (sx == 2u && !smooth)) {
        return row[cx];
    }
    const uint32_t beside = (x & 1u) != 0u ? cx + (cx + 1u < part->columns) : cx - (cx > 0u);
    const uint32_t near = (y & 1u) != 0u ? cy + (cy + 1u < part->rows) : cy - (cy > 0u);
    if (sy == 1u) {
        return (3 * row[cx] + row[beside] + ((x & 1u) != 0u ? 2 : 1)) >> 2;
    }
    const uint8_t *const other = part->samples + near * part->stride;
    if (sx == 1u) {
        return (3 * row[cx] + other[cx] + ((y & 1u) != 0u ? 2 : 1)) >> 2;
    }
    const int32_t here = 3 * row[cx] + other[cx], next = 3 * row[beside] + other[beside];
    return (3 * here + next + ((x & 1u) != 0u ? 7 : 8)) >> 4;
}

static inline void match_jpeg_pixels(const match_jpeg_t *j)
{
    const match_image_t *const m = j->image;
    for (uint32_t y = 0u; y < m->height; y++) {
        for (uint32_t x = 0u; x < m->width; x++) {
            int32_t v[3];
            for (uint32_t p = 0u; p < 3u; p++) {
                v[p] = match_jpeg_sample(j, &j->part[j->parts == 3u ? p : 0u], x, y);
            }
            if (j->parts == 3u && !j->is_rgb) {
                const int32_t luma = v[0], cb = v[1] - 128, cr = v[2] - 128;
                v[0] = luma + ((91881 * cr + 32768) >> 16);
                v[1] = luma + ((-22554 * cb - 46802 * cr + 32768) >> 16);
                v[2] = luma + ((116130 * cb + 32768) >> 16);
            }
            match_image_put(m, y * m->width + x, match_image_clip(v[0]), match_image_clip(v[1]), match_image_clip(v[2]));
        }
    }
}

/* SOF: the components. */
static inline int match_jpeg_frame(match_jpeg_t *j, uint32_t at, uint32_t size)
{
    const match_image_t *const m = j->image;
    j->parts = match_image_byte(m, at + 5u);
    if (match_image_byte(m, at) != 8u || match_image_be(m, at + 1u, 2u) != m->height ||
        match_image_be(m, at + 3u, 2u) != m->width || (j->parts != 1u && j->parts != 3u) || size < 6u + 3u * j->parts) {
        return 0;
    }
    for (uint32_t p = 0u; p < j->parts; p++) {
        const uint32_t entry = at + 6u + 3u * p, factors = match_image_byte(m, entry + 1u);
        match_jpeg_part_t *const part = &j->part[p];
        part->id = match_image_byte(m, entry);
        part->h = j->parts == 1u ? 1u : factors >> 4;
        part->v = j->parts == 1u ? 1u : factors & 15u;
        part->quant = match_image_byte(m, entry + 2u);
        if (part->h == 0u || part->v == 0u || part->h > 4u || part->v > 4u || part->quant > 3u) {
            return 0;
        }
        j->widest = part->h > j->widest ? part->h : j->widest;
        j->highest = part->v > j->highest ? part->v : j->highest;
    }
    for (uint32_t p = 0u; p < j->parts; p++) {
        if (j->widest % j->part[p].h != 0u || j->highest % j->part[p].v != 0u) {
            return 0;
        }
    }
    j->is_rgb = j->is_rgb || (j->parts == 3u && j->part[0].id == 'R' && j->part[1].id == 'G' && j->part[2].id == 'B');
    return 1;
}

/* DQT and DHT. */
static inline int match_jpeg_tables(match_jpeg_t *j, uint32_t marker, uint32_t at, uint32_t end)
{
    const match_image_t *const m = j->image;
    while (at < end) {
        const uint32_t head = match_image_byte(m, at++), which = head & 15u, kind = head >> 4;
        if (which > 3u || kind > 1u) {
            return 0;
        }
        if (marker == 0xDBu) {
            for (uint32_t k = 0u; k < 64u; k++, at += 1u + kind) {
                j->quant[which][k] = (uint16_t)match_image_be(m, at, 1u + kind);
            }
            continue;
        }
        match_jpeg_codes_t *const codes = &j->codes[4u * kind + which];
        uint32_t symbols = 0u;
        for (uint32_t n = 1u; n < 17u; n++) {
            codes->count[n] = (uint8_t)match_image_byte(m, at++);
            symbols += codes->count[n];
        }
        if (symbols > 256u) {
            return 0;
        }
        for (uint32_t i = 0u; i < symbols; i++) {
            codes->symbol[i] = (uint8_t)match_image_byte(m, at++);
        }
    }
    return at == end;
}

/* SOS: the tables of each component. */
static inline int match_jpeg_start(match_jpeg_t *j, uint32_t at, uint32_t size)
{
    const match_image_t *const m = j->image;
    if (j->parts == 0u || match_image_byte(m, at) != j->parts || size < 4u + 2u * j->parts) {
        return 0; /* one scan per component is not read */
    }
    for (uint32_t p = 0u; p < j->parts; p++) {
        const uint32_t tables = match_image_byte(m, at + 2u + 2u * p);
        j->part[p].dc = tables >> 4;
        j->part[p].ac = tables & 15u;
        if (match_image_byte(m, at + 1u + 2u * p) != j->part[p].id || j->part[p].dc > 3u || j->part[p].ac > 3u) {
            return 0;
        }
    }
    j->at = at + size;
    return match_jpeg_scan(j);
}

static inline int match_image_jpeg(const match_image_t *m)
{
    match_jpeg_t j;
    memset(&j, 0, sizeof j);
    j.image = m;
    uint32_t at = 2u;
    while (match_image_holds(m, at, 4u)) {
        if (match_image_byte(m, at) != 0xFFu || match_image_byte(m, at + 1u) == 0xFFu) {
            at++;
            continue;
        }
        const uint32_t marker = match_image_byte(m, at + 1u), size = match_image_be(m, at + 2u, 2u);
        if (size < 2u || !match_image_holds(m, at + 2u, size)) {
            return 0;
        }
        const uint32_t body = at + 4u, bytes = size - 2u;
        if ((marker == 0xC0u || marker == 0xC1u) && j.parts == 0u) {
            if (!match_jpeg_frame(&j, body, bytes)) {
                return 0;
            }
        } else if (marker == 0xDBu || marker == 0xC4u) {
            if (!match_jpeg_tables(&j, marker, body, body + bytes)) {
                return 0;
            }
        } else if (marker == 0xDDu) {
            j.interval = match_image_be(m, body, 2u);
        } else if (marker == 0xEEu && bytes >= 12u && match_image_be(m, body, 4u) == 0x41646F62u) {
            j.is_rgb = match_image_byte(m, body + 11u) == 0u; /* Adobe: without a colour transform */
        } else if (marker == 0xDAu) {
            if (!match_jpeg_start(&j, body, bytes)) {
                return 0;
            }
            match_jpeg_pixels(&j);
            return 1;
        } else if (marker >= 0xC0u && marker <= 0xCFu) {
            return 0; /* progressive, lossless or arithmetic codes */
        }
        at = body + bytes;
    }
    return 0;
}

#endif
