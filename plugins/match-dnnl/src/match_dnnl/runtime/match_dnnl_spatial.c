/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on images: convolutions, pooling, resampling, and normalisation over channels. */
#include "match_dnnl_engine.h"

/* Windows as lists along the spatial axes; distances between taps are counted from 0, as oneDNN does. */
typedef struct {
    dnnl_dims_t strides, dilations, before, after;
} window_t;

static int read_window(const match_dnnl_node_t *node, int spatial, window_t *window)
{
    MATCH_DNNL_TRY(match_dnnl_read_list(node, "strides", spatial, window->strides));
    MATCH_DNNL_TRY(match_dnnl_read_list(node, "dilations", spatial, window->dilations));
    MATCH_DNNL_TRY(match_dnnl_read_list(node, "before", spatial, window->before));
    return match_dnnl_read_list(node, "after", spatial, window->after);
}

/* What a convolution and its transposed form read and write, in layouts that oneDNN chooses. */
typedef struct {
    dnnl_memory_desc_t source, weights, bias, result;
    const dnnl_memory_desc_t *maybe_bias;
    window_t window;
} convolution_t;

static int read_convolution(const match_dnnl_build_t *build, const match_dnnl_node_t *node, convolution_t *convolution)
{
    const match_dnnl_tensor_t *tensors = build->tensors;
    if (node->own != 3 || node->inputs[1] < 0) return 1;
    MATCH_DNNL_TRY(match_dnnl_any(&tensors[node->inputs[0]], node->last, &convolution->source));
    MATCH_DNNL_TRY(match_dnnl_any(&tensors[node->inputs[1]], 0, &convolution->weights));
    MATCH_DNNL_TRY(match_dnnl_any(&tensors[node->output], node->last, &convolution->result));
    convolution->maybe_bias = NULL;
    if (node->inputs[2] >= 0) {
        MATCH_DNNL_TRY(match_dnnl_plain(&tensors[node->inputs[2]], &convolution->bias));
        convolution->maybe_bias = &convolution->bias;
    }
    return read_window(node, tensors[node->output].rank - 2, &convolution->window);
}

static const int convolution_arguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};

/* Winograd's transformation where the code allows it and oneDNN has it for these sizes, else the sums themselves. */
static int describe_convolution(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                                const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                                dnnl_primitive_desc_t *description)
{
    convolution_t c;
    dnnl_convolution_desc_t operation;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    (void)layouts;
    MATCH_DNNL_TRY(read_convolution(build, node, &c));
    MATCH_DNNL_TRY(match_dnnl_read_algorithm(node, &algorithm));
    for (;; algorithm = dnnl_convolution_direct) {
        const dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(
            &operation, dnnl_forward_inference, algorithm, &c.source, &c.weights, c.maybe_bias, &c.result,
            c.window.strides, c.window.dilations, c.window.before, c.window.after);
        int failed = status != dnnl_success;
        failed = failed
                 || dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL)
                        != dnnl_success;
        if (!failed || algorithm != dnnl_convolution_winograd) return failed;
    }
}

int match_dnnl_convolution(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    return match_dnnl_primitive(build, node, describe_convolution, convolution_arguments);
}

static int describe_deconvolution(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                                  const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                                  dnnl_primitive_desc_t *description)
{
    convolution_t c;
    dnnl_deconvolution_desc_t operation;
    (void)layouts;
    MATCH_DNNL_TRY(read_convolution(build, node, &c));
    MATCH_DNNL_TRY(dnnl_dilated_deconvolution_forward_desc_init(
        &operation, dnnl_forward_inference, dnnl_deconvolution_direct, &c.source, &c.weights, c.maybe_bias, &c.result,
        c.window.strides, c.window.dilations, c.window.before, c.window.after));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_deconvolution(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    return match_dnnl_primitive(build, node, describe_deconvolution, convolution_arguments);
}

static const int source_argument[] = {DNNL_ARG_SRC};

static int describe_pooling(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                            const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                            dnnl_primitive_desc_t *description)
{
    const int spatial = layouts[0].ndims - 2;
    dnnl_pooling_v2_desc_t operation;
    dnnl_memory_desc_t result;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    dnnl_dims_t kernel = {0};
    window_t window;
    MATCH_DNNL_TRY(match_dnnl_read_algorithm(node, &algorithm));
    MATCH_DNNL_TRY(match_dnnl_read_list(node, "kernel", spatial, kernel));
    MATCH_DNNL_TRY(read_window(node, spatial, &window));
    MATCH_DNNL_TRY(match_dnnl_any(&build->tensors[node->output], node->last, &result));
    MATCH_DNNL_TRY(dnnl_pooling_v2_forward_desc_init(&operation, dnnl_forward_inference, algorithm, &layouts[0],
                                                     &result, window.strides, kernel, window.dilations, window.before,
                                                     window.after));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_pooling(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    return match_dnnl_primitive(build, node, describe_pooling, source_argument);
}

static int describe_resampling(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                               const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                               dnnl_primitive_desc_t *description)
{
    dnnl_resampling_desc_t operation;
    dnnl_memory_desc_t result;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    MATCH_DNNL_TRY(match_dnnl_read_algorithm(node, &algorithm));
    MATCH_DNNL_TRY(match_dnnl_any(&build->tensors[node->output], node->last, &result));
    MATCH_DNNL_TRY(dnnl_resampling_forward_desc_init(&operation, dnnl_forward_inference, algorithm, NULL, &layouts[0],
                                                     &result));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_resampling(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    return match_dnnl_primitive(build, node, describe_resampling, source_argument);
}

static int describe_lrn(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                        const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                        dnnl_primitive_desc_t *description)
{
    dnnl_lrn_desc_t operation;
    int size = 0;
    float alpha = 0, beta = 0, bias = 0;
    MATCH_DNNL_TRY(match_dnnl_read_int(node, "size", &size));
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "alpha", &alpha));
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "beta", &beta));
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "bias", &bias));
    MATCH_DNNL_TRY(dnnl_lrn_forward_desc_init(&operation, dnnl_forward_inference, dnnl_lrn_across_channels,
                                              &layouts[0], size, alpha, beta, bias));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_lrn(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    return match_dnnl_primitive(build, node, describe_lrn, source_argument);
}

static int describe_batch_normalization(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                                        const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                                        dnnl_primitive_desc_t *description)
{
    const unsigned flags = (unsigned)dnnl_use_global_stats | (unsigned)dnnl_use_scale | (unsigned)dnnl_use_shift;
    dnnl_batch_normalization_desc_t operation;
    float epsilon = 0;
    MATCH_DNNL_TRY(match_dnnl_read_float(node, "epsilon", &epsilon));
    MATCH_DNNL_TRY(dnnl_batch_normalization_forward_desc_init(&operation, dnnl_forward_inference, &layouts[0], epsilon,
                                                              flags));
    return (int)dnnl_primitive_desc_create(description, &operation, attributes, build->engine->engine, NULL);
}

int match_dnnl_batch_normalization(match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    static const int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    if (node->own != 5) return 1;
    return match_dnnl_primitive(build, node, describe_batch_normalization, arguments);
}
