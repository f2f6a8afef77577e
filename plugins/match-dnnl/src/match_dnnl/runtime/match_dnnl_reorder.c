/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in the layouts that their readers want. Constants are reordered once, when the region is loaded. */
#include "match_dnnl_engine.h"

#include <stdlib.h>
#include <string.h>

/* A constant in another layout, made now and kept. */
static int reorder_now(match_dnnl_build_t *build, const dnnl_memory_desc_t *from, uint32_t source,
                       const dnnl_memory_desc_t *to, uint32_t target, const_dnnl_primitive_desc_t description)
{
    match_dnnl_storage_t *storages = build->engine->storages;
    dnnl_primitive_t primitive = NULL;
    dnnl_memory_t ends[2] = {NULL, NULL};
    storages[target].data = aligned_alloc(MATCH_DNNL_ALIGNMENT, storages[target].bytes);
    storages[target].owned = 1;
    int failed = storages[target].data == NULL;
    if (!failed) memset(storages[target].data, 0, storages[target].bytes);
    failed = failed || dnnl_primitive_create(&primitive, description) != dnnl_success;
    failed = failed || dnnl_memory_create(&ends[0], from, build->engine->engine, storages[source].data) != dnnl_success;
    failed = failed || dnnl_memory_create(&ends[1], to, build->engine->engine, storages[target].data) != dnnl_success;
    if (!failed) {
        const dnnl_exec_arg_t arguments[2] = {{DNNL_ARG_FROM, ends[0]}, {DNNL_ARG_TO, ends[1]}};
        failed = dnnl_primitive_execute(primitive, build->engine->stream, 2, arguments) != dnnl_success;
        failed = dnnl_stream_wait(build->engine->stream) != dnnl_success || failed;
    }
    (void)dnnl_memory_destroy(ends[0]);
    (void)dnnl_memory_destroy(ends[1]);
    (void)dnnl_primitive_destroy(primitive);
    return failed;
}

static int reorder(match_dnnl_build_t *build, const dnnl_memory_desc_t *from, uint32_t source,
                   const dnnl_memory_desc_t *to, uint32_t target)
{
    const dnnl_engine_t engine = build->engine->engine;
    const int constant = build->engine->storages[source].place == MATCH_DNNL_CONSTANT;
    dnnl_primitive_desc_t description = NULL;
    dnnl_primitive_attr_t attributes = NULL;
    match_dnnl_call_t call = {.count = 0};
    MATCH_DNNL_TRY(dnnl_primitive_attr_create(&attributes));
    const dnnl_scratchpad_mode_t mode = constant ? dnnl_scratchpad_mode_library : dnnl_scratchpad_mode_user;
    int failed = dnnl_primitive_attr_set_scratchpad_mode(attributes, mode) != dnnl_success;
    failed = failed || dnnl_reorder_primitive_desc_create(&description, from, engine, to, engine, attributes) != 0;
    if (!failed && constant) {
        failed = reorder_now(build, from, source, to, target, description);
    } else if (!failed) {
        failed = match_dnnl_argument(build, &call, DNNL_ARG_FROM, from, source) != 0;
        failed = failed || match_dnnl_argument(build, &call, DNNL_ARG_TO, to, target) != 0;
        failed = failed || match_dnnl_step(build, &call, description) != 0;
    }
    (void)dnnl_primitive_desc_destroy(description);
    (void)dnnl_primitive_attr_destroy(attributes);
    return failed;
}

/* The copy in that layout, if there is one. */
static const match_dnnl_copy_t *find_copy(const match_dnnl_build_t *build, int tensor, const dnnl_memory_desc_t *layout)
{
    for (uint32_t i = 0; i < build->copies_count; i++) {
        const match_dnnl_copy_t *copy = &build->copies[i];
        if (copy->tensor == tensor && dnnl_memory_desc_equal(&copy->layout, layout)) return copy;
    }
    return NULL;
}

/* One read of the tensor in this layout (of its own axes): where it lies. A reorder is built unless there was one. */
int match_dnnl_fetch(match_dnnl_build_t *build, int tensor, const dnnl_memory_desc_t *layout, uint32_t *storage)
{
    const match_dnnl_tensor_t *source = &build->tensors[tensor];
    void *array = build->copies;
    if (!source->made) return 1;
    build->engine->storages[source->storage].pending--;
    *storage = source->storage;
    if (dnnl_memory_desc_equal(&source->layout, layout)) return 0;
    const match_dnnl_copy_t *known = find_copy(build, tensor, layout);
    if (known != NULL) {
        *storage = known->storage;
        return 0;
    }
    const int constant = build->engine->storages[source->storage].place == MATCH_DNNL_CONSTANT;
    const match_dnnl_place_t place = constant ? MATCH_DNNL_CONSTANT : MATCH_DNNL_INNER;
    MATCH_DNNL_TRY(match_dnnl_storage(build, place, dnnl_memory_desc_get_size(layout), storage));
    MATCH_DNNL_TRY(reorder(build, &source->layout, source->storage, layout, *storage));
    MATCH_DNNL_TRY(match_dnnl_grow(&array, build->copies_count, sizeof *build->copies));
    build->copies = array;
    const match_dnnl_copy_t copy = {tensor, *storage, *layout};
    build->copies[build->copies_count++] = copy;
    return 0;
}

/* Whether the primitive reads the storage already. */
static int is_read(const match_dnnl_call_t *call, uint32_t storage)
{
    int read = 0;
    for (int i = 0; i < call->count; i++) read = read || call->storages[i] == storage;
    return read;
}

/* Where the primitive writes a tensor in this layout (of its own axes). `added`: the tensor whose values the primitive
 * adds to; its storage is taken over by the last reader, else its values are copied. */
int match_dnnl_target(match_dnnl_build_t *build, const match_dnnl_call_t *call, int tensor, int added,
                      const dnnl_memory_desc_t *layout, uint32_t *storage)
{
    const match_dnnl_tensor_t *made = &build->tensors[tensor];
    dnnl_memory_desc_t plain;
    if (added >= 0) {
        const match_dnnl_tensor_t *source = &build->tensors[added];
        if (!source->made) return 1;
        match_dnnl_storage_t *taken = &build->engine->storages[source->storage];
        taken->pending--;
        if (taken->place == MATCH_DNNL_INNER && taken->pending == 0 && !is_read(call, source->storage)
            && dnnl_memory_desc_equal(&source->layout, layout)) {
            *storage = source->storage;
            return 0;
        }
    }
    MATCH_DNNL_TRY(match_dnnl_plain(made, &plain));
    if (made->place == MATCH_DNNL_OUTPUT && dnnl_memory_desc_equal(&plain, layout)) {
        *storage = made->border;
    } else {
        MATCH_DNNL_TRY(match_dnnl_storage(build, MATCH_DNNL_INNER, dnnl_memory_desc_get_size(layout), storage));
    }
    if (added < 0) return 0;
    return reorder(build, &build->tensors[added].layout, build->tensors[added].storage, layout, *storage);
}

/* The program's copy of an output that was made elsewhere. */
int match_dnnl_copy_out(match_dnnl_build_t *build, int tensor)
{
    const match_dnnl_tensor_t *made = &build->tensors[tensor];
    dnnl_memory_desc_t plain;
    if (made->place != MATCH_DNNL_OUTPUT || made->storage == made->border) return 0;
    MATCH_DNNL_TRY(match_dnnl_plain(made, &plain));
    return reorder(build, &made->layout, made->storage, &plain, made->border);
}
