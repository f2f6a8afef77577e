/* ne16.h - NE16 device handle and queue status. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_NE16_H
#define MATCH_GAP9_TWIN_NE16_H

#include <stdint.h>

#include "hwpe.h"

typedef struct ne16_dev_t {
  hwpe_dev_t hwpe_dev;
} ne16_dev_t;

int ne16_task_queue_tasks_in_flight(const ne16_dev_t *dev);
int ne16_task_queue_empty(const ne16_dev_t *dev);
int ne16_task_queue_full(const ne16_dev_t *dev);

#endif
