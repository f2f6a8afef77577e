/* ${name}_sdk.h - functions of the chip's SDK, and of the regions that match compiles for the engine. */
#ifndef ${guard}_SDK_H
#define ${guard}_SDK_H

#include "match_region.h"

typedef struct {
    uint32_t inputs, outputs, shift;
    int32_t low, high;
    uint32_t weight, multiplier, addend; /* places in the engine's memory */
} ${name}_layer_t;

/* Copies bytes into the engine's memory, where they stay until the engine is released. Returns 0, or 1 if it is full. */
int ${name}_hold(const void *bytes, uint32_t size, uint32_t *place);
void ${name}_release(void);
/* output[k] = clip((sum over c of input[c] * weight[k][c]) * multiplier[k] + addend[k]) >> shift, low, high).
 * The engine works while the host continues, until it waits. */
void ${name}_start(const ${name}_layer_t *layer, const int8_t *input, int8_t *output);
void ${name}_wait(void);

/* The three functions of a region: docs/regions.md of match. */
int ${name}_region_load(const match_region_t *region, void **handle);
int ${name}_region_run(void *handle, const void *const *in, void *const *out, void *scratch);
void ${name}_region_unload(void *handle);

#endif
