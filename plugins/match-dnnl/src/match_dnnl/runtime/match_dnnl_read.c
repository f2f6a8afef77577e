/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the JSON: tensors, nodes, attributes. */
#include "match_dnnl_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    dnnl_alg_kind_t algorithm;
} match_dnnl_algorithms[] = {
    {"abs", dnnl_eltwise_abs},
    {"add", dnnl_binary_add},
    {"avg_exclude_padding", dnnl_pooling_avg_exclude_padding},
    {"avg_include_padding", dnnl_pooling_avg_include_padding},
    {"clip", dnnl_eltwise_clip},
    {"convolution_direct", dnnl_convolution_direct},
    {"convolution_winograd", dnnl_convolution_winograd},
    {"div", dnnl_binary_div},
    {"elu", dnnl_eltwise_elu},
    {"exp", dnnl_eltwise_exp},
    {"gelu_erf", dnnl_eltwise_gelu_erf},
    {"gelu_tanh", dnnl_eltwise_gelu_tanh},
    {"hardswish", dnnl_eltwise_hardswish},
    {"linear", dnnl_eltwise_linear},
    {"log", dnnl_eltwise_log},
    {"logistic", dnnl_eltwise_logistic},
    {"logsoftmax", dnnl_softmax_log},
    {"max", dnnl_binary_max},
    {"min", dnnl_binary_min},
    {"mish", dnnl_eltwise_mish},
    {"mul", dnnl_binary_mul},
    {"pooling_max", dnnl_pooling_max},
    {"pow", dnnl_eltwise_pow},
    {"reduction_max", dnnl_reduction_max},
    {"reduction_mean", dnnl_reduction_mean},
    {"reduction_min", dnnl_reduction_min},
    {"reduction_mul", dnnl_reduction_mul},
    {"reduction_norm", dnnl_reduction_norm_lp_sum},
    {"reduction_power", dnnl_reduction_norm_lp_power_p_sum},
    {"reduction_sum", dnnl_reduction_sum},
    {"relu", dnnl_eltwise_relu},
    {"resampling_linear", dnnl_resampling_linear},
    {"resampling_nearest", dnnl_resampling_nearest},
    {"round", dnnl_eltwise_round},
    {"soft_relu", dnnl_eltwise_soft_relu},
    {"softmax", dnnl_softmax_accurate},
    {"sqrt", dnnl_eltwise_sqrt},
    {"square", dnnl_eltwise_square},
    {"sub", dnnl_binary_sub},
    {"swish", dnnl_eltwise_swish},
    {"tanh", dnnl_eltwise_tanh},
};

int match_dnnl_algorithm(const char *name, dnnl_alg_kind_t *algorithm)
{
    for (size_t i = 0; i < sizeof match_dnnl_algorithms / sizeof match_dnnl_algorithms[0]; i++) {
        if (strcmp(name, match_dnnl_algorithms[i].name) == 0) {
            *algorithm = match_dnnl_algorithms[i].algorithm;
            return 0;
        }
    }
    return 1;
}

static int whole(const cJSON *item, double low, double high, dnnl_dim_t *value)
{
    const double number = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    if (!(number >= low && number <= high) || number != floor(number)) return 1;
    *value = (dnnl_dim_t)number;
    return 0;
}

static int member(const cJSON *object, const char *name, double high, dnnl_dim_t *value)
{
    return whole(cJSON_GetObjectItemCaseSensitive(object, name), 0, high, value);
}

/* Where the program says of a tensor at the border what the code says of it; NULL for inner ones. */
static const match_region_tensor_t *table(const match_region_t *region, match_dnnl_place_t place, uint32_t *count)
{
    *count = UINT32_MAX;
    if (place == MATCH_DNNL_INNER) return NULL;
    *count = place == MATCH_DNNL_INPUT    ? region->inputs_count
             : place == MATCH_DNNL_OUTPUT ? region->outputs_count
                                          : region->constants_count;
    return place == MATCH_DNNL_INPUT    ? region->inputs
           : place == MATCH_DNNL_OUTPUT ? region->outputs
                                        : region->constants;
}

/* Whether the program's tensor has the type and the sizes that the code says. */
static int agrees(const match_region_tensor_t *entry, const match_dnnl_tensor_t *tensor)
{
    if (entry->type != 1 || entry->rank != (uint32_t)tensor->rank) return 0;
    for (int axis = 0; axis < tensor->rank; axis++) {
        if (entry->dims[axis] != (uint32_t)tensor->dims[axis]) return 0;
    }
    return 1;
}

static int read_kind(const char *kind, match_dnnl_place_t *place)
{
    static const char *const names[] = {"input", "output", "constant", "inner"};
    static const match_dnnl_place_t places[] = {MATCH_DNNL_INPUT, MATCH_DNNL_OUTPUT, MATCH_DNNL_CONSTANT,
                                                MATCH_DNNL_INNER};
    for (size_t i = 0; kind != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(kind, names[i]) == 0) {
            *place = places[i];
            return 0;
        }
    }
    return 1;
}

/* A tensor with its place; a scalar is a tensor of one axis. Elements are float32, type 1 of ONNX. */
static int read_tensor(const match_dnnl_build_t *build, const cJSON *object, match_dnnl_tensor_t *tensor)
{
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "kind"));
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(object, "shape"), *size = NULL;
    dnnl_dim_t index = 0, type = 0;
    uint32_t count = 0;
    MATCH_DNNL_TRY(read_kind(kind, &tensor->place));
    const match_region_tensor_t *entries = table(build->region, tensor->place, &count);
    if (!cJSON_IsArray(shape) || cJSON_GetArraySize(shape) > DNNL_MAX_NDIMS) return 1;
    MATCH_DNNL_TRY(member(object, "index", UINT32_MAX, &index));
    MATCH_DNNL_TRY(member(object, "type", 1, &type));
    if (type != 1 || index >= count) return 1;
    tensor->index = (uint32_t)index;
    tensor->rank = 0;
    cJSON_ArrayForEach(size, shape) MATCH_DNNL_TRY(whole(size, 1, INT32_MAX, &tensor->dims[tensor->rank++]));
    if (entries != NULL && !agrees(&entries[index], tensor)) return 1;
    if (tensor->rank == 0) tensor->dims[tensor->rank++] = 1;
    return match_dnnl_plain(tensor, &tensor->layout);
}

/* How often nodes read each tensor. */
static int count_readers(match_dnnl_build_t *build)
{
    const cJSON *nodes = cJSON_GetObjectItemCaseSensitive(build->document, "nodes"), *object = NULL;
    if (!cJSON_IsArray(nodes)) return 1;
    cJSON_ArrayForEach(object, nodes) {
        match_dnnl_node_t node;
        MATCH_DNNL_TRY(match_dnnl_read_node(build, object, &node));
        for (int i = 0; i < node.inputs_count; i++) {
            if (node.inputs[i] >= 0) build->tensors[node.inputs[i]].readers++;
        }
    }
    return 0;
}

int match_dnnl_read_tensors(match_dnnl_build_t *build)
{
    const cJSON *tensors = cJSON_GetObjectItemCaseSensitive(build->document, "tensors"), *object = NULL;
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(build->document, "format"));
    dnnl_dim_t version = 0;
    MATCH_DNNL_TRY(member(build->document, "version", 1, &version));
    if (format == NULL || strcmp(format, "match.region") != 0 || version != 1 || !cJSON_IsArray(tensors)) return 1;
    build->tensors = calloc((size_t)cJSON_GetArraySize(tensors) + 1, sizeof *build->tensors);
    if (build->tensors == NULL) return 1;
    build->tensors_count = cJSON_GetArraySize(tensors);
    match_dnnl_tensor_t *tensor = build->tensors;
    cJSON_ArrayForEach(object, tensors) MATCH_DNNL_TRY(read_tensor(build, object, tensor++));
    return count_readers(build);
}

int match_dnnl_read_node(const match_dnnl_build_t *build, const cJSON *object, match_dnnl_node_t *node)
{
    const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(object, "inputs"), *item = NULL;
    const cJSON *outputs = cJSON_GetObjectItemCaseSensitive(object, "outputs");
    dnnl_dim_t number = 0;
    node->attributes = cJSON_GetObjectItemCaseSensitive(object, "attributes");
    node->inputs_count = 0;
    node->strict = 0;
    if (!cJSON_IsArray(inputs) || !cJSON_IsArray(outputs) || cJSON_GetArraySize(outputs) != 1) return 1;
    if (cJSON_GetArraySize(inputs) > MATCH_DNNL_ARGUMENTS_MAX - 4) return 1;
    cJSON_ArrayForEach(item, inputs) {
        MATCH_DNNL_TRY(whole(item, -1, build->tensors_count - 1, &number));
        node->inputs[node->inputs_count++] = (int)number;
    }
    MATCH_DNNL_TRY(whole(cJSON_GetArrayItem(outputs, 0), 0, build->tensors_count - 1, &number));
    node->output = (int)number;
    if (match_dnnl_read_int(node, "own", &node->own) != 0) node->own = node->inputs_count;
    if (match_dnnl_read_int(node, "last", &node->last) != 0) node->last = 0;
    return node->own < 1 || node->own > node->inputs_count || node->inputs[0] < 0;
}

int match_dnnl_read_int(const match_dnnl_node_t *node, const char *name, int *value)
{
    dnnl_dim_t number = 0;
    MATCH_DNNL_TRY(whole(cJSON_GetObjectItemCaseSensitive(node->attributes, name), INT32_MIN, INT32_MAX, &number));
    *value = (int)number;
    return 0;
}

int match_dnnl_read_float(const match_dnnl_node_t *node, const char *name, float *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(node->attributes, name);
    if (!cJSON_IsNumber(item)) return 1;
    *value = (float)item->valuedouble;
    return 0;
}

int match_dnnl_read_list(const match_dnnl_node_t *node, const char *name, int count, dnnl_dim_t *values)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(node->attributes, name), *item = NULL;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != count) return 1;
    cJSON_ArrayForEach(item, list) MATCH_DNNL_TRY(whole(item, 0, INT32_MAX, values++));
    return 0;
}

int match_dnnl_read_algorithm(const match_dnnl_node_t *node, dnnl_alg_kind_t *algorithm)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(node->attributes, "algorithm"));
    return name == NULL ? 1 : match_dnnl_algorithm(name, algorithm);
}
