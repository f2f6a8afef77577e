/* moss_twin.c - the engine on the development machine: the same results, and the chip's cycles. */
#include <string.h>

#include "moss.h"
#include "match_twin.h"
#include "match_twin_clocks.h" /* numbers of the clocks that emit.py names */

enum { HOST = MATCH_TWIN_CLOCK_HOST, ENGINE = MATCH_TWIN_CLOCK_MOSS_CONV };

static int8_t data[MOSS_DATA_BYTES], weights[MOSS_WEIGHT_BYTES];
static int32_t biases[MOSS_BIAS_BYTES / 4u];
static uint64_t layer_job, layer_end;

static uint8_t *place(int memory, uint32_t at)
{
    uint8_t *const memories[] = {(uint8_t *)data, (uint8_t *)weights, (uint8_t *)biases};
    const uint32_t sizes[] = {sizeof data, sizeof weights, sizeof biases};
    if ((at % 4u != 0u) || (at + 4u > sizes[memory])) {
        match_twin_fault("a word beyond a memory of the engine");
    }
    match_twin_spend(HOST, (memory == MOSS_DATA) ? MOSS_WORD_CYCLES : 0u); /* weights are loaded once, before all runs */
    return &memories[memory][at];
}

void moss_write(int memory, uint32_t at, uint32_t word)
{
    memcpy(place(memory, at), &word, 4u);
}

uint32_t moss_read(uint32_t at)
{
    uint32_t word;
    memcpy(&word, place(MOSS_DATA, at), 4u);
    return word;
}

static int32_t rows_of(const int32_t *l, int axis)
{
    return l[axis] / l[MOSS_POOL] + 2 * l[MOSS_PAD] - l[MOSS_KERNEL] + 1;
}

/* The largest value of the pooling window at this pixel, 0 in the padding. */
static int32_t pixel(const int32_t *l, int32_t y, int32_t x, int32_t c)
{
    const int32_t pool = l[MOSS_POOL], pitch = (l[MOSS_INPUTS] + 3) / 4 * 4;
    if ((y < 0) || (x < 0) || (y >= l[MOSS_ROWS] / pool) || (x >= l[MOSS_COLUMNS] / pool)) {
        return 0;
    }
    int32_t most = INT8_MIN;
    for (int32_t k = 0; k < pool * pool; k++) {
        const int32_t at = (y * pool + k / pool) * l[MOSS_COLUMNS] + x * pool + k % pool;
        const int32_t value = data[l[MOSS_SOURCE] + at * pitch + c];
        most = (value > most) ? value : most;
    }
    return most;
}

static int32_t sum(const int32_t *l, int32_t y, int32_t x, int32_t k)
{
    const int32_t side = l[MOSS_KERNEL], inputs = l[MOSS_INPUTS], pad = l[MOSS_PAD], count = side * side * inputs;
    int32_t total = biases[l[MOSS_BIASES] + k];
    for (int32_t i = 0, tap = 0; i < count; i++, tap = i / inputs) {
        total += weights[l[MOSS_WEIGHTS] + k * count + i] * pixel(l, y + tap / side - pad, x + tap % side - pad, i % inputs);
    }
    return total;
}

/* The layer, pixel by pixel. Nothing reads the channels of a group that do not exist. */
static void compute(void *argument)
{
    const int32_t *const l = argument;
    const int32_t columns = rows_of(l, MOSS_COLUMNS), pitch = (l[MOSS_OUTPUTS] + 3) / 4 * 4;
    for (int32_t spot = 0; spot < rows_of(l, MOSS_ROWS) * columns; spot++) {
        for (int32_t k = 0; k < pitch; k++) {
            const int32_t at = spot * pitch + k;
            int64_t value = (l[MOSS_OP] == MOSS_ADD)
                                ? data[l[MOSS_SOURCE] + at] + data[l[MOSS_OTHER] + at] + biases[l[MOSS_BIASES]]
                                : (k < l[MOSS_OUTPUTS]) ? sum(l, spot / columns, spot % columns, k) : 0;
            value = (value + (((int64_t)1 << l[MOSS_SHIFT]) >> 1)) >> l[MOSS_SHIFT]; /* rounded, half upwards */
            value = (value < l[MOSS_LOW]) ? l[MOSS_LOW] : (value > INT8_MAX) ? INT8_MAX : value;
            data[l[MOSS_TARGET] + at] = (int8_t)value;
        }
    }
}

void moss_start(const int32_t *layer)
{
    const uint64_t pixels = (uint64_t)(rows_of(layer, MOSS_ROWS) * rows_of(layer, MOSS_COLUMNS));
    const uint64_t passes = ((uint32_t)layer[MOSS_INPUTS] + MOSS_PROCESSORS - 1u) / MOSS_PROCESSORS;
    if ((layer_job != 0u) || ((uint32_t)layer[MOSS_TARGET] + pixels * ((uint32_t)layer[MOSS_OUTPUTS] + 3u) > sizeof data)) {
        match_twin_fault("a layer beyond the data memory, or before another one has ended");
    }
    match_twin_spend(HOST, MOSS_WORDS * MOSS_WORD_CYCLES);
    const uint64_t cycles = pixels * passes * (uint32_t)layer[MOSS_OUTPUTS] + MOSS_SETUP_CYCLES;
    layer_end = match_twin_issue(HOST, ENGINE, MOSS_CLOCK_RATIO * cycles);
    layer_job = match_twin_defer(compute, layer, MOSS_WORDS * sizeof layer[0]);
}

void moss_wait(void)
{
    match_twin_complete(layer_job);
    layer_job = 0u;
    match_twin_wait_until(HOST, layer_end);
    match_twin_spend(HOST, MOSS_WAKE_CYCLES);
}
