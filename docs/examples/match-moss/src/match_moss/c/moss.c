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

/* As many words as hold the bytes of a constant. */
static void fill(int memory, uint32_t at, const match_region_tensor_t *constant, uint32_t bytes)
{
    const uint8_t *const data = constant->data;
    for (uint32_t i = 0u; i < bytes; i += 4u) {
        uint8_t part[4] = {0u, 0u, 0u, 0u};
        for (uint32_t k = 0u; (k < 4u) && (i + k < bytes); k++) {
            part[k] = data[i + k];
        }
        moss_write(memory, at + i, word(part));
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
    fill(MOSS_WEIGHT_MEMORY, p->weights, &region->constants[0], weights);
    fill(MOSS_BIAS_MEMORY, p->biases, &region->constants[1], biases);
    weights_end += (weights + 3u) & ~3u;
    biases_end += biases;
    *handle = p;
    return 0;
}

/* Regions are unloaded in the reverse order of loading, or all together: the engine is then empty. */
void moss_unload(void *handle)
{
    if ((handle != NULL) && (--programs_count == 0u)) {
        weights_end = biases_end = 0u;
    }
}

/* One end of the region: pixels of so many channels, to the engine or from it. */
static void write_end(const uint8_t *end, const uint8_t *from)
{
    const uint32_t channels = word(&end[8]);
    uint32_t at = word(&end[0]);
    for (uint32_t pixel = 0u; pixel < word(&end[4]); pixel++, from += channels) {
        for (uint32_t c = 0u; c < channels; c += 4u, at += 4u) {
            uint8_t part[4] = {0u, 0u, 0u, 0u};
            for (uint32_t k = 0u; (k < 4u) && (c + k < channels); k++) {
                part[k] = from[c + k];
            }
            moss_write(MOSS_DATA, at, word(part));
        }
    }
}

static void read_end(const uint8_t *end, uint8_t *to)
{
    const uint32_t channels = word(&end[8]);
    uint32_t at = word(&end[0]);
    for (uint32_t pixel = 0u; pixel < word(&end[4]); pixel++, to += channels) {
        for (uint32_t c = 0u; c < channels; c += 4u, at += 4u) {
            const uint32_t value = moss_read(at);
            for (uint32_t k = 0u; (k < 4u) && (c + k < channels); k++) {
                to[c + k] = (uint8_t)(value >> (8u * k));
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
        write_end(ends, in[i]);
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
        read_end(ends, out[i]);
    }
    (void)scratch;
    return 0;
}
