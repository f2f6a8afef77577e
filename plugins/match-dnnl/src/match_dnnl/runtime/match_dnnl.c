/* SPDX-License-Identifier: Apache-2.0 */
/* The three functions of a region. */
#include "match_dnnl.h"
#include "match_dnnl_engine.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*build)(match_dnnl_build_t *build, const match_dnnl_node_t *node);
} operators[] = {
    {"dnnl::batch_normalization", match_dnnl_batch_normalization},
    {"dnnl::binary", match_dnnl_binary},
    {"dnnl::concat", match_dnnl_concat},
    {"dnnl::convolution", match_dnnl_convolution},
    {"dnnl::deconvolution", match_dnnl_deconvolution},
    {"dnnl::eltwise", match_dnnl_eltwise},
    {"dnnl::layer_normalization", match_dnnl_layer_normalization},
    {"dnnl::lrn", match_dnnl_lrn},
    {"dnnl::matmul", match_dnnl_matmul},
    {"dnnl::pooling", match_dnnl_pooling},
    {"dnnl::reduction", match_dnnl_reduction},
    {"dnnl::resampling", match_dnnl_resampling},
    {"dnnl::softmax", match_dnnl_softmax},
};

static int build_node(match_dnnl_build_t *build, const cJSON *object)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "op"));
    match_dnnl_node_t node;
    if (name == NULL) return 1;
    MATCH_DNNL_TRY(match_dnnl_read_node(build, object, &node));
    for (int i = 0; i < node.inputs_count; i++) {
        if (node.inputs[i] >= 0 && !build->tensors[node.inputs[i]].made) return 1;
    }
    if (build->tensors[node.output].made) return 1;
    if (strcmp(name, "dnnl::reshape") == 0) return match_dnnl_view(build, &node, 0);
    if (strcmp(name, "dnnl::transpose") == 0) return match_dnnl_view(build, &node, 1);
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (strcmp(name, operators[i].name) == 0) return operators[i].build(build, &node);
    }
    return 1;
}

/* Storages of what the program hands over. */
static int build_border(match_dnnl_build_t *build)
{
    for (int i = 0; i < build->tensors_count; i++) {
        match_dnnl_tensor_t *tensor = &build->tensors[i];
        if (tensor->place == MATCH_DNNL_INNER) continue;
        MATCH_DNNL_TRY(match_dnnl_storage(build, tensor->place, 0, &tensor->border));
        match_dnnl_storage_t *storage = &build->engine->storages[tensor->border];
        storage->index = tensor->index;
        if (tensor->place == MATCH_DNNL_CONSTANT) {
            const void *data = build->region->constants[tensor->index].data;
            if (data == NULL) return 1;
            memcpy(&storage->data, &data, sizeof data); /* only read */
        }
        if (tensor->place != MATCH_DNNL_OUTPUT) {
            const dnnl_memory_desc_t plain = tensor->layout;
            match_dnnl_make(build, i, &plain, tensor->border);
        }
    }
    return 0;
}

static int build_region(match_dnnl_build_t *build)
{
    const char *code = (const char *)build->region->code;
    match_dnnl_engine_t *engine = build->engine;
    const cJSON *nodes = NULL, *object = NULL;
    if (code == NULL) return 1;
    build->document = cJSON_ParseWithLength(code, build->region->code_bytes);
    if (build->document == NULL) return 1;
    MATCH_DNNL_TRY(dnnl_engine_create(&engine->engine, dnnl_cpu, 0));
    MATCH_DNNL_TRY(dnnl_stream_create(&engine->stream, engine->engine, dnnl_stream_default_flags));
    MATCH_DNNL_TRY(match_dnnl_read_tensors(build));
    MATCH_DNNL_TRY(build_border(build));
    nodes = cJSON_GetObjectItemCaseSensitive(build->document, "nodes");
    cJSON_ArrayForEach(object, nodes) MATCH_DNNL_TRY(build_node(build, object));
    for (int i = 0; i < build->tensors_count; i++) {
        if (build->tensors[i].place == MATCH_DNNL_OUTPUT && !build->tensors[i].made) return 1;
    }
    return match_dnnl_finish(build);
}

int match_dnnl_load(const match_region_t *region, void **handle)
{
    match_dnnl_build_t build = {.region = region};
    build.engine = calloc(1, sizeof *build.engine);
    *handle = NULL;
    if (build.engine == NULL) return 1;
    const int failed = build_region(&build);
    cJSON_Delete(build.document);
    free(build.tensors);
    free(build.copies);
    if (failed) {
        match_dnnl_unload(build.engine);
        return 1;
    }
    *handle = build.engine;
    return 0;
}

/* Addresses of inputs and outputs, where they are not those of the run before. */
static int bind(const match_dnnl_engine_t *engine, const void *const *in, void *const *out)
{
    for (uint32_t i = 0; i < engine->ends_count; i++) {
        const match_dnnl_binding_t *binding = &engine->bindings[i];
        const match_dnnl_storage_t *storage = &engine->storages[binding->storage];
        void *wanted = NULL, *bound = NULL;
        if (storage->place == MATCH_DNNL_INPUT) {
            memcpy(&wanted, &in[storage->index], sizeof wanted); /* only read */
        } else {
            wanted = out[storage->index];
        }
        MATCH_DNNL_TRY(dnnl_memory_get_data_handle(binding->memory, &bound));
        if (wanted != bound) MATCH_DNNL_TRY(dnnl_memory_set_data_handle(binding->memory, wanted));
    }
    return 0;
}

int match_dnnl_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const match_dnnl_engine_t *engine = handle;
    (void)scratch;
    MATCH_DNNL_TRY(bind(engine, in, out));
    for (uint32_t i = 0; i < engine->steps_count; i++) {
        const match_dnnl_step_t *step = &engine->steps[i];
        MATCH_DNNL_TRY(dnnl_primitive_execute(step->primitive, engine->stream, step->count, step->arguments));
    }
    return (int)dnnl_stream_wait(engine->stream);
}

void match_dnnl_unload(void *handle)
{
    match_dnnl_engine_t *engine = handle;
    if (engine == NULL) return;
    for (uint32_t i = 0; i < engine->steps_count; i++) {
        (void)dnnl_primitive_destroy(engine->steps[i].primitive);
        free(engine->steps[i].arguments);
    }
    for (uint32_t i = 0; i < engine->bindings_count; i++) (void)dnnl_memory_destroy(engine->bindings[i].memory);
    for (uint32_t i = 0; i < engine->storages_count; i++) {
        if (engine->storages[i].owned) free(engine->storages[i].data);
    }
    free(engine->steps);
    free(engine->bindings);
    free(engine->storages);
    free(engine->block);
    if (engine->stream != NULL) (void)dnnl_stream_destroy(engine->stream);
    if (engine->engine != NULL) (void)dnnl_engine_destroy(engine->engine);
    free(engine);
}
