/* JPEG 2000 (ITU-T T.800) for match_image.h: the reversible 5/3 transform, 8 bits, one tile, one layer, one precinct for
 * each resolution. This is what encoders write if nothing else is asked for.
 */
#ifndef MATCH_IMAGE_JP2_H
#define MATCH_IMAGE_JP2_H

#include "match_image.h"

/* Coefficients stay below this limit, which only damaged files reach. */
#define MATCH_JP2_MOST (1 << 24)
#define MATCH_JP2_PLANES 20u

/* A block of coefficients: what its packet says. */
typedef struct {
    uint32_t passes, zeros, bytes;
} match_jp2_block_t;

/* A node of a tag tree: the least value that it may have, and whether it is known. */
typedef struct {
    uint16_t least, is_known;
} match_jp2_node_t;

typedef struct {
    uint32_t columns, rows, x, y, blocks_across, blocks_down, kind; /* kind: 0 LL, 1 HL, 2 LH, 3 HH */
} match_jp2_band_t;

typedef struct {
    const match_image_t *image;
    uint32_t at, end, parts, levels, block_x, block_y, guard, mixes, order;
    uint32_t bits, count; /* of a packet's header */
    uint8_t exponent[3 * 32 + 1];
    int32_t *plane[3], *line;
    uint8_t *flags;
    match_jp2_block_t *blocks;
    match_jp2_node_t *nodes;
    /* the arithmetic decoder */
    uint32_t from, to, a, c, shifts;
    uint8_t state[19], most[19];
} match_jp2_t;

/* ---- headers of packets ------------------------------------------------------------------------------------------ */

static inline uint32_t match_jp2_bit(match_jp2_t *j)
{
    if (j->count == 0u) {
        j->count = (j->bits & 0xFFu) == 0xFFu ? 7u : 8u; /* a bit is stuffed behind 0xFF */
        j->bits = j->at < j->end ? match_image_byte(j->image, j->at) : 0u;
        j->at++;
    }
    j->count--;
    return (j->bits >> j->count) & 1u;
}

static inline uint32_t match_jp2_number(match_jp2_t *j, uint32_t bits)
{
    uint32_t value = 0u;
    for (uint32_t i = 0u; i < bits; i++) {
        value = (value << 1) | match_jp2_bit(j);
    }
    return value;
}

/* Whether the value of a leaf is below `limit`. Levels of the tree follow one another, the leaves first. */
static inline int match_jp2_below(match_jp2_t *j, match_jp2_node_t *tree, uint32_t across, uint32_t down, uint32_t leaf,
                                  uint32_t limit)
{
    uint32_t place[18], depth = 0u, start = 0u, x = leaf % across, y = leaf / across;
    for (;;) {
        place[depth++] = start + y * across + x;
        if (across * down == 1u || depth == 18u) {
            break;
        }
        start += across * down;
        across = (across + 1u) / 2u;
        down = (down + 1u) / 2u;
        x /= 2u;
        y /= 2u;
    }
    uint32_t least = 0u;
    for (uint32_t n = depth; n-- > 0u;) {
        match_jp2_node_t *const node = &tree[place[n]];
        if (node->least < least) {
            node->least = (uint16_t)least;
        }
        while (!node->is_known && node->least < limit) {
            if (match_jp2_bit(j) != 0u) {
                node->is_known = 1u;
            } else {
                node->least++;
            }
        }
        least = node->least;
    }
    return tree[place[0]].is_known != 0u && least < limit;
}

static inline uint32_t match_jp2_passes(match_jp2_t *j)
{
    if (match_jp2_bit(j) == 0u) {
        return 1u;
    }
    if (match_jp2_bit(j) == 0u) {
        return 2u;
    }
    uint32_t more = match_jp2_number(j, 2u);
    if (more < 3u) {
        return 3u + more;
    }
    more = match_jp2_number(j, 5u);
    return more < 31u ? 6u + more : 37u + match_jp2_number(j, 7u);
}

/* ---- arithmetic decoder ------------------------------------------------------------------------------------------ */

static inline void match_jp2_byte_in(match_jp2_t *j)
{
    const uint32_t here = j->from < j->to ? match_image_byte(j->image, j->from) : 0xFFu;
    const uint32_t next = j->from + 1u < j->to ? match_image_byte(j->image, j->from + 1u) : 0xFFu;
    if (here == 0xFFu && next > 0x8Fu) {
        j->c += 0xFF00u;
        j->shifts = 8u;
        return;
    }
    j->from++;
    j->c += here == 0xFFu ? next << 9 : next << 8;
    j->shifts = here == 0xFFu ? 7u : 8u;
}

static inline void match_jp2_begin(match_jp2_t *j, uint32_t from, uint32_t to)
{
    memset(j->state, 0, sizeof j->state);
    memset(j->most, 0, sizeof j->most);
    j->state[0] = 4u;
    j->state[17] = 3u;
    j->state[18] = 46u;
    j->from = from;
    j->to = to;
    j->c = (from < to ? match_image_byte(j->image, from) : 0xFFu) << 16;
    match_jp2_byte_in(j);
    j->c <<= 7;
    j->shifts -= 7u;
    j->a = 0x8000u;
}

static inline uint32_t match_jp2_decide(match_jp2_t *j, uint32_t context)
{
    static const uint16_t chance[47] = {
        0x5601, 0x3401, 0x1801, 0x0AC1, 0x0521, 0x0221, 0x5601, 0x5401, 0x4801, 0x3801, 0x3001, 0x2401,
        0x1C01, 0x1601, 0x5601, 0x5401, 0x5101, 0x4801, 0x3801, 0x3401, 0x3001, 0x2801, 0x2401, 0x2201,
        0x1C01, 0x1801, 0x1601, 0x1401, 0x1201, 0x1101, 0x0AC1, 0x09C1, 0x08A1, 0x0521, 0x0441, 0x02A1,
        0x0221, 0x0141, 0x0111, 0x0085, 0x0049, 0x0025, 0x0015, 0x0009, 0x0005, 0x0001, 0x5601};
    static const uint8_t likely[47] = {1,  2,  3,  4,  5,  38, 7,  8,  9,  10, 11, 12, 13, 29, 15, 16,
                                       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
                                       33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 45, 46};
    static const uint8_t rare[47] = {1,  6,  9,  12, 29, 33, 6,  14, 14, 14, 17, 18, 20, 21, 14, 14,
                                     15, 16, 17, 18, 19, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
                                     30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 46};
    const uint32_t state = j->state[context], q = chance[state];
    uint32_t found = j->most[context], is_rare;
    j->a -= q;
    if ((j->c >> 16) < q) {
        is_rare = j->a >= q;
        j->a = q;
    } else {
        j->c -= q << 16;
        if ((j->a & 0x8000u) != 0u) {
            return found;
        }
        is_rare = j->a < q;
    }
    if (is_rare != 0u) {
        found = 1u - found;
        if (state == 0u || state == 6u || state == 14u) {
            j->most[context] = (uint8_t)found;
        }
    }
    j->state[context] = is_rare != 0u ? rare[state] : likely[state];
    do {
        if (j->shifts == 0u) {
            match_jp2_byte_in(j);
        }
        j->a <<= 1;
        j->c <<= 1;
        j->shifts--;
    } while ((j->a & 0x8000u) == 0u);
    return found;
}

/* ---- blocks of coefficients -------------------------------------------------------------------------------------- */

enum { MATCH_JP2_SET = 1, MATCH_JP2_NEGATIVE = 2, MATCH_JP2_VISITED = 4, MATCH_JP2_REFINED = 8 };

/* A block while it is decoded: flags with a border of one, and the coefficients. */
typedef struct {
    uint8_t *flags;
    int32_t *values;
    uint32_t columns, rows, pitch, stride, kind;
} match_jp2_part_t;

static inline uint32_t match_jp2_set(const uint8_t *flag)
{
    return *flag & (uint32_t)MATCH_JP2_SET;
}

/* The context of a coefficient that is still 0. */
static inline uint32_t match_jp2_context(const match_jp2_part_t *b, const uint8_t *f)
{
    const uint8_t *const above = f - b->pitch, *const below = f + b->pitch;
    uint32_t h = match_jp2_set(f - 1) + match_jp2_set(f + 1), v = match_jp2_set(above) + match_jp2_set(below);
    const uint32_t d = match_jp2_set(above - 1) + match_jp2_set(above + 1) + match_jp2_set(below - 1) + match_jp2_set(below + 1);
    if (b->kind == 3u) {
        const uint32_t sides = h + v < 2u ? h + v : 2u;
        return d >= 3u ? 8u : d == 2u ? 6u + (sides > 0u) : d == 1u ? 3u + sides : sides;
    }
    if (b->kind == 1u) {
        const uint32_t kept = h;
        h = v;
        v = kept;
    }
    if (h == 2u) {
        return 8u;
    }
    if (h == 1u) {
        return v > 0u ? 7u : d > 0u ? 6u : 5u;
    }
    return v > 0u ? 2u + v : d < 2u ? d : 2u;
}

static inline int32_t match_jp2_side(uint32_t a, uint32_t b)
{
    const int32_t first = (a & 1u) == 0u ? 0 : (a & 2u) != 0u ? -1 : 1, second = (b & 1u) == 0u ? 0 : (b & 2u) != 0u ? -1 : 1;
    const int32_t sum = first + second;
    return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

/* A coefficient gets its first bit: its sign follows. */
static inline void match_jp2_appear(match_jp2_t *j, const match_jp2_part_t *b, uint8_t *f, int32_t *value, uint32_t plane)
{
    int32_t h = match_jp2_side(f[-1], f[1]), v = match_jp2_side(*(f - b->pitch), f[b->pitch]);
    const uint32_t flips = h < 0 || (h == 0 && v < 0);
    if (flips != 0u) {
        h = -h;
        v = -v;
    }
    const uint32_t context = (uint32_t)(h == 1 ? 12 + v : 9 + v);
    const uint32_t negative = match_jp2_decide(j, context) ^ flips;
    *value = 1 << plane;
    *f = (uint8_t)(*f | MATCH_JP2_SET | (negative != 0u ? MATCH_JP2_NEGATIVE : 0));
}

/* One pass over a block, in stripes of four rows. `pass`: 0 significance, 1 refinement, 2 the rest. */
static inline void match_jp2_pass(match_jp2_t *j, const match_jp2_part_t *b, uint32_t pass, uint32_t plane)
{
    for (uint32_t top = 0u; top < b->rows; top += 4u) {
        for (uint32_t x = 0u; x < b->columns; x++) {
            const uint32_t end = b->rows - top < 4u ? b->rows : top + 4u;
            uint32_t y = top;
            if (pass == 2u && end - top == 4u) {
                uint32_t quiet = 1u;
                for (uint32_t i = top; i < end; i++) {
                    const uint8_t *const f = b->flags + (i + 1u) * b->pitch + x + 1u;
                    quiet &= (*f & (MATCH_JP2_SET | MATCH_JP2_VISITED)) == 0 && match_jp2_context(b, f) == 0u;
                }
                if (quiet != 0u) {
                    if (match_jp2_decide(j, 17u) == 0u) {
                        continue;
                    }
                    y += match_jp2_decide(j, 18u) << 1;
                    y += match_jp2_decide(j, 18u);
                    match_jp2_appear(j, b, b->flags + (y + 1u) * b->pitch + x + 1u, b->values + y * b->stride + x, plane);
                    y++;
                }
            }
            for (; y < end; y++) {
                uint8_t *const f = b->flags + (y + 1u) * b->pitch + x + 1u;
                int32_t *const value = b->values + y * b->stride + x;
                const uint32_t context = match_jp2_context(b, f);
                if (pass == 1u) {
                    if ((*f & (MATCH_JP2_SET | MATCH_JP2_VISITED)) == MATCH_JP2_SET) {
                        const uint32_t which = (*f & MATCH_JP2_REFINED) != 0 ? 16u : context == 0u ? 14u : 15u;
                        *value |= (int32_t)(match_jp2_decide(j, which) << plane);
                        *f |= (uint8_t)MATCH_JP2_REFINED;
                    }
                } else if ((*f & (MATCH_JP2_SET | MATCH_JP2_VISITED)) == 0 && (pass == 2u || context != 0u)) {
                    if (match_jp2_decide(j, context) != 0u) {
                        match_jp2_appear(j, b, f, value, plane);
                    }
                    *f |= (uint8_t)(pass == 0u ? MATCH_JP2_VISITED : 0);
                }
            }
        }
    }
    for (uint32_t i = 0u; pass == 2u && i < (b->rows + 2u) * b->pitch; i++) {
        b->flags[i] = (uint8_t)(b->flags[i] & ~MATCH_JP2_VISITED);
    }
}

static inline int match_jp2_decode(match_jp2_t *j, const match_jp2_part_t *b, const match_jp2_block_t *told, uint32_t planes)
{
    if (told->zeros >= planes || planes - told->zeros > MATCH_JP2_PLANES) {
        return 0;
    }
    memset(b->flags, 0, (size_t)(b->columns + 2u) * (b->rows + 2u));
    match_jp2_begin(j, j->at, j->at + told->bytes);
    uint32_t plane = planes - told->zeros - 1u, pass = 2u;
    for (uint32_t n = 0u; n < told->passes; n++) {
        match_jp2_pass(j, b, pass, plane);
        if (pass == 2u && plane == 0u) {
            break;
        }
        plane -= pass == 2u ? 1u : 0u;
        pass = (pass + 1u) % 3u;
    }
    for (uint32_t y = 0u; y < b->rows; y++) {
        for (uint32_t x = 0u; x < b->columns; x++) {
            int32_t *const value = b->values + y * b->stride + x;
            *value = (b->flags[(y + 1u) * b->pitch + x + 1u] & MATCH_JP2_NEGATIVE) != 0 ? -*value : *value;
        }
    }
    return 1;
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

/* ceil((size - start) / 2^shift), at least 0 */
static inline uint32_t match_jp2_part_of(uint32_t size, uint32_t start, uint32_t shift)
{
    return size > start ? (size - start + (1u << shift) - 1u) >> shift : 0u;
}

static inline match_jp2_band_t match_jp2_band(const match_jp2_t *j, uint32_t resolution, uint32_t kind)
{
    const uint32_t depth = resolution == 0u ? j->levels : j->levels - resolution + 1u;
    const uint32_t half = depth == 0u ? 0u : 1u << (depth - 1u), w = j->image->width, h = j->image->height;
    match_jp2_band_t band = {.kind = kind};
    band.columns = match_jp2_part_of(w, (kind & 1u) != 0u ? half : 0u, depth);
    band.rows = match_jp2_part_of(h, (kind & 2u) != 0u ? half : 0u, depth);
    band.x = (kind & 1u) != 0u ? match_jp2_part_of(w, 0u, depth) : 0u;
    band.y = (kind & 2u) != 0u ? match_jp2_part_of(h, 0u, depth) : 0u;
    band.blocks_across = (band.columns + (1u << j->block_x) - 1u) >> j->block_x;
    band.blocks_down = (band.rows + (1u << j->block_y) - 1u) >> j->block_y;
    return band;
}

/* What the header says of the blocks of a band. */
static inline int match_jp2_told(match_jp2_t *j, const match_jp2_band_t *band, match_jp2_block_t *blocks)
{
    const uint32_t count = band->blocks_across * band->blocks_down;
    match_jp2_node_t *const there = j->nodes, *const zeros = j->nodes + 2u * count + 32u;
    memset(there, 0, sizeof *there * (4u * (size_t)count + 64u));
    for (uint32_t i = 0u; i < count; i++) {
        blocks[i] = (match_jp2_block_t){0u, 0u, 0u};
        if (!match_jp2_below(j, there, band->blocks_across, band->blocks_down, i, 1u)) {
            continue;
        }
        uint32_t limit = 1u;
        while (limit < 40u && !match_jp2_below(j, zeros, band->blocks_across, band->blocks_down, i, limit)) {
            limit++;
        }
        blocks[i].zeros = limit - 1u;
        blocks[i].passes = match_jp2_passes(j);
        uint32_t bits = 3u;
        while (bits < 24u && match_jp2_bit(j) != 0u) {
            bits++;
        }
        for (uint32_t n = blocks[i].passes; n > 1u; n >>= 1) {
            bits++;
        }
        blocks[i].bytes = match_jp2_number(j, bits);
        if (limit == 40u || blocks[i].bytes > j->image->size || j->at > j->end) {
            return 0;
        }
    }
    return 1;
}

/* The blocks that the working memory has room for: those of 4x4 coefficients in three bands of half the size. */
static inline uint32_t match_jp2_most_blocks(const match_image_t *m)
{
    return 3u * (m->width / 8u + 2u) * (m->height / 8u + 2u);
}

/* One packet: a resolution of a component. */
static inline int match_jp2_packet(match_jp2_t *j, uint32_t part, uint32_t resolution)
{
    const uint32_t first = resolution == 0u ? 0u : 1u, last = resolution == 0u ? 0u : 3u;
    uint32_t used = 0u;
    j->bits = 0u;
    j->count = 0u;
    if (match_jp2_bit(j) != 0u) {
        for (uint32_t kind = first; kind <= last; kind++) {
            const match_jp2_band_t band = match_jp2_band(j, resolution, kind);
            const uint32_t count = band.blocks_across * band.blocks_down;
            if (used + count > match_jp2_most_blocks(j->image) || !match_jp2_told(j, &band, j->blocks + used)) {
                return 0;
            }
            used += count;
        }
    }
    j->at += (j->bits & 0xFFu) == 0xFFu ? 1u : 0u;
    if (used == 0u) {
        return 1;
    }
    const match_jp2_block_t *told = j->blocks;
    for (uint32_t kind = first; kind <= last; kind++) {
        const match_jp2_band_t band = match_jp2_band(j, resolution, kind);
        const uint32_t exponent = j->exponent[resolution == 0u ? 0u : 3u * (resolution - 1u) + kind];
        for (uint32_t i = 0u; i < band.blocks_across * band.blocks_down; i++, told++) {
            const uint32_t x = (i % band.blocks_across) << j->block_x, y = (i / band.blocks_across) << j->block_y;
            match_jp2_part_t b = {.flags = j->flags, .stride = j->image->width, .kind = kind};
            b.columns = band.columns - x < 1u << j->block_x ? band.columns - x : 1u << j->block_x;
            b.rows = band.rows - y < 1u << j->block_y ? band.rows - y : 1u << j->block_y;
            b.pitch = b.columns + 2u;
            b.values = j->plane[part] + (band.y + y) * b.stride + band.x + x;
            if (told->passes == 0u) {
                continue;
            }
            if (j->at > j->end || told->bytes > j->end - j->at || !match_jp2_decode(j, &b, told, j->guard + exponent - 1u)) {
                return 0;
            }
            j->at += told->bytes;
        }
    }
    return 1;
}

/* ---- transform --------------------------------------------------------------------------------------------------- */

static inline int32_t match_jp2_limit(int32_t value)
{
    return value > MATCH_JP2_MOST ? MATCH_JP2_MOST : value < -MATCH_JP2_MOST ? -MATCH_JP2_MOST : value;
}

/* Joins the low and the high half of `size` values that lie `step` apart. */
static inline void match_jp2_join(int32_t *v, uint32_t step, uint32_t size, int32_t *line)
{
    const uint32_t low = (size + 1u) / 2u;
    if (size < 2u) {
        return;
    }
    for (uint32_t i = 0u; i < size; i++) {
        line[i] = v[((i & 1u) != 0u ? low + i / 2u : i / 2u) * step];
    }
    for (uint32_t i = 0u; i < size; i += 2u) {
        const int32_t before = line[i > 0u ? i - 1u : 1u], after = line[i + 1u < size ? i + 1u : i - 1u];
        line[i] -= (before + after + 2) >> 2;
    }
    for (uint32_t i = 1u; i < size; i += 2u) {
        line[i] += (line[i - 1u] + line[i + 1u < size ? i + 1u : i - 1u]) >> 1;
    }
    for (uint32_t i = 0u; i < size; i++) {
        v[i * step] = match_jp2_limit(line[i]);
    }
}

static inline void match_jp2_pixels(const match_jp2_t *j)
{
    const match_image_t *const m = j->image;
    for (uint32_t p = 0u; p < j->parts; p++) {
        for (uint32_t depth = j->levels; depth-- > 0u;) {
            const uint32_t columns = match_jp2_part_of(m->width, 0u, depth), rows = match_jp2_part_of(m->height, 0u, depth);
            for (uint32_t y = 0u; y < rows; y++) {
                match_jp2_join(j->plane[p] + y * m->width, 1u, columns, j->line);
            }
            for (uint32_t x = 0u; x < columns; x++) {
                match_jp2_join(j->plane[p] + x, m->width, rows, j->line);
            }
        }
    }
    for (uint32_t i = 0u; i < m->width * m->height; i++) {
        int32_t v[3];
        for (uint32_t p = 0u; p < 3u; p++) {
            v[p] = j->plane[j->parts == 3u ? p : 0u][i];
        }
        if (j->mixes != 0u && j->parts == 3u) {
            const int32_t green = v[0] - ((v[1] + v[2]) >> 2), red = v[2] + green, blue = v[1] + green;
            v[0] = red;
            v[1] = green;
            v[2] = blue;
        }
        match_image_put(m, i, match_image_clip(v[0] + 128), match_image_clip(v[1] + 128), match_image_clip(v[2] + 128));
    }
}

/* ---- the code stream --------------------------------------------------------------------------------------------- */

/* The headers up to the data of the tile. */
static inline int match_jp2_headers(match_jp2_t *j)
{
    const match_image_t *const m = j->image;
    int has_style = 0, has_steps = 0;
    while (match_image_holds(m, j->at, 4u)) {
        const uint32_t marker = match_image_be(m, j->at, 2u), size = match_image_be(m, j->at + 2u, 2u), at = j->at + 4u;
        if (marker == 0xFF93u) {
            j->at += 2u;
            return j->parts != 0u && has_style && has_steps;
        }
        if (size < 2u || !match_image_holds(m, j->at + 2u, size)) {
            return 0;
        }
        if (marker == 0xFF51u) { /* SIZ: one tile from (0, 0) on, components of 8 bits without subsampling */
            j->parts = match_image_be(m, at + 34u, 2u);
            if (match_image_be(m, at + 2u, 4u) != m->width || match_image_be(m, at + 6u, 4u) != m->height ||
                match_image_be(m, at + 10u, 4u) != 0u || match_image_be(m, at + 14u, 4u) != 0u ||
                match_image_be(m, at + 18u, 4u) < m->width || match_image_be(m, at + 22u, 4u) < m->height ||
                match_image_be(m, at + 26u, 4u) != 0u || match_image_be(m, at + 30u, 4u) != 0u ||
                (j->parts != 1u && j->parts != 3u)) {
                return 0;
            }
            for (uint32_t p = 0u; p < j->parts; p++) {
                if (match_image_be(m, at + 36u + 3u * p, 3u) != 0x070101u) {
                    return 0;
                }
            }
        } else if (marker == 0xFF52u) { /* COD */
            j->order = match_image_byte(m, at + 1u);
            j->mixes = match_image_byte(m, at + 4u);
            j->levels = match_image_byte(m, at + 5u);
            j->block_x = match_image_byte(m, at + 6u) + 2u;
            j->block_y = match_image_byte(m, at + 7u) + 2u;
            if (match_image_byte(m, at) != 0u || match_image_be(m, at + 2u, 2u) != 1u || j->levels > 16u || j->order > 4u ||
                j->block_x > 10u || j->block_y > 10u || j->block_x + j->block_y > 12u ||
                match_image_be(m, at + 8u, 2u) != 1u) {
                return 0;
            }
            has_style = 1;
        } else if (marker == 0xFF5Cu) { /* QCD without quantisation */
            const uint32_t style = match_image_byte(m, at);
            j->guard = style >> 5;
            if ((style & 31u) != 0u || size - 3u > sizeof j->exponent) {
                return 0;
            }
            for (uint32_t i = 0u; i < size - 3u; i++) {
                j->exponent[i] = (uint8_t)(match_image_byte(m, at + 1u + i) >> 3);
            }
            has_steps = 1;
        } else if (marker == 0xFF90u) { /* SOT */
            const uint32_t bytes = match_image_be(m, at + 2u, 4u);
            j->end = bytes >= 14u && bytes <= m->size - j->at ? j->at + bytes : m->size;
        } else if (marker == 0xFF53u || marker == 0xFF5Du || marker == 0xFF5Eu || marker == 0xFF5Fu || marker == 0xFF60u ||
                   marker == 0xFF61u) {
            return 0; /* styles of components, regions, other orders, packed headers */
        }
        j->at += 2u + size;
    }
    return 0;
}

static inline int match_image_jp2(const match_image_t *m)
{
    match_jp2_t j;
    memset(&j, 0, sizeof j);
    j.image = m;
    while (match_image_be(m, j.at, 4u) != 0xFF4FFF51u) { /* boxes around the code stream */
        const uint32_t size = match_image_be(m, j.at, 4u), kind = match_image_be(m, j.at + 4u, 4u);
        if (!match_image_holds(m, j.at, 8u) || kind == 0x70636C72u) { /* pclr: a palette */
            return 0;
        }
        if (kind == 0x6A703268u || kind == 0x6A703263u) { /* jp2h, jp2c */
            j.at += 8u;
        } else if (size < 8u || !match_image_holds(m, j.at, size)) {
            return 0;
        } else {
            j.at += size;
        }
    }
    j.at += 2u;
    const uint32_t pixels = m->width * m->height;
    int32_t *numbers = (int32_t *)(void *)m->work;
    for (uint32_t p = 0u; p < 3u; p++, numbers += pixels) {
        j.plane[p] = numbers;
    }
    memset(m->work, 0, 3u * sizeof *numbers * (size_t)pixels);
    j.line = numbers;
    numbers += m->width + m->height;
    j.flags = (uint8_t *)numbers; /* a block and its border: at most 1026 times 6 */
    numbers += 2048;
    j.blocks = (match_jp2_block_t *)(void *)numbers;
    j.nodes = (match_jp2_node_t *)(void *)(j.blocks + match_jp2_most_blocks(m));
    if (!match_jp2_headers(&j)) {
        return 0;
    }
    const uint32_t by_part = j.order >= 3u, outer = by_part != 0u ? j.parts : j.levels + 1u;
    const uint32_t inner = by_part != 0u ? j.levels + 1u : j.parts;
    for (uint32_t a = 0u; a < outer; a++) {
        for (uint32_t b = 0u; b < inner; b++) {
            if (!match_jp2_packet(&j, by_part != 0u ? a : b, by_part != 0u ? b : a)) {
                return 0;
            }
        }
    }
    match_jp2_pixels(&j);
    return 1;
}

#endif
