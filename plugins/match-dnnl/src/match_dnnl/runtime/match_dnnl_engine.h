/* SPDX-License-Identifier: Apache-2.0 */
/* What a loaded region consists of, and what building it needs besides. Functions give 0 on success. */
#ifndef MATCH_DNNL_ENGINE_H
#define MATCH_DNNL_ENGINE_H

#include "match_region.h"

#include <cjson/cJSON.h>
#include <oneapi/dnnl/dnnl.h>
#include <stddef.h>

#define MATCH_DNNL_TRY(status)            \
    do {                                  \
        if ((int)(status) != 0) return 1; \
    } while (0)

/* Arguments of one primitive; what has more of them (long concatenations) is refused. */
#define MATCH_DNNL_ARGUMENTS_MAX 64
#define MATCH_DNNL_ALIGNMENT 64 /* bytes, of what is allocated here */

/* Where a tensor lies. */
typedef enum {
    MATCH_DNNL_INPUT,    /* the program's, another one in each run */
    MATCH_DNNL_OUTPUT,   /* likewise */
    MATCH_DNNL_CONSTANT, /* the program's, or weights in an order of ours */
    MATCH_DNNL_INNER     /* in the block of the handle */
} match_dnnl_place_t;

typedef struct {
    match_dnnl_place_t place;
    uint32_t index;  /* of inputs and outputs */
    void *data;      /* of constants */
    int owned;       /* whether unload frees it */
    size_t bytes;    /* of inner ones */
    size_t offset;   /* in the block */
    uint32_t first;  /* the steps between which it is in use */
    uint32_t last;
    uint32_t pending; /* reads of tensors in it that are still to be built */
} match_dnnl_storage_t;

typedef struct {
    dnnl_memory_t memory;
    uint32_t storage;
} match_dnnl_binding_t;

typedef struct {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t *arguments;
    int count;
} match_dnnl_step_t;

/* The handle. Bindings of inputs and outputs come first once the region is complete. */
typedef struct {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    match_dnnl_step_t *steps;
    uint32_t steps_count;
    match_dnnl_storage_t *storages;
    uint32_t storages_count;
    match_dnnl_binding_t *bindings;
    uint32_t bindings_count;
    uint32_t ends_count; /* bindings of inputs and outputs */
    void *block;
} match_dnnl_engine_t;

/* A tensor of the region. `layout` is in its own axes; `storage` is valid once it is made. */
typedef struct {
    match_dnnl_place_t place;
    uint32_t index;
    int rank;
    dnnl_dims_t dims;
    uint32_t readers;
    uint32_t border; /* of inputs, outputs and constants: the storage at the border */
    int made;
    uint32_t storage;
    dnnl_memory_desc_t layout;
} match_dnnl_tensor_t;

/* A tensor once more in another layout. */
typedef struct {
    int tensor;
    uint32_t storage;
    dnnl_memory_desc_t layout;
} match_dnnl_copy_t;

/* What exists while a region is loaded. */
typedef struct {
    const match_region_t *region;
    match_dnnl_engine_t *engine;
    cJSON *document;
    match_dnnl_tensor_t *tensors;
    int tensors_count;
    match_dnnl_copy_t *copies;
    uint32_t copies_count;
    size_t scratch_bytes;     /* the largest scratchpad of a primitive */
    uint32_t scratch_storage; /* one for all */
} match_dnnl_build_t;

/* A node while it is built. `last`: channels are the last axis of its tensors, which oneDNN counts as the second one.
 * `strict`: its primitive is right for plain layouts, channels last, and blocks of channels only. */
typedef struct {
    const cJSON *attributes;
    int inputs[MATCH_DNNL_ARGUMENTS_MAX]; /* tensors, -1 where absent; those of post-operations behind `own` */
    int inputs_count;
    int own;
    int output;
    int last;
    int strict;
} match_dnnl_node_t;

/* Arguments of a primitive, collected before it becomes a step. */
typedef struct {
    dnnl_exec_arg_t arguments[MATCH_DNNL_ARGUMENTS_MAX];
    uint32_t storages[MATCH_DNNL_ARGUMENTS_MAX];
    int count;
} match_dnnl_call_t;

/* Reading (match_dnnl_read.c). Attributes that are absent or of another kind are an error. */
int match_dnnl_read_tensors(match_dnnl_build_t *build);
int match_dnnl_read_node(const match_dnnl_build_t *build, const cJSON *object, match_dnnl_node_t *node);
int match_dnnl_read_int(const match_dnnl_node_t *node, const char *name, int *value);
int match_dnnl_read_float(const match_dnnl_node_t *node, const char *name, float *value);
int match_dnnl_read_list(const match_dnnl_node_t *node, const char *name, int count, dnnl_dim_t *values);
int match_dnnl_read_algorithm(const match_dnnl_node_t *node, dnnl_alg_kind_t *algorithm);
int match_dnnl_algorithm(const char *name, dnnl_alg_kind_t *algorithm);

/* Layouts (match_dnnl_layout.c). `last` as in a node: the layout is that of oneDNN's axes. */
int match_dnnl_plain(const match_dnnl_tensor_t *tensor, dnnl_memory_desc_t *layout);
int match_dnnl_any(const match_dnnl_tensor_t *tensor, int last, dnnl_memory_desc_t *layout);
int match_dnnl_inward(const dnnl_memory_desc_t *layout, int last, dnnl_memory_desc_t *result);
int match_dnnl_outward(const dnnl_memory_desc_t *layout, int last, dnnl_memory_desc_t *result);
int match_dnnl_is_taken(const dnnl_memory_desc_t *layout, int strict);
int match_dnnl_blocks_last(const match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_view(match_dnnl_build_t *build, const match_dnnl_node_t *node, int transposed);

/* Placing (match_dnnl_place.c). */
int match_dnnl_grow(void **array, uint32_t count, size_t element);
int match_dnnl_storage(match_dnnl_build_t *build, match_dnnl_place_t place, size_t bytes, uint32_t *storage);
int match_dnnl_argument(match_dnnl_build_t *build, match_dnnl_call_t *call, int argument,
                        const dnnl_memory_desc_t *layout, uint32_t storage);
int match_dnnl_step(match_dnnl_build_t *build, const match_dnnl_call_t *call, const_dnnl_primitive_desc_t description);
void match_dnnl_make(match_dnnl_build_t *build, int tensor, const dnnl_memory_desc_t *layout, uint32_t storage);
int match_dnnl_finish(match_dnnl_build_t *build);

/* Tensors in the layouts that are wanted (match_dnnl_reorder.c). */
int match_dnnl_fetch(match_dnnl_build_t *build, int tensor, const dnnl_memory_desc_t *layout, uint32_t *storage);
int match_dnnl_target(match_dnnl_build_t *build, const match_dnnl_call_t *call, int tensor, int added,
                      const dnnl_memory_desc_t *layout, uint32_t *storage);
int match_dnnl_copy_out(match_dnnl_build_t *build, int tensor);

/* Describes the primitive of a node. `layouts`: of the node's own inputs in oneDNN's axes, one way to take them; what the
 * description does not fix, oneDNN chooses. */
typedef int (*match_dnnl_describe_t)(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                                     const dnnl_memory_desc_t *layouts, const_dnnl_primitive_attr_t attributes,
                                     dnnl_primitive_desc_t *description);

/* Primitives (match_dnnl_primitive.c). `arguments`: what each own input is to oneDNN (DNNL_ARG_*). */
int match_dnnl_primitive(match_dnnl_build_t *build, const match_dnnl_node_t *node, match_dnnl_describe_t describe,
                         const int *arguments);
int match_dnnl_described(match_dnnl_build_t *build, const match_dnnl_node_t *node, const int *arguments,
                         const_dnnl_primitive_desc_t description);

/* Operators: each builds the steps of one node. */
int match_dnnl_convolution(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_deconvolution(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_pooling(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_resampling(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_lrn(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_batch_normalization(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_layer_normalization(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_matmul(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_eltwise(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_binary(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_softmax(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_reduction(match_dnnl_build_t *build, const match_dnnl_node_t *node);
int match_dnnl_concat(match_dnnl_build_t *build, const match_dnnl_node_t *node);

#endif
