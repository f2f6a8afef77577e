/* SPDX-License-Identifier: Apache-2.0 */
/* From the description of a primitive to a step: post-operations, choice of layouts, arguments. */
#include "match_dnnl_engine.h"

#include <string.h>

/* Arguments that have the axes of the image; weights and values per channel have their own. */
static int is_image(int argument)
{
    return argument < DNNL_ARG_WEIGHTS || argument >= DNNL_ARG_MULTIPLE_SRC;
}

static const cJSON *post_item(const match_dnnl_node_t *node, const char *list, int index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(node->attributes, list), index);
}

static int post_count(const match_dnnl_node_t *node)
{
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(node->attributes, "post"));
}

/* "sum" adds to the tensor that is the next further input, "add" and its like combine with it, all others are
 * functions of one value with numbers `post_alpha` and `post_beta`. */
typedef enum { POST_SUM, POST_BINARY, POST_ELTWISE } post_kind_t;

static int post_kind(const match_dnnl_node_t *node, int index, post_kind_t *kind, dnnl_alg_kind_t *algorithm)
{
    const char *name = cJSON_GetStringValue(post_item(node, "post", index));
    if (name == NULL) return 1;
    if (strcmp(name, "sum") == 0) {
        *kind = POST_SUM;
        return 0;
    }
    MATCH_DNNL_TRY(match_dnnl_algorithm(name, algorithm));
    *kind = *algorithm >= dnnl_binary_add && *algorithm <= dnnl_binary_sub ? POST_BINARY : POST_ELTWISE;
    return 0;
}

static int append_posts(const match_dnnl_build_t *build, const match_dnnl_node_t *node, dnnl_post_ops_t posts)
{
    int further = node->own;
    for (int i = 0; i < post_count(node); i++) {
        post_kind_t kind = POST_SUM;
        dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
        dnnl_memory_desc_t plain, layout;
        MATCH_DNNL_TRY(post_kind(node, i, &kind, &algorithm));
        if (kind != POST_ELTWISE && (further >= node->inputs_count || node->inputs[further] < 0)) return 1;
        if (kind == POST_SUM) {
            MATCH_DNNL_TRY(dnnl_post_ops_append_sum(posts, 1.0f));
            further++;
        } else if (kind == POST_BINARY) {
            MATCH_DNNL_TRY(match_dnnl_plain(&build->tensors[node->inputs[further++]], &plain));
            MATCH_DNNL_TRY(match_dnnl_inward(&plain, node->last, &layout));
            MATCH_DNNL_TRY(dnnl_post_ops_append_binary(posts, algorithm, &layout));
        } else {
            const cJSON *alpha = post_item(node, "post_alpha", i), *beta = post_item(node, "post_beta", i);
            if (!cJSON_IsNumber(alpha) || !cJSON_IsNumber(beta)) return 1;
            MATCH_DNNL_TRY(dnnl_post_ops_append_eltwise(posts, 1.0f, algorithm, (float)alpha->valuedouble,
                                                        (float)beta->valuedouble));
        }
    }
    return further != node->inputs_count;
}

static int make_attributes(const match_dnnl_build_t *build, const match_dnnl_node_t *node,
                           dnnl_primitive_attr_t *attributes)
{
    dnnl_post_ops_t posts = NULL;
    MATCH_DNNL_TRY(dnnl_primitive_attr_create(attributes));
    MATCH_DNNL_TRY(dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user));
    MATCH_DNNL_TRY(dnnl_post_ops_create(&posts));
    int failed = append_posts(build, node, posts);
    failed = failed || dnnl_primitive_attr_set_post_ops(*attributes, posts) != dnnl_success;
    (void)dnnl_post_ops_destroy(posts);
    return failed;
}

static int is_reference(const_dnnl_primitive_desc_t description)
{
    const char *name = NULL;
    if (dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name) != dnnl_success) return 0;
    return name != NULL && strncmp(name, "ref", 3) == 0;
}

/* The layouts that the node's own inputs have, plain where the primitive does not take them; `plain`: all are. */
static int own_layouts(const match_dnnl_build_t *build, const match_dnnl_node_t *node, const int *arguments, int plain,
                       dnnl_memory_desc_t *layouts, int *differ)
{
    for (int i = 0; i < node->own; i++) {
        dnnl_memory_desc_t layout, inward;
        memset(&layouts[i], 0, sizeof layouts[i]);
        if (node->inputs[i] < 0) continue;
        const match_dnnl_tensor_t *tensor = &build->tensors[node->inputs[i]];
        MATCH_DNNL_TRY(match_dnnl_plain(tensor, &layout));
        const int last = node->last && is_image(arguments[i]);
        MATCH_DNNL_TRY(match_dnnl_inward(&layout, last, &layouts[i]));
        MATCH_DNNL_TRY(match_dnnl_inward(&tensor->layout, last, &inward));
        if (dnnl_memory_desc_equal(&layout, &tensor->layout) || !match_dnnl_is_taken(&inward, node->strict)) continue;
        *differ = 1;
        if (!plain) layouts[i] = inward;
    }
    return 0;
}

/* The primitive on its inputs as they lie; oneDNN's reference code is so slow that plain layouts are tried instead. */
static int choose(const match_dnnl_build_t *build, const match_dnnl_node_t *node, match_dnnl_describe_t describe,
                  const int *arguments, const_dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *description)
{
    dnnl_memory_desc_t layouts[MATCH_DNNL_ARGUMENTS_MAX];
    dnnl_primitive_desc_t other = NULL;
    int differ = 0;
    MATCH_DNNL_TRY(own_layouts(build, node, arguments, 0, layouts, &differ));
    const int failed = describe(build, node, layouts, attributes, description);
    if (!differ || (!failed && !is_reference(*description))) return failed;
    MATCH_DNNL_TRY(own_layouts(build, node, arguments, 1, layouts, &differ));
    if (describe(build, node, layouts, attributes, &other) != 0) return failed;
    if (!failed && is_reference(other)) return (int)dnnl_primitive_desc_destroy(other);
    if (!failed) MATCH_DNNL_TRY(dnnl_primitive_desc_destroy(*description));
    *description = other;
    return 0;
}

static int add_input(match_dnnl_build_t *build, match_dnnl_call_t *call, const match_dnnl_node_t *node, int tensor,
                     int argument, const_dnnl_primitive_desc_t description)
{
    const dnnl_memory_desc_t *layout = dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, argument);
    dnnl_memory_desc_t own;
    uint32_t storage = 0;
    if (layout == NULL) return 1;
    MATCH_DNNL_TRY(match_dnnl_outward(layout, node->last && is_image(argument), &own));
    MATCH_DNNL_TRY(match_dnnl_fetch(build, tensor, &own, &storage));
    return match_dnnl_argument(build, call, argument, layout, storage);
}

/* Arguments of post-operations. `added`: the tensor of a sum, whose place the output takes. */
static int add_posts(match_dnnl_build_t *build, match_dnnl_call_t *call, const match_dnnl_node_t *node,
                     const_dnnl_primitive_desc_t description, int *added)
{
    int further = node->own;
    for (int i = 0; i < post_count(node); i++) {
        post_kind_t kind = POST_SUM;
        dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
        MATCH_DNNL_TRY(post_kind(node, i, &kind, &algorithm));
        if (kind == POST_SUM && *added >= 0) return 1;
        if (kind == POST_SUM) *added = node->inputs[further++];
        if (kind != POST_BINARY) continue;
        const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1;
        MATCH_DNNL_TRY(add_input(build, call, node, node->inputs[further++], argument, description));
    }
    return 0;
}

int match_dnnl_described(match_dnnl_build_t *build, const match_dnnl_node_t *node, const int *arguments,
                         const_dnnl_primitive_desc_t description)
{
    const dnnl_memory_desc_t *layout = dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, DNNL_ARG_DST);
    match_dnnl_call_t call = {.count = 0};
    dnnl_memory_desc_t own;
    uint32_t storage = 0;
    int added = -1;
    if (layout == NULL) return 1;
    for (int i = 0; i < node->own; i++) {
        if (node->inputs[i] >= 0) {
            MATCH_DNNL_TRY(add_input(build, &call, node, node->inputs[i], arguments[i], description));
        }
    }
    MATCH_DNNL_TRY(add_posts(build, &call, node, description, &added));
    MATCH_DNNL_TRY(match_dnnl_outward(layout, node->last, &own));
    MATCH_DNNL_TRY(match_dnnl_target(build, &call, node->output, added, &own, &storage));
    MATCH_DNNL_TRY(match_dnnl_argument(build, &call, DNNL_ARG_DST, layout, storage));
    MATCH_DNNL_TRY(match_dnnl_step(build, &call, description));
    match_dnnl_make(build, node->output, &own, storage);
    return match_dnnl_copy_out(build, node->output);
}

int match_dnnl_primitive(match_dnnl_build_t *build, const match_dnnl_node_t *node, match_dnnl_describe_t describe,
                         const int *arguments)
{
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_primitive_desc_t description = NULL;
    int failed = make_attributes(build, node, &attributes);
    failed = failed || choose(build, node, describe, arguments, attributes, &description);
    failed = failed || match_dnnl_described(build, node, arguments, description);
    (void)dnnl_primitive_desc_destroy(description);
    (void)dnnl_primitive_attr_destroy(attributes);
    return failed;
}
