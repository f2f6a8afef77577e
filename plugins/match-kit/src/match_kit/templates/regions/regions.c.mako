/* ${name}_regions.c - runs the engine's programs (program.py) with the SDK. */
#include <stdlib.h>
#include <string.h>

#include "${name}_sdk.h"

enum { WORDS = 5 };

typedef struct {
    uint32_t count;
    ${name}_layer_t layers[];
} region_t;

/* Once for each program: weights go to the engine. */
int ${name}_region_load(const match_region_t *region, void **handle)
{
    const uint32_t count = region->code_bytes / (WORDS * 4u);
    region_t *const made = malloc(sizeof(region_t) + count * sizeof(${name}_layer_t));
    if (made == NULL) {
        return 1;
    }
    made->count = count;
    for (uint32_t i = 0u; i < count; i++) {
        ${name}_layer_t *const layer = &made->layers[i];
        const match_region_tensor_t *const constants = &region->constants[3u * i];
        memcpy(layer, (const uint8_t *)region->code + i * WORDS * 4u, WORDS * 4u);
        if ((${name}_hold(constants[0].data, layer->inputs * layer->outputs, &layer->weight) != 0)
            || (${name}_hold(constants[1].data, layer->outputs * 8u, &layer->multiplier) != 0)
            || (${name}_hold(constants[2].data, layer->outputs * 8u, &layer->addend) != 0)) {
            free(made);
            return 1;
        }
    }
    *handle = made;
    return 0;
}

/* Results of inner layers take turns in the two halves of the scratch memory. */
int ${name}_region_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const region_t *const region = handle;
    uint32_t widest = 0u;
    for (uint32_t i = 0u; i < region->count; i++) {
        widest = (region->layers[i].outputs > widest) ? region->layers[i].outputs : widest;
    }
    const int8_t *from = in[0];
    for (uint32_t i = 0u; i < region->count; i++) {
        int8_t *const to = (i + 1u == region->count) ? out[0] : (int8_t *)scratch + (i % 2u) * widest;
        ${name}_start(&region->layers[i], from, to);
        ${name}_wait();
        from = to;
    }
    return 0;
}

void ${name}_region_unload(void *handle)
{
    free(handle);
    ${name}_release();
}
