/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and where their tensors lie: one block for all inner tensors, in which those share bytes that are not in use at
 * the same time. */
#include "match_dnnl_engine.h"

#include <stdlib.h>
#include <string.h>

static size_t rounded(size_t bytes)
{
    return (bytes + MATCH_DNNL_ALIGNMENT - 1) / MATCH_DNNL_ALIGNMENT * MATCH_DNNL_ALIGNMENT;
}

/* Room for one element more in an array whose capacity is the next power of two. */
int match_dnnl_grow(void **array, uint32_t count, size_t element)
{
    if ((count & (count - 1)) != 0) return 0;
    void *larger = realloc(*array, (count == 0 ? 1 : 2 * (size_t)count) * element);
    if (larger == NULL) return 1;
    *array = larger;
    return 0;
}

int match_dnnl_storage(match_dnnl_build_t *build, match_dnnl_place_t place, size_t bytes, uint32_t *storage)
{
    match_dnnl_engine_t *engine = build->engine;
    void *array = engine->storages;
    MATCH_DNNL_TRY(match_dnnl_grow(&array, engine->storages_count, sizeof *engine->storages));
    engine->storages = array;
    *storage = engine->storages_count++;
    match_dnnl_storage_t *made = &engine->storages[*storage];
    memset(made, 0, sizeof *made);
    made->place = place;
    made->bytes = rounded(bytes);
    made->first = UINT32_MAX;
    return 0;
}

/* A memory object of the storage; its address is set where it is known. */
int match_dnnl_argument(match_dnnl_build_t *build, match_dnnl_call_t *call, int argument,
                        const dnnl_memory_desc_t *layout, uint32_t storage)
{
    match_dnnl_engine_t *engine = build->engine;
    const match_dnnl_storage_t *place = &engine->storages[storage];
    void *array = engine->bindings;
    dnnl_memory_t memory = NULL;
    if (call->count == MATCH_DNNL_ARGUMENTS_MAX) return 1;
    MATCH_DNNL_TRY(match_dnnl_grow(&array, engine->bindings_count, sizeof *engine->bindings));
    engine->bindings = array;
    MATCH_DNNL_TRY(dnnl_memory_create(&memory, layout, engine->engine,
                                      place->place == MATCH_DNNL_CONSTANT ? place->data : DNNL_MEMORY_NONE));
    engine->bindings[engine->bindings_count].memory = memory;
    engine->bindings[engine->bindings_count++].storage = storage;
    call->arguments[call->count].arg = argument;
    call->arguments[call->count].memory = memory;
    call->storages[call->count++] = storage;
    return 0;
}

/* The scratchpad that the primitive wants: the same bytes for all. */
static int add_scratchpad(match_dnnl_build_t *build, match_dnnl_call_t *call, const_dnnl_primitive_desc_t description)
{
    const dnnl_memory_desc_t *layout = dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
    const size_t bytes = layout == NULL ? 0 : dnnl_memory_desc_get_size(layout);
    if (bytes == 0) return 0;
    if (build->scratch_bytes == 0) {
        MATCH_DNNL_TRY(match_dnnl_storage(build, MATCH_DNNL_INNER, bytes, &build->scratch_storage));
    }
    if (bytes > build->scratch_bytes) {
        build->scratch_bytes = bytes;
        build->engine->storages[build->scratch_storage].bytes = rounded(bytes);
    }
    return match_dnnl_argument(build, call, DNNL_ARG_SCRATCHPAD, layout, build->scratch_storage);
}

int match_dnnl_step(match_dnnl_build_t *build, const match_dnnl_call_t *call, const_dnnl_primitive_desc_t description)
{
    match_dnnl_engine_t *engine = build->engine;
    match_dnnl_call_t whole = *call;
    void *array = engine->steps;
    MATCH_DNNL_TRY(add_scratchpad(build, &whole, description));
    MATCH_DNNL_TRY(match_dnnl_grow(&array, engine->steps_count, sizeof *engine->steps));
    engine->steps = array;
    match_dnnl_step_t step = {NULL, calloc((size_t)whole.count, sizeof *step.arguments), whole.count};
    if (step.arguments == NULL) return 1;
    memcpy(step.arguments, whole.arguments, (size_t)whole.count * sizeof *step.arguments);
    if (dnnl_primitive_create(&step.primitive, description) != dnnl_success) {
        free(step.arguments);
        return 1;
    }
    for (int i = 0; i < whole.count; i++) {
        match_dnnl_storage_t *storage = &engine->storages[whole.storages[i]];
        if (storage->first == UINT32_MAX) storage->first = engine->steps_count;
        storage->last = engine->steps_count;
    }
    engine->steps[engine->steps_count++] = step;
    return 0;
}

void match_dnnl_make(match_dnnl_build_t *build, int tensor, const dnnl_memory_desc_t *layout, uint32_t storage)
{
    match_dnnl_tensor_t *made = &build->tensors[tensor];
    made->made = 1;
    made->layout = *layout;
    made->storage = storage;
    build->engine->storages[storage].pending += made->readers;
}

/* Whether two storages are in use at the same time. */
static int conflict(const match_dnnl_storage_t *one, const match_dnnl_storage_t *other)
{
    return one->first <= other->last && other->first <= one->last;
}

/* The lowest offset at which nothing that is placed already and in use at the same time lies. */
static size_t lowest_offset(const match_dnnl_storage_t *storages, const uint32_t *placed, uint32_t count, uint32_t added)
{
    size_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        const match_dnnl_storage_t *other = &storages[placed[i]];
        if (conflict(other, &storages[added]) && other->offset < offset + storages[added].bytes
            && offset < other->offset + other->bytes) {
            offset = other->offset + other->bytes;
            i = UINT32_MAX; /* from the start again: what lies before may be in the way now */
        }
    }
    return offset;
}

/* Offsets of inner storages, the largest first. Gives the bytes of the block, at least 1. */
static int place_inner(match_dnnl_engine_t *engine, size_t *bytes)
{
    match_dnnl_storage_t *storages = engine->storages;
    uint32_t *placed = calloc((size_t)engine->storages_count + 1, sizeof *placed), count = 0;
    *bytes = MATCH_DNNL_ALIGNMENT;
    if (placed == NULL) return 1;
    for (;;) {
        uint32_t largest = UINT32_MAX;
        for (uint32_t i = 0; i < engine->storages_count; i++) {
            const match_dnnl_storage_t *storage = &storages[i];
            int waiting = storage->place == MATCH_DNNL_INNER && storage->first != UINT32_MAX;
            for (uint32_t k = 0; k < count; k++) waiting = waiting && placed[k] != i;
            if (waiting && (largest == UINT32_MAX || storage->bytes > storages[largest].bytes)) largest = i;
        }
        if (largest == UINT32_MAX) break;
        storages[largest].offset = lowest_offset(storages, placed, count, largest);
        placed[count++] = largest;
        const size_t end = storages[largest].offset + storages[largest].bytes;
        if (end > *bytes) *bytes = end;
    }
    free(placed);
    return 0;
}

/* The block of inner tensors, and bindings sorted so that a run touches those of inputs and outputs only. */
int match_dnnl_finish(match_dnnl_build_t *build)
{
    match_dnnl_engine_t *engine = build->engine;
    size_t bytes = 0;
    MATCH_DNNL_TRY(place_inner(engine, &bytes));
    engine->block = aligned_alloc(MATCH_DNNL_ALIGNMENT, bytes);
    if (engine->block == NULL) return 1;
    memset(engine->block, 0, bytes);
    for (uint32_t i = 0; i < engine->bindings_count; i++) {
        const match_dnnl_binding_t binding = engine->bindings[i];
        const match_dnnl_storage_t *storage = &engine->storages[binding.storage];
        if (storage->place == MATCH_DNNL_INNER) {
            unsigned char *address = (unsigned char *)engine->block + storage->offset;
            MATCH_DNNL_TRY(dnnl_memory_set_data_handle(binding.memory, address));
        } else if (storage->place != MATCH_DNNL_CONSTANT) {
            engine->bindings[i] = engine->bindings[engine->ends_count];
            engine->bindings[engine->ends_count++] = binding;
        }
    }
    return 0;
}
