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

/* Strides of one axis behind the other, the last of `order` innermost, where its elements are `innermost` apart. */
static int is_dense(const dnnl_memory_desc_t *layout, const int *order, dnnl_dim_t innermost, int blocked)
{
    dnnl_dim_t stride = innermost;
    for (int i = layout->ndims - 1; i >= 0; i--) {
        const int axis = order[i];
        const dnnl_dim_t blocks = axis == blocked ? innermost : 1;
        if (layout->padded_dims[axis] != 1 && layout->format_desc.blocking.strides[axis] != stride) return 0;
        stride *= layout->padded_dims[axis] / blocks;
    }
    return 1;
}

/* Whether primitives take a tensor in this layout (of oneDNN's axes). oneDNN 2.6 accepts any, and writes elsewhere where
 * blocks are not those of channels, the second axis (binary operators with post-operations). */
int match_dnnl_is_taken(const dnnl_memory_desc_t *layout, int strict)
{
    const dnnl_blocking_desc_t *blocking = &layout->format_desc.blocking;
    int order[DNNL_MAX_NDIMS];
    for (int axis = 0; axis < layout->ndims; axis++) order[axis] = axis;
    if (layout->format_kind != dnnl_blocked || blocking->inner_nblks > 1) return 0;
    if (blocking->inner_nblks == 1) {
        return layout->ndims > 1 && blocking->inner_idxs[0] == 1 && is_dense(layout, order, blocking->inner_blks[0], 1);
    }
    if (!strict || is_dense(layout, order, 1, -1)) return 1;
    for (int axis = 1; axis < layout->ndims; axis++) order[axis] = axis + 1 < layout->ndims ? axis + 1 : 1;
    return is_dense(layout, order, 1, -1);
}

/* Whether an input of the node's own lies in blocks of the last axis, which are then those of channels. */
int match_dnnl_blocks_last(const match_dnnl_build_t *build, const match_dnnl_node_t *node)
{
    for (int i = 0; i < node->own; i++) {
        const dnnl_memory_desc_t *layout = &build->tensors[node->inputs[i]].layout;
        const dnnl_blocking_desc_t *blocking = &layout->format_desc.blocking;
        if (layout->ndims > 2 && blocking->inner_nblks == 1 && blocking->inner_idxs[0] == layout->ndims - 1) return 1;
    }
    return 0;
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
