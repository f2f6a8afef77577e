/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on tensors of any rank: products, functions element by element, lines, reductions, concatenation. */
#include "match_dnnl_engine.h"

#include <string.h>

/* Constant operands are reordered once into what oneDNN prefers, others are taken as they lie. */
static int operand(const match_dnnl_build_t *build, const match_dnnl_node_t *node, int input,
                   const dnnl_memory_desc_t *layouts, dnnl_memory_desc_t *layout)
{
    const match_dnnl_tensor_t *tensor = &build->tensors[node->inputs[input]];
    *layout = layouts[input];
    return tensor->place == MATCH_DNNL_CONSTANT ? match_dnnl_any(tensor, 0, layout) : 0;
}

static int describe_matmul(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                           const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                           dnnl_primitive_desc_t *description)
{
    const int biased = node->inputs[2] >= 0;
    dnnl_matmul_desc_t operation;
    dnnl_memory_desc_t source, weights, result;
    MATCH_DNNL_TRY(operand(build, node, 0, layouts, &source));
    MATCH_DNNL_TRY(operand(build, node, 1, layouts, &weights));
    MATCH_DNNL_TRY(match_dnnl_any(&build->tensors[node->output], 0, &result));
    MATCH_DNNL_TRY(dnnl_matmul_desc_init(&operation, &source, &weights, biased ? &layouts[2] : NULL, &result));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_matmul(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    static const int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};
    if (node->own != 3 || node->inputs[1] < 0) return 1;
    return match_dnnl_primitive(build, node, describe_matmul, arguments);
}

static const int source_argument[] = {DNNL_ARG_SRC};

static int describe_eltwise(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                            const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                            dnnl_primitive_desc_t *description)
{
    dnnl_eltwise_desc_t operation;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    float alpha = 0, beta = 0;
    MATCH_DNNL_TRY(match_dnnl_read_algorithm(node, &algorithm));
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "alpha", &alpha));
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "beta", &beta));
    MATCH_DNNL_TRY(dnnl_eltwise_forward_desc_init(&operation, dnnl_forward_inference, algorithm, &layouts[0], alpha,
                                                  beta));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_eltwise(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    match_dnnl_node_t viewed = *node;
    viewed.last = match_dnnl_blocks_last(build, node);
    return match_dnnl_primitive(build, &viewed, describe_eltwise, source_argument);
}

/* Operands of one shape are taken in one layout: that of the first, unless it is a constant. */
static int describe_binary(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                           const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                           dnnl_primitive_desc_t *description)
{
    const int lead = build->tensors[node->inputs[0]].place == MATCH_DNNL_CONSTANT;
    dnnl_memory_desc_t sources[2] = {layouts[0], layouts[1]}, result;
    dnnl_binary_desc_t operation;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    if (layouts[0].ndims != layouts[1].ndims) return 1;
    if (memcmp(layouts[0].dims, layouts[1].dims, (size_t)layouts[0].ndims * sizeof layouts[0].dims[0]) == 0) {
        sources[!lead] = layouts[lead];
    }
    MATCH_DNNL_TRY(match_dnnl_read_algorithm(node, &algorithm));
    MATCH_DNNL_TRY(match_dnnl_any(&build->tensors[node->output], node->last, &result));
    MATCH_DNNL_TRY(dnnl_binary_desc_init(&operation, algorithm, &sources[0], &sources[1], &result));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_binary(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    static const int arguments[] = {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1};
    match_dnnl_node_t viewed = *node;
    if (node->own != 2 || node->inputs[1] < 0) return 1;
    viewed.strict = 1;
    viewed.last = match_dnnl_blocks_last(build, node);
    return match_dnnl_primitive(build, &viewed, describe_binary, arguments);
}

static int describe_softmax(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                            const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                            dnnl_primitive_desc_t *description)
{
    dnnl_softmax_v2_desc_t operation;
    dnnl_memory_desc_t result;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    int axis = 0;
    MATCH_DNNL_TRY(match_dnnl_read_algorithm(node, &algorithm));
    MATCH_DNNL_TRY(match_dnnl_read_int(node, "axis", &axis));
    MATCH_DNNL_TRY(match_dnnl_any(&build->tensors[node->output], 0, &result));
    MATCH_DNNL_TRY(dnnl_softmax_v2_forward_desc_init(&operation, dnnl_forward_inference, algorithm, &layouts[0],
                                                     &result, axis));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_softmax(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    return match_dnnl_primitive(build, node, describe_softmax, source_argument);
}

static int describe_layer_normalization(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                                        const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                                        dnnl_primitive_desc_t *description)
{
    dnnl_layer_normalization_desc_t operation;
    float epsilon = 0;
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "epsilon", &epsilon));
    MATCH_DNNL_TRY(dnnl_layer_normalization_forward_desc_init(&operation, dnnl_forward_inference, &layouts[0], NULL,
                                                              epsilon,
                                                              (unsigned)dnnl_use_scale | (unsigned)dnnl_use_shift));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_layer_normalization(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    static const int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    if (node->own != 3) return 1;
    return match_dnnl_primitive(build, node, describe_layer_normalization, arguments);
}

static int describe_reduction(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                              const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                              dnnl_primitive_desc_t *description)
{
    dnnl_reduction_desc_t operation;
    dnnl_memory_desc_t result;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    float power = 0;
    MATCH_DNNL_TRY(match_dnnl_read_algorithm(node, &algorithm));
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "power", &power));
    MATCH_DNNL_TRY(match_dnnl_any(&build->tensors[node->output], 0, &result));
    MATCH_DNNL_TRY(dnnl_reduction_desc_init(&operation, algorithm, &layouts[0], &result, power, 0.0f));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_reduction(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    return match_dnnl_primitive(build, node, describe_reduction, source_argument);
}

static int describe_concat(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                           const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                           dnnl_primitive_desc_t *description)
{
    dnnl_memory_desc_t result;
    const int rank = build->tensors[node->output].rank;
    int axis = 0;
    MATCH_DNNL_TRY(match_dnnl_read_int(node, "axis", &axis));
    if (node->last && axis > 0) axis = axis == rank - 1 ? 1 : axis + 1;
    MATCH_DNNL_TRY(match_dnnl_any(&build->tensors[node->output], node->last, &result));
    return (int)dnnl_concat_primitive_desc_create(description, &result, node->own, axis, layouts, attributes,
                                                  build->engine->engine);
}

int match_dnnl_concat(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    int arguments[MATCH_DNNL_ARGUMENTS_MAX] = {0};
    for (int i = 0; i < node->own; i++) {
        if (node->inputs[i] < 0) return 1;
        arguments[i] = DNNL_ARG_MULTIPLE_SRC + i;
    }
    match_dnnl_node_t viewed = *node;
    viewed.last = match_dnnl_blocks_last(build, node);
    return match_dnnl_primitive(build, &viewed, describe_concat, arguments);
}
