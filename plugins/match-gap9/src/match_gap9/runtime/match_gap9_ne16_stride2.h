/* match_gap9_ne16_stride2.h - a tile of stride 2 on NE16. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_NE16_STRIDE2_H
#define MATCH_GAP9_NE16_STRIDE2_H

#include <stdint.h>

#include "ne16_task.h"

/* Issues the job of a task in stride-2 mode for each 2 by 2 of `oy` by `ox` outputs. The task has the addresses, strides
 * and padding of the whole tile. Returns when the last job has begun or waits in NE16; ne16_nnx_resolve_wait with the
 * same task waits for its end. */
void match_gap9_ne16_dispatch_stride2(ne16_task_t *task, uint32_t oy, uint32_t ox);

#endif
