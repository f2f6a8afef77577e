/* moss.c - runs regions (layers.py says what their code is). Weights stay in the engine from load to unload. */
#include "moss.h"

#include <stddef.h>

enum { REGIONS_MAX = 64, LAYER_BYTES = MOSS_WORDS * 4, END_BYTES = 12 };
typedef struct {
    const match_region_t *region;
    uint32_t weights, biases; /* where they begin */
} program_t;
static program_t programs[REGIONS_MAX];
static uint32_t programs_count, weights_end, biases_end;

static uint32_t word(const uint8_t *at)
{
    return at[0] | ((uint32_t)at[1] << 8) | ((uint32_t)at[2] << 16) | ((uint32_t)at[3] << 24);
}

/* So many bytes, at most four, as a word. */
static uint32_t part_of(const uint8_t *data, uint32_t count)
{
    uint8_t part[4] = {0u, 0u, 0u, 0u};
    for (uint32_t k = 0u; k < count; k++) {
        part[k] = data[k];
    }
    return word(part);
}

static void fill(int memory, uint32_t at, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0u; i < bytes; i += 4u) {
        moss_write(memory, at + i, part_of(&data[i], (bytes - i < 4u) ? bytes - i : 4u));
    }
}

int moss_load(const match_region_t *region, void **handle)
{
    const uint32_t weights = region->constants[0].dims[0], biases = 4u * region->constants[1].dims[0];
    if (programs_count == REGIONS_MAX) {
        return 1;
    }
    program_t *const p = &programs[programs_count++];
    *p = (program_t){region, weights_end, biases_end};
    fill(MOSS_WEIGHT_MEMORY, p->weights, region->constants[0].data, weights);
    fill(MOSS_BIAS_MEMORY, p->biases, region->constants[1].data, biases);
    weights_end += (weights + 3u) & ~3u;
    biases_end += biases;
    *handle = p;
    return 0;
}

/* Regions are unloaded all together. */
void moss_unload(void *handle)
{
    weights_end = biases_end = programs_count = 0u;
    (void)handle;
}

/* One end of the region: pixels of so many channels, to the engine (from) or from it (to). */
static void move_end(const uint8_t *end, const uint8_t *from, uint8_t *to)
{
    const uint32_t channels = word(&end[8]), count = word(&end[4]) * channels;
    uint32_t at = word(&end[0]);
    for (uint32_t i = 0u, left; i < count; i += left, at += 4u) {
        left = (channels - i % channels < 4u) ? channels - i % channels : 4u;
        if (to == NULL) {
            moss_write(MOSS_DATA, at, part_of(&from[i], left));
        } else {
            for (uint32_t k = 0u, value = moss_read(at); k < left; k++, value >>= 8u) {
                to[i + k] = (uint8_t)value;
            }
        }
    }
}

/* Moves the pixels that are kept of a layer that was computed with stride 1. */
static void keep(const int32_t *l)
{
    const int32_t grow = 2 * l[MOSS_PAD] - l[MOSS_KERNEL] + 1, groups = (l[MOSS_OUTPUTS] + 3) / 4;
    const int32_t rows = l[MOSS_ROWS] / l[MOSS_POOL] + grow, columns = l[MOSS_COLUMNS] / l[MOSS_POOL] + grow;
    uint32_t to = (uint32_t)l[MOSS_RESULT];
    for (int32_t y = l[MOSS_FIRST_Y]; y < rows; y += l[MOSS_STEP]) {
        for (int32_t x = l[MOSS_FIRST_X]; x < columns; x += l[MOSS_STEP]) {
            for (int32_t from = l[MOSS_TARGET] + 4 * (y * columns + x) * groups, g = 0; g < groups; g++, to += 4u) {
                moss_write(MOSS_DATA, to, moss_read((uint32_t)(from + 4 * g)));
            }
        }
    }
}

int moss_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const program_t *const p = handle;
    const uint8_t *const layers = &p->region->code[4], *ends = &layers[word(p->region->code) * LAYER_BYTES];
    for (uint32_t i = 0u; i < p->region->inputs_count; i++, ends += END_BYTES) {
        move_end(ends, in[i], NULL);
    }
    for (uint32_t i = 0u; i < word(p->region->code); i++) {
        int32_t layer[MOSS_WORDS];
        for (uint32_t k = 0u; k < MOSS_WORDS; k++) {
            layer[k] = (int32_t)word(&layers[i * LAYER_BYTES + 4u * k]);
        }
        layer[MOSS_WEIGHTS] += (int32_t)p->weights;
        layer[MOSS_BIASES] += (int32_t)(p->biases / 4u);
        moss_start(layer);
        moss_wait();
        if (layer[MOSS_TARGET] != layer[MOSS_RESULT] && layer[MOSS_OP] == MOSS_CONV) {
            keep(layer);
        }
    }
    for (uint32_t i = 0u; i < p->region->outputs_count; i++, ends += END_BYTES) {
        move_end(ends, NULL, out[i]);
    }
    (void)scratch;
    return 0;
}
