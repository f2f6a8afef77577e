/* moss.h - the convolution engine: its registers as functions, and regions that run on it. */
#ifndef MOSS_H
#define MOSS_H
#include "match_region.h"

/* Words of a layer. The engine reads SOURCE (and OTHER), writes TARGET; where RESULT is not TARGET, the host moves the
 * pixels that are kept: from row FIRST_Y and column FIRST_X on, every STEP-th. Places are bytes in data memory, weights
 * and biases count from the start of the region's own. */
enum {
    MOSS_OP, MOSS_SOURCE, MOSS_OTHER, MOSS_TARGET, MOSS_ROWS, MOSS_COLUMNS, MOSS_INPUTS, MOSS_OUTPUTS, MOSS_KERNEL,
    MOSS_PAD, MOSS_POOL, MOSS_FIRST_Y, MOSS_FIRST_X, MOSS_STEP, MOSS_SHIFT, MOSS_LOW, MOSS_WEIGHTS, MOSS_BIASES,
    MOSS_WORDS, MOSS_RESULT = MOSS_OTHER
};
enum { MOSS_CONV = 1, MOSS_ADD = 2 };
/* Memories of the engine, by words of 32 bits. Data: HWC, channels in groups of four. */
enum { MOSS_DATA, MOSS_WEIGHT_MEMORY, MOSS_BIAS_MEMORY };
void moss_write(int memory, uint32_t at, uint32_t word);
uint32_t moss_read(uint32_t at);

/* Starts a layer; the host may go on. The wait returns when its result is in data memory. */
void moss_start(const int32_t *layer);
void moss_wait(void);

/* Regions: see match_region.h. */
int moss_load(const match_region_t *region, void **handle);
int moss_run(void *handle, const void *const *in, void *const *out, void *scratch);
void moss_unload(void *handle);
#endif
