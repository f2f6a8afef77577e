/* Decoders of image files, for files whose size in pixels is known: BMP, JPEG (baseline), JPEG 2000 (reversible), PNG,
 * PNM, TIFF and WebP (lossy). Portable C11; no pointer leaves its array, whatever the file holds.
 *
 * A decoder writes rows of red, green and blue to `rgb` and returns 1, or returns 0 if the file is damaged, of another
 * size, or of a kind that it does not read.
 */
#ifndef MATCH_IMAGE_H
#define MATCH_IMAGE_H

#include <stdint.h>
#include <string.h>

/* `work`: memory of the size that headers/image.py computes, aligned to 8. */
typedef struct {
    const uint8_t *data;
    uint32_t size, height, width;
    uint8_t *rgb;
    uint8_t *work;
} match_image_t;

/* A byte of the file; 0 beyond its end. */
static inline uint32_t match_image_byte(const match_image_t *m, uint32_t at)
{
    return at < m->size ? m->data[at] : 0u;
}

static inline uint32_t match_image_le(const match_image_t *m, uint32_t at, uint32_t bytes)
{
    uint32_t value = 0u;
    for (uint32_t i = 0u; i < bytes; i++) {
        value |= match_image_byte(m, at + i) << (8u * i);
    }
    return value;
}

static inline uint32_t match_image_be(const match_image_t *m, uint32_t at, uint32_t bytes)
{
    uint32_t value = 0u;
    for (uint32_t i = 0u; i < bytes; i++) {
        value = (value << 8) | match_image_byte(m, at + i);
    }
    return value;
}

/* Whether `bytes` from `at` on lie in the file. */
static inline int match_image_holds(const match_image_t *m, uint32_t at, uint32_t bytes)
{
    return at <= m->size && bytes <= m->size - at;
}

static inline uint8_t match_image_clip(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static inline void match_image_put(const match_image_t *m, uint32_t pixel, uint32_t r, uint32_t g, uint32_t b)
{
    m->rgb[3u * pixel] = (uint8_t)r;
    m->rgb[3u * pixel + 1u] = (uint8_t)g;
    m->rgb[3u * pixel + 2u] = (uint8_t)b;
}

/* ---- BMP: 1, 4, 8 (palette), 24 and 32 bits, not compressed ----------------------------------------------------- */

static inline int match_image_bmp(const match_image_t *m)
{
    const uint32_t start = match_image_le(m, 10u, 4u), header = match_image_le(m, 14u, 4u);
    const uint32_t bits = match_image_le(m, 28u, 2u), compression = match_image_le(m, 30u, 4u);
    const uint32_t told = match_image_le(m, 22u, 4u), palette = 14u + header;
    const int down = (told & 0x80000000u) != 0u; /* a negative height: rows from the top */
    const uint32_t height = down ? 0u - told : told, row = (m->width * bits + 31u) / 32u * 4u;
    if (header < 40u || header > 124u || match_image_le(m, 18u, 4u) != m->width || height != m->height ||
        (compression != 0u && !(compression == 3u && bits == 32u)) || start > m->size ||
        (m->size - start) / row < m->height) {
        return 0;
    }
    if (bits != 1u && bits != 4u && bits != 8u && bits != 24u && bits != 32u) {
        return 0;
    }
    for (uint32_t y = 0u; y < m->height; y++) {
        const uint32_t line = start + (down ? y : m->height - 1u - y) * row;
        for (uint32_t x = 0u; x < m->width; x++) {
            uint32_t at = line + x * (bits / 8u);
            if (bits <= 8u) {
                const uint32_t per = 8u / bits, shift = 8u - bits * (x % per + 1u);
                at = palette + 4u * (((uint32_t)m->data[line + x / per] >> shift) & ((1u << bits) - 1u));
            }
            match_image_put(m, y * m->width + x, match_image_byte(m, at + 2u), match_image_byte(m, at + 1u),
                            match_image_byte(m, at));
        }
    }
    return 1;
}

/* ---- PNM: P1 to P6, up to 8 bits -------------------------------------------------------------------------------- */

/* The next number of the text, behind spaces and comments; `digits`: at most so many digits. */
static inline uint32_t match_image_number(const match_image_t *m, uint32_t *at, uint32_t digits)
{
    while (*at < m->size) {
        const uint8_t c = m->data[*at];
        if (c == '#') {
            while (*at < m->size && m->data[*at] != '\n') {
                (*at)++;
            }
        } else if (c >= '0' && c <= '9') {
            break;
        } else {
            (*at)++;
        }
    }
    uint32_t value = 0u;
    for (uint32_t n = 0u; n < digits && *at < m->size && m->data[*at] >= '0' && m->data[*at] <= '9'; n++, (*at)++) {
        value = value * 10u + (uint32_t)(m->data[*at] - '0');
    }
    return value;
}

static inline int match_image_pnm(const match_image_t *m)
{
    const uint32_t kind = match_image_byte(m, 1u) - (uint32_t)'0';
    uint32_t at = 2u;
    const uint32_t width = match_image_number(m, &at, 9u), height = match_image_number(m, &at, 9u);
    const int is_bits = kind == 1u || kind == 4u, is_text = kind <= 3u;
    const uint32_t most = is_bits ? 1u : match_image_number(m, &at, 5u), channels = kind % 3u == 0u ? 3u : 1u;
    if (width != m->width || height != m->height || most == 0u || most > 255u) {
        return 0;
    }
    at++; /* one space ends the header */
    const uint32_t row = kind == 4u ? (m->width + 7u) / 8u : m->width * channels;
    if (!is_text && (at > m->size || (m->size - at) / row < m->height)) {
        return 0;
    }
    for (uint32_t y = 0u; y < m->height; y++) {
        for (uint32_t x = 0u; x < m->width; x++) {
            uint32_t v[3] = {0u, 0u, 0u};
            for (uint32_t c = 0u; c < channels; c++) {
                if (is_text) {
                    v[c] = match_image_number(m, &at, is_bits ? 1u : 5u);
                } else if (kind == 4u) {
                    v[c] = ((uint32_t)m->data[at + y * row + x / 8u] >> (7u - x % 8u)) & 1u;
                } else {
                    v[c] = m->data[at + y * row + x * channels + c];
                }
                v[c] = is_bits ? 255u * (1u - (v[c] & 1u)) : ((v[c] < most ? v[c] : most) * 255u + most / 2u) / most;
            }
            match_image_put(m, y * m->width + x, v[0], channels == 3u ? v[1] : v[0], channels == 3u ? v[2] : v[0]);
        }
    }
    return 1;
}

#endif
