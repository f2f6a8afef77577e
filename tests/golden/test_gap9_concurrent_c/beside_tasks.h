/* SPDX-License-Identifier: Apache-2.0 */
/* beside: internal names, not for the application. An argument is a const match_task_t *. */
#ifndef BESIDE_TASKS_H
#define BESIDE_TASKS_H

#include <stdint.h>
#include "beside.h"
#include "beside_port.h"

/* Queues, and the addresses of a run. */
enum {
    beside_queue_cluster,
    beside_queue_ne16,
    beside_queues
};
enum {
    beside_base_none,
    beside_base_l1,
    beside_base_l2,
    beside_base_in_input,
    beside_base_out_q3,
    beside_bases
};

BESIDE_CLUSTER_CODE_SECTION void beside_cluster_loop(void *state);
BESIDE_NE16_CODE_SECTION void beside_ne16_loop(void *state);

BESIDE_CLUSTER_CODE_SECTION void beside_cluster_00(void *argument);
BESIDE_CLUSTER_CODE_SECTION void beside_cluster_01(void *argument);
BESIDE_NE16_CODE_SECTION void beside_ne16_02(void *argument);
BESIDE_NE16_CODE_SECTION void beside_ne16_03(void *argument);
BESIDE_CLUSTER_CODE_SECTION void beside_cluster_04(void *argument);
BESIDE_NE16_CODE_SECTION void beside_ne16_05(void *argument);
BESIDE_CLUSTER_CODE_SECTION void beside_cluster_06(void *argument);

extern const uint8_t beside_02_constants[4864];
extern const uint8_t beside_04_constants[640];
extern const uint8_t beside_05_constants[640];

#endif
