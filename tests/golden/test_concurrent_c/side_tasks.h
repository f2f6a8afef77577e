/* SPDX-License-Identifier: Apache-2.0 */
/* side: internal names, not for the application. An argument is a const match_task_t *. */
#ifndef SIDE_TASKS_H
#define SIDE_TASKS_H

#include <stdint.h>
#include "side.h"
#include "side_port.h"

/* Queues, and the addresses of a run. */
enum {
    side_queue_host,
    side_queue_array,
    side_queue_other,
    side_queue_link,
    side_queues
};
enum {
    side_base_none,
    side_base_near,
    side_base_home,
    side_base_in_x,
    side_base_out_out,
    side_bases
};

SIDE_HOST_CODE_SECTION void side_host_run(const side_state_t *state, uint32_t n);
SIDE_ARRAY_CODE_SECTION void side_array_loop(void *state);
SIDE_OTHER_CODE_SECTION void side_other_loop(void *state);

SIDE_HOST_CODE_SECTION void side_host_00(void *argument);
SIDE_ARRAY_CODE_SECTION void side_array_01(void *argument);
SIDE_OTHER_CODE_SECTION void side_other_02(void *argument);
SIDE_ARRAY_CODE_SECTION void side_array_03(void *argument);
SIDE_OTHER_CODE_SECTION void side_other_04(void *argument);
SIDE_ARRAY_CODE_SECTION void side_array_05(void *argument);
SIDE_HOST_CODE_SECTION void side_host_06(void *argument);

extern const int8_t side_01_weight[180];
extern const int32_t side_01_multiplier[5];
extern const int32_t side_01_addend[5];
extern const int8_t side_03_weight[90];
extern const int32_t side_03_multiplier[2];
extern const int32_t side_03_addend[2];
extern const int32_t side_04_multiplier[4];
extern const int32_t side_04_addend[4];
extern const int8_t side_05_weight[162];
extern const int32_t side_05_multiplier[3];
extern const int32_t side_05_addend[3];

#endif
