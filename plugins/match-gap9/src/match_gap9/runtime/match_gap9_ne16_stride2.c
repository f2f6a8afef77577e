/* match_gap9_ne16_stride2.c - a tile of stride 2: one job for each 2 by 2 outputs.
 *
 * NE16 keeps the words of both of its contexts, and uses them in turns. From the third job on, only the words that change
 * are written: two addresses and the padding, 3 of 24. The open simulator behaves so, silicon is not confirmed: build
 * with -DMATCH_GAP9_NE16_ALL_WORDS to write all words of every job. SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "match_gap9_ne16_stride2.h"
#include "ne16_pulp_bsp.h"
#include "pulp_nnx_ne16.h"

#define OUTPUTS 2u /* rows and columns of outputs of a job */

#ifdef MATCH_GAP9_NE16_ALL_WORDS
#define WHOLE_JOBS UINT32_MAX
#else
#define WHOLE_JOBS 2u /* the first job of each context */
#endif

/* Register of a word of the task. */
#define WORD(member) ((int)(offsetof(ne16_task_data_t, member) / sizeof(uint32_t)))

/* Where the jobs of one axis lie: an odd number of outputs is computed with the last two by all jobs but the first. */
typedef struct {
    uint32_t jobs, back;
} axis_t;

static axis_t axis(uint32_t outputs)
{
    const axis_t made = {.jobs = (outputs + 1u) / OUTPUTS, .back = outputs & 1u};
    return made;
}

static uint32_t first_output(const axis_t *a, uint32_t job)
{
    return (job == 0u) ? 0u : job * OUTPUTS - a->back;
}

static uint32_t borders(const axis_t *y, uint32_t row, const axis_t *x, uint32_t column)
{
    uint32_t kept = 0xFFFFu; /* the value */
    kept |= (row == 0u) ? 0xF0000000u : 0u;
    kept |= (column + 1u == x->jobs) ? 0x0F000000u : 0u;
    kept |= (row + 1u == y->jobs) ? 0x00F00000u : 0u;
    kept |= (column == 0u) ? 0x000F0000u : 0u;
    return kept;
}

static void dispatch(hwpe_dev_t *engine, ne16_task_t *task, uint32_t job)
{
    const ne16_task_data_t *const data = &task->data;
    if (job < WHOLE_JOBS) {
        ne16_nnx_dispatch_wait(ne16_pulp_get_dev());
        (void)ne16_nnx_dispatch(ne16_pulp_get_dev(), task);
        return;
    }
    while (hwpe_task_queue_acquire_task(engine, &task->id) != 0) {
        ne16_pulp_event_wait_and_clear();
    }
    hwpe_task_reg_write(engine, WORD(infeat_addr), data->infeat_addr);
    hwpe_task_reg_write(engine, WORD(outfeat_addr), data->outfeat_addr);
    hwpe_task_reg_write(engine, WORD(cfg.padding), data->cfg.padding);
    hwpe_task_queue_release_and_run(engine);
}

void match_gap9_ne16_dispatch_stride2(ne16_task_t *task, uint32_t oy, uint32_t ox)
{
    ne16_task_data_t *const data = &task->data;
    const ne16_cfg_t *const cfg = &data->cfg;
    const axis_t y = axis(oy), x = axis(ox);
    const uint32_t input = data->infeat_addr, output = data->outfeat_addr, padding = cfg->padding;
    /* Both in this mode: from one output to the next are two inputs, and output strides are half of the tile's. */
    const uint32_t in_row = 2u * cfg->input_stride.d1, in_pixel = 2u * cfg->input_stride.d0;
    const uint32_t out_row = 2u * cfg->output_stride.d2, out_pixel = 2u * cfg->output_stride.d1;
    hwpe_dev_t engine = ne16_pulp_get_dev()->hwpe_dev;
    uint32_t job = 0u;
    for (uint32_t row = 0u; row < y.jobs; row++) {
        const uint32_t top = first_output(&y, row);
        for (uint32_t column = 0u; column < x.jobs; column++, job++) {
            const uint32_t left = first_output(&x, column);
            data->infeat_addr = input + top * in_row + left * in_pixel;
            data->outfeat_addr = output + top * out_row + left * out_pixel;
            data->cfg.padding = padding & borders(&y, row, &x, column);
            dispatch(&engine, task, job);
        }
    }
}
