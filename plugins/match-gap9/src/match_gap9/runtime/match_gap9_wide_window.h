/* match_gap9_wide_window.h - which part of a kernel window lies inside of the input.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_WIDE_WINDOW_H
#define MATCH_GAP9_WIDE_WINDOW_H

#include <stdint.h>

/* Kernel positions [start, stop) that lie inside of the input, the first of them at input index `first`. */
typedef struct {
    uint32_t start, stop, first;
} match_gap9_window_t;

static inline match_gap9_window_t match_gap9_window(uint32_t out, uint32_t stride, uint32_t pad_before, uint32_t kernel,
                                                    uint32_t size)
{
    const uint32_t begin = out * stride; /* counted from the first padding pixel */
    const uint32_t end = pad_before + size;
    match_gap9_window_t w;
    w.start = (begin < pad_before) ? pad_before - begin : 0u;
    w.stop = (begin + kernel > end) ? ((begin < end) ? end - begin : 0u) : kernel;
    if (w.start >= w.stop) {
        w.start = w.stop;
        w.first = 0u;
        return w;
    }
    w.first = begin + w.start - pad_before;
    return w;
}

#endif
