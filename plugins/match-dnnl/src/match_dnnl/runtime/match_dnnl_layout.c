/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: between a tensor's axes and oneDNN's, and tensors that are others seen in another shape. */
#include "match_dnnl_engine.h"

int match_dnnl_plain(const match_dnnl_tensor_t *tensor, dnnl_memory_desc_t *layout)
{
    return (int)dnnl_memory_desc_init_by_strides(layout, tensor->rank, tensor->dims, dnnl_f32, NULL);
}

int match_dnnl_any(const match_dnnl_tensor_t *tensor, int last, dnnl_memory_desc_t *layout)
{
    dnnl_dims_t dims = {0};
    for (int axis = 0; axis < tensor->rank; axis++) {
        const int from = !last || axis == 0 ? axis : axis == 1 ? tensor->rank - 1 : axis - 1;
        dims[axis] = tensor->dims[from];
    }
    return (int)dnnl_memory_desc_init_by_tag(layout, tensor->rank, dims, dnnl_f32, dnnl_format_tag_any);
}

/* From the tensor's axes to oneDNN's: the last one becomes the second. */
int match_dnnl_inward(const dnnl_memory_desc_t *layout, int last, dnnl_memory_desc_t *result)
{
    int order[DNNL_MAX_NDIMS] = {0};
    for (int axis = 1; axis < layout->ndims; axis++) order[axis] = axis + 1 < layout->ndims ? axis + 1 : 1;
    if (!last) {
        *result = *layout;
        return 0;
    }
    return (int)dnnl_memory_desc_permute_axes(result, layout, order);
}

/* The way back. */
int match_dnnl_outward(const dnnl_memory_desc_t *layout, int last, dnnl_memory_desc_t *result)
{
    int order[DNNL_MAX_NDIMS] = {0};
    for (int axis = 1; axis < layout->ndims; axis++) order[axis] = axis == 1 ? layout->ndims - 1 : axis - 1;
    if (!last) {
        *result = *layout;
        return 0;
    }
    return (int)dnnl_memory_desc_permute_axes(result, layout, order);
}

/* The order of axes of a transposition, as oneDNN wants it: where each axis goes. */
static int read_order(const match_dnnl_node_t *node, int rank, int *order)
{
    dnnl_dims_t from = {0};
    unsigned seen = 0;
    MATCH_DNNL_TRY(match_dnnl_read_list(node, "order", rank, from));
    for (int axis = 0; axis < rank; axis++) {
        if (from[axis] >= rank) return 1;
        order[from[axis]] = axis;
        seen |= 1u << from[axis];
    }
    return seen + 1 != 1u << rank;
}

/* The output of a node is its input with other axes: no step where the input's layout allows it, else the input is made
 * plain first. */
int match_dnnl_view(match_dnnl_build_t *build, const match_dnnl_node_t *node, int transposed)
{
    const match_dnnl_tensor_t *source = &build->tensors[node->inputs[0]];
    match_dnnl_tensor_t *result = &build->tensors[node->output];
    dnnl_memory_desc_t layout = source->layout, plain;
    uint32_t storage = 0;
    int order[DNNL_MAX_NDIMS] = {0};
    if (transposed) {
        MATCH_DNNL_TRY(read_order(node, source->rank, order));
        MATCH_DNNL_TRY(dnnl_memory_desc_permute_axes(&layout, &source->layout, order));
        MATCH_DNNL_TRY(match_dnnl_fetch(build, node->inputs[0], &source->layout, &storage));
    } else {
        MATCH_DNNL_TRY(match_dnnl_plain(source, &plain));
        if (!dnnl_memory_desc_equal(&source->layout, &plain)) {
            if (dnnl_memory_desc_reshape(&layout, &source->layout, result->rank, result->dims) == dnnl_success) {
                plain = source->layout;
            } else {
                MATCH_DNNL_TRY(match_dnnl_plain(result, &layout));
            }
        } else {
            MATCH_DNNL_TRY(match_dnnl_plain(result, &layout));
        }
        MATCH_DNNL_TRY(match_dnnl_fetch(build, node->inputs[0], &plain, &storage));
    }
    for (int axis = 0; axis < result->rank; axis++) {
        if (layout.ndims != result->rank || layout.dims[axis] != result->dims[axis]) return 1;
    }
    match_dnnl_make(build, node->output, &layout, storage);
    return match_dnnl_copy_out(build, node->output);
}
