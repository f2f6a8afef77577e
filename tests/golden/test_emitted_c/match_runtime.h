/* SPDX-License-Identifier: Apache-2.0 */
/* What every emitted program shares: how a task is handed to a unit, and the arithmetic of tiles. */
#ifndef MATCH_RUNTIME_H
#define MATCH_RUNTIME_H

#include <stdint.h>

/* One task of the program. */
typedef struct {
    uint8_t *near;                /* the unit's memory */
    uint8_t *const *private_near; /* memories of single operands */
    const void *const *in;        /* tensors in home memory, in the operands' order */
    void *const *out;
    void *scratch;                /* home memory for the task's own use */
    uint32_t store;               /* address of the program's constants in the memory behind */
} match_task_t;

/* The part of an axis that a tile reads, and how much of its window lies before and after the tensor (padding). */
typedef struct {
    uint32_t first;
    uint32_t size;
    uint32_t before;
    uint32_t after;
} match_span_t;

static inline uint32_t match_min_u32(uint32_t a, uint32_t b)
{
    return (a < b) ? a : b;
}

/* A window of extent elements that starts offset elements before start, clipped to a tensor of size elements. */
static inline match_span_t match_span(uint32_t start, uint32_t offset, uint32_t extent, uint32_t size)
{
    const uint32_t end = start + extent; /* one past the last, counted from -offset */
    match_span_t span;
    span.before = (start < offset) ? match_min_u32(offset - start, extent) : 0u;
    span.after = (end > size + offset) ? match_min_u32(end - size - offset, extent) : 0u;
    span.first = (start < offset) ? 0u : match_min_u32(start - offset, size);
    span.size = (span.before + span.after < extent) ? extent - span.before - span.after : 0u;
    return span;
}

#endif
