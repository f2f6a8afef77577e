/* match_gap9_ne16_border.h - counters and padding of NE16 jobs, where the published driver's setters are not enough.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_NE16_BORDER_H
#define MATCH_GAP9_NE16_BORDER_H

#include <stdint.h>

#include "ne16_task.h"

/* Padding pixels around a job's input; `through_registers` where the counters must not leave rows or columns out. */
typedef struct {
    uint8_t top, bottom, left, right, value;
    int through_registers;
} match_gap9_ne16_border_t;

/* What the last subtile lacks to 3 outputs: padding registers count from the end of a whole one. */
static inline uint8_t match_gap9_ne16_missing(uint32_t outputs)
{
    return (uint8_t)((3u - outputs % 3u) % 3u);
}

/* Counters and padding of a job of rows by columns outputs. Input rows and columns that the counters leave out at the
 * bottom and right read as zero; other padding values, and all padding with stride 2, go through the registers. */
static inline void match_gap9_ne16_set_border(ne16_task_t *task, uint32_t in_channels, uint32_t rows,
                                              uint32_t columns, uint32_t out_channels,
                                              const match_gap9_ne16_border_t *b)
{
    if ((b->value == 0u) && (b->through_registers == 0)) {
        ne16_task_set_counters(task, in_channels, rows, columns, out_channels, b->bottom, b->right);
        ne16_task_set_padding(task, b->top, b->bottom, b->left, b->right, 0);
    } else {
        const uint32_t bottom = (b->bottom > 0u) ? b->bottom + (uint32_t)match_gap9_ne16_missing(rows) : 0u;
        const uint32_t right = (b->right > 0u) ? b->right + (uint32_t)match_gap9_ne16_missing(columns) : 0u;
        ne16_task_set_counters(task, in_channels, rows, columns, out_channels, 0, 0);
        ne16_task_set_padding(task, b->top, (uint8_t)bottom, b->left, (uint8_t)right, b->value);
    }
}

#endif
