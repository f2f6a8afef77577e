/* PNG and TIFF for match_image.h, and the two forms of compression that they share.
 */
#ifndef MATCH_IMAGE_PACKED_H
#define MATCH_IMAGE_PACKED_H

#include "match_image.h"

/* ---- Deflate (RFC 1951) ----------------------------------------------------------------------------------------- */

/* Codes by length: the number of codes of each length, and the symbols in the order of their codes. */
typedef struct {
    uint16_t count[16], symbol[288];
} match_image_codes_t;

/* A stream of bits, lowest first. The file's parts are read by `next`: IDAT chunks of a PNG are one stream. */
typedef struct {
    const match_image_t *image;
    uint32_t at, left; /* position, and the bytes that are left in this part */
    int chunks;        /* whether parts are the chunks of a PNG */
    uint32_t bits, count;
    int ended;
} match_image_bits_t;

static inline uint32_t match_image_next_byte(match_image_bits_t *s)
{
    while (s->left == 0u && s->chunks) {
        const uint32_t head = s->at + 4u; /* behind the check sum */
        if (!match_image_holds(s->image, head, 8u) || match_image_be(s->image, head + 4u, 4u) != 0x49444154u) {
            break;
        }
        s->left = match_image_be(s->image, head, 4u);
        s->at = head + 8u;
        if (!match_image_holds(s->image, s->at, s->left)) {
            s->left = 0u;
            break;
        }
    }
    if (s->left == 0u || s->at >= s->image->size) {
        s->ended = 1;
        return 0u;
    }
    s->left--;
    return s->image->data[s->at++];
}

static inline uint32_t match_image_bits(match_image_bits_t *s, uint32_t count)
{
    while (s->count < count) {
        s->bits |= match_image_next_byte(s) << s->count;
        s->count += 8u;
    }
    const uint32_t value = s->bits & ((1u << count) - 1u);
    s->bits >>= count;
    s->count -= count;
    return value;
}

static inline void match_image_codes(match_image_codes_t *codes, const uint8_t *lengths, uint32_t symbols)
{
    uint16_t first[16] = {0};
    memset(codes, 0, sizeof *codes);
    for (uint32_t i = 0u; i < symbols; i++) {
        codes->count[lengths[i]]++;
    }
    codes->count[0] = 0u;
    for (uint32_t n = 1u; n < 16u; n++) {
        first[n] = (uint16_t)(first[n - 1u] + codes->count[n - 1u]);
    }
    for (uint32_t i = 0u; i < symbols; i++) {
        if (lengths[i] != 0u) {
            codes->symbol[first[lengths[i]]++] = (uint16_t)i;
        }
    }
}

/* The next symbol; 288 if there is none. */
static inline uint32_t match_image_symbol(match_image_bits_t *s, const match_image_codes_t *codes)
{
    uint32_t code = 0u, first = 0u, index = 0u;
    for (uint32_t n = 1u; n < 16u; n++) {
        code |= match_image_bits(s, 1u);
        const uint32_t count = codes->count[n];
        if (code >= first && code - first < count) {
            return codes->symbol[index + code - first];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return 288u;
}

/* The lengths of the codes of a block; 0 if they are damaged. */
static inline int match_image_lengths(match_image_bits_t *s, uint8_t *lengths, uint32_t count)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const uint32_t given = match_image_bits(s, 4u) + 4u;
    uint8_t small[19] = {0};
    match_image_codes_t codes;
    for (uint32_t i = 0u; i < given; i++) {
        small[order[i]] = (uint8_t)match_image_bits(s, 3u);
    }
    match_image_codes(&codes, small, 19u);
    for (uint32_t i = 0u; i < count;) {
        const uint32_t symbol = match_image_symbol(s, &codes);
        if (symbol < 16u) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol > 18u || (symbol == 16u && i == 0u) || s->ended) {
            return 0;
        }
        const uint8_t value = symbol == 16u ? lengths[i - 1u] : 0u;
        uint32_t times = symbol == 16u   ? 3u + match_image_bits(s, 2u)
                         : symbol == 17u ? 3u + match_image_bits(s, 3u)
                                         : 11u + match_image_bits(s, 7u);
        if (times > count - i) {
            return 0;
        }
        while (times-- > 0u) {
            lengths[i++] = value;
        }
    }
    return 1;
}

/* Fills `out` with exactly `size` bytes; 0 if the stream holds fewer or is damaged. */
static inline int match_image_inflate(match_image_bits_t *s, uint8_t *out, uint32_t size)
{
    static const uint16_t base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t more[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    uint32_t done = 0u;
    (void)match_image_bits(s, 16u); /* zlib's header */
    for (int last = 0; !last && !s->ended && done < size;) {
        last = (int)match_image_bits(s, 1u);
        const uint32_t kind = match_image_bits(s, 2u);
        if (kind == 0u) {
            s->bits = 0u;
            s->count = 0u;
            uint32_t bytes = match_image_bits(s, 16u);
            (void)match_image_bits(s, 16u);
            for (; bytes > 0u && done < size && !s->ended; bytes--) {
                out[done++] = (uint8_t)match_image_bits(s, 8u);
            }
            continue;
        }
        uint8_t lengths[288 + 32];
        uint32_t literals = 288u, distances = 30u;
        if (kind == 1u) {
            for (uint32_t i = 0u; i < 288u; i++) {
                lengths[i] = i < 144u ? 8u : i < 256u ? 9u : i < 280u ? 7u : 8u;
            }
            memset(lengths + 288, 5, 30u);
        } else {
            literals = match_image_bits(s, 5u) + 257u;
            distances = match_image_bits(s, 5u) + 1u;
            if (kind == 3u || literals > 286u || !match_image_lengths(s, lengths, literals + distances)) {
                return 0;
            }
        }
        match_image_codes_t codes, far;
        match_image_codes(&codes, lengths, literals);
        match_image_codes(&far, lengths + literals, distances);
        while (done < size && !s->ended) {
            const uint32_t symbol = match_image_symbol(s, &codes);
            if (symbol < 256u) {
                out[done++] = (uint8_t)symbol;
                continue;
            }
            if (symbol == 256u) {
                break;
            }
            if (symbol > 285u) {
                return 0;
            }
            uint32_t length = base[symbol - 257u] + match_image_bits(s, more[symbol - 257u]);
            const uint32_t code = match_image_symbol(s, &far);
            if (code > 29u) {
                return 0;
            }
            const uint32_t half = code >> 1, extra = code < 4u ? 0u : half - 1u;
            const uint32_t distance = (code < 4u ? code : (2u + (code & 1u)) << extra) + match_image_bits(s, extra) + 1u;
            if (distance > done) {
                return 0;
            }
            for (; length > 0u && done < size; length--, done++) {
                out[done] = out[done - distance];
            }
        }
    }
    return done == size;
}

/* ---- PNG: all kinds without interlacing ------------------------------------------------------------------------- */

static inline uint8_t match_image_paeth(int32_t a, int32_t b, int32_t c)
{
    const int32_t p = a + b - c, pa = p < a ? a - p : p - a, pb = p < b ? b - p : p - b, pc = p < c ? c - p : p - c;
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

static inline void match_image_unfilter(uint8_t *row, const uint8_t *above, uint32_t bytes, uint32_t step, uint32_t kind)
{
    for (uint32_t i = 0u; i < bytes; i++) {
        const uint32_t a = i >= step ? row[i - step] : 0u, b = above != NULL ? above[i] : 0u;
        const uint32_t c = i >= step && above != NULL ? above[i - step] : 0u;
        const uint32_t guess = kind == 1u   ? a
                               : kind == 2u ? b
                               : kind == 3u ? (a + b) / 2u
                               : kind == 4u ? match_image_paeth((int32_t)a, (int32_t)b, (int32_t)c)
                                            : 0u;
        row[i] = (uint8_t)(row[i] + guess);
    }
}

static inline int match_image_png(const match_image_t *m)
{
    const uint32_t bits = match_image_byte(m, 24u), color = match_image_byte(m, 25u);
    const uint32_t channels = color == 2u ? 3u : color == 6u ? 4u : color == 4u ? 2u : 1u;
    const int sizes = bits == 1u || bits == 2u || bits == 4u || bits == 8u || bits == 16u;
    if (match_image_be(m, 16u, 4u) != m->width || match_image_be(m, 20u, 4u) != m->height || !sizes || color > 6u ||
        color == 1u || color == 5u || match_image_byte(m, 28u) != 0u || (bits < 8u && channels > 1u) ||
        (bits == 16u && color == 3u)) {
        return 0;
    }
    uint32_t palette = 0u, entries = 0u, at = 8u;
    while (match_image_holds(m, at, 12u) && match_image_be(m, at + 4u, 4u) != 0x49444154u) {
        const uint32_t size = match_image_be(m, at, 4u);
        if (!match_image_holds(m, at + 8u, size)) {
            return 0;
        }
        if (match_image_be(m, at + 4u, 4u) == 0x504C5445u) {
            palette = at + 8u;
            entries = size / 3u;
        }
        at += size + 12u;
    }
    if (at < 12u || at > m->size) {
        return 0;
    }
    const uint32_t row = (m->width * channels * bits + 7u) / 8u, step = bits < 8u ? 1u : channels * bits / 8u;
    match_image_bits_t stream = {.image = m, .at = at - 4u, .chunks = 1};
    if (!match_image_inflate(&stream, m->work, (row + 1u) * m->height)) {
        return 0;
    }
    for (uint32_t y = 0u; y < m->height; y++) {
        uint8_t *const line = m->work + y * (row + 1u) + 1u;
        match_image_unfilter(line, y > 0u ? line - row - 1u : NULL, row, step, line[-1]);
        for (uint32_t x = 0u; x < m->width; x++) {
            uint32_t v[3];
            for (uint32_t c = 0u; c < 3u; c++) {
                const uint32_t sample = x * channels + (channels > 2u ? c : 0u);
                if (bits >= 8u) {
                    v[c] = line[sample * (bits / 8u)];
                } else {
                    const uint32_t per = 8u / bits, most = (1u << bits) - 1u;
                    v[c] = ((uint32_t)line[x / per] >> (8u - bits * (x % per + 1u))) & most;
                    v[c] = color == 3u ? v[c] : v[c] * (255u / most);
                }
                if (color == 3u) {
                    v[c] = v[c] < entries ? m->data[palette + 3u * v[c] + c] : 0u;
                }
            }
            match_image_put(m, y * m->width + x, v[0], v[1], v[2]);
        }
    }
    return 1;
}

/* ---- TIFF: 8 bits, strips; not compressed, PackBits or Deflate --------------------------------------------------- */

typedef struct {
    const match_image_t *image;
    int big;
    uint32_t folder, fields;
} match_image_tiff_t;

static inline uint32_t match_image_tiff_read(const match_image_tiff_t *t, uint32_t at, uint32_t bytes)
{
    return t->big ? match_image_be(t->image, at, bytes) : match_image_le(t->image, at, bytes);
}

/* Value `index` of a field; `standard` without the field. */
static inline uint32_t match_image_tiff_value(const match_image_tiff_t *t, uint32_t tag, uint32_t index, uint32_t standard)
{
    for (uint32_t i = 0u; i < t->fields; i++) {
        const uint32_t entry = t->folder + 2u + 12u * i;
        if (match_image_tiff_read(t, entry, 2u) != tag) {
            continue;
        }
        const uint32_t kind = match_image_tiff_read(t, entry + 2u, 2u), count = match_image_tiff_read(t, entry + 4u, 4u);
        const uint32_t bytes = kind == 3u ? 2u : kind == 1u ? 1u : 4u;
        if (index >= count) {
            return standard;
        }
        const uint32_t place = count > 4u / bytes ? match_image_tiff_read(t, entry + 8u, 4u) : entry + 8u;
        return match_image_tiff_read(t, place + index * bytes, bytes);
    }
    return standard;
}

static inline int match_image_packbits(const match_image_t *m, uint32_t at, uint32_t end, uint8_t *out, uint32_t size)
{
    uint32_t done = 0u;
    while (done < size && at < end) {
        const uint32_t head = m->data[at++];
        const uint32_t count = head < 128u ? head + 1u : head > 128u ? 257u - head : 0u;
        for (uint32_t i = 0u; i < count && done < size && at < end; i++) {
            out[done++] = m->data[at];
            at += head < 128u ? 1u : 0u;
        }
        at += head > 128u ? 1u : 0u;
    }
    return done == size;
}

static inline int match_image_tiff(const match_image_t *m)
{
    match_image_tiff_t t = {.image = m, .big = match_image_byte(m, 0u) == (uint32_t)'M'};
    t.folder = match_image_tiff_read(&t, 4u, 4u);
    t.fields = match_image_holds(m, t.folder, 2u) ? match_image_tiff_read(&t, t.folder, 2u) : 0u;
    if (t.fields == 0u || !match_image_holds(m, t.folder, 2u + 12u * t.fields)) {
        return 0;
    }
    const uint32_t compression = match_image_tiff_value(&t, 259u, 0u, 1u), kind = match_image_tiff_value(&t, 262u, 0u, 1u);
    const uint32_t channels = match_image_tiff_value(&t, 277u, 0u, 1u);
    const uint32_t rows = match_image_tiff_value(&t, 278u, 0u, m->height);
    if (match_image_tiff_value(&t, 256u, 0u, 0u) != m->width || match_image_tiff_value(&t, 257u, 0u, 0u) != m->height ||
        match_image_tiff_value(&t, 258u, 0u, 1u) != 8u || kind > 3u || channels != (kind == 2u ? 3u : 1u) ||
        rows == 0u || match_image_tiff_value(&t, 284u, 0u, 1u) != 1u || match_image_tiff_value(&t, 317u, 0u, 1u) != 1u) {
        return 0;
    }
    for (uint32_t y = 0u, strip = 0u; y < m->height; strip++) {
        const uint32_t here = rows < m->height - y ? rows : m->height - y, bytes = here * m->width * channels;
        const uint32_t at = match_image_tiff_value(&t, 273u, strip, 0u), packed = match_image_tiff_value(&t, 279u, strip, 0u);
        if (!match_image_holds(m, at, packed)) {
            return 0;
        }
        if (compression == 1u && packed >= bytes) {
            memcpy(m->work, m->data + at, bytes);
        } else if (compression == 32773u) {
            if (!match_image_packbits(m, at, at + packed, m->work, bytes)) {
                return 0;
            }
        } else if (compression == 8u || compression == 32946u) {
            match_image_bits_t stream = {.image = m, .at = at, .left = packed};
            if (!match_image_inflate(&stream, m->work, bytes)) {
                return 0;
            }
        } else {
            return 0;
        }
        for (uint32_t i = 0u; i < here * m->width; i++) {
            uint32_t v[3];
            for (uint32_t c = 0u; c < 3u; c++) {
                v[c] = m->work[i * channels + (channels == 3u ? c : 0u)];
                v[c] = kind == 0u ? 255u - v[c] : kind == 3u ? match_image_tiff_value(&t, 320u, 256u * c + v[c], 0u) >> 8 : v[c];
            }
            match_image_put(m, y * m->width + i, v[0], v[1], v[2]);
        }
        y += here;
    }
    return 1;
}

#endif
