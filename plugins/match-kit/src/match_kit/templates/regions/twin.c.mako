/* ${name}_twin.c - the SDK on the development machine: the same results, and the chip's cycles. */
#include <string.h>

#include "${name}_sdk.h"
#include "match_twin.h"
#include "match_twin_clocks.h" /* numbers of the clocks that emit.py names */

enum { HOST = MATCH_TWIN_CLOCK_HOST, ENGINE = MATCH_TWIN_CLOCK_${name.upper()}_ENGINE };

typedef struct {
    ${name}_layer_t layer;
    const int8_t *input;
    int8_t *output;
} job_t;

static _Alignas(8) uint8_t memory[WEIGHT_BYTES];
static uint32_t used;
static uint64_t job, job_end;

int ${name}_hold(const void *bytes, uint32_t size, uint32_t *place)
{
    const uint32_t room = (size + 7u) / 8u * 8u; /* the engine reads whole words */
    if (room > sizeof memory - used) {
        return 1;
    }
    memcpy(&memory[used], bytes, size);
    *place = used;
    used += room;
    return 0;
}

void ${name}_release(void)
{
    used = 0u;
}

static void do_layer(void *argument)
{
    const job_t *const t = argument;
    const ${name}_layer_t *const layer = &t->layer;
    const int8_t *const weight = (const int8_t *)&memory[layer->weight];
    for (size_t k = 0u; k < layer->outputs; k++) {
        int64_t sum = 0, multiplier, addend;
        for (size_t c = 0u; c < layer->inputs; c++) {
            sum += t->input[c] * weight[k * layer->inputs + c];
        }
        memcpy(&multiplier, &memory[layer->multiplier + 8u * k], sizeof multiplier);
        memcpy(&addend, &memory[layer->addend + 8u * k], sizeof addend);
        const int64_t y = (sum * multiplier + addend) >> layer->shift;
        t->output[k] = (int8_t)((y < layer->low) ? layer->low : (y > layer->high) ? layer->high : y);
    }
}

void ${name}_start(const ${name}_layer_t *layer, const int8_t *input, int8_t *output)
{
    const job_t next = {*layer, input, output};
    if (match_twin_mode() == MATCH_TWIN_LAZY) { /* nobody may read results before the wait */
        memset(output, MATCH_TWIN_POISON, layer->outputs);
    }
    match_twin_spend(HOST, START_CYCLES);
    job_end = match_twin_issue(HOST, ENGINE, ((uint64_t)layer->inputs * layer->outputs + MACS_PER_CYCLE - 1u) / MACS_PER_CYCLE);
    job = match_twin_defer(do_layer, &next, sizeof next);
}

void ${name}_wait(void)
{
    match_twin_complete(job);
    match_twin_wait_until(HOST, job_end);
}
