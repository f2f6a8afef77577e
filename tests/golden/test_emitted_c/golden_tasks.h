/* SPDX-License-Identifier: Apache-2.0 */
/* golden: internal names, not for the application. An argument is a const match_task_t *. */
#ifndef GOLDEN_TASKS_H
#define GOLDEN_TASKS_H

#include <stdint.h>
#include "golden_port.h"

GOLDEN_CLUSTER_CODE_SECTION void golden_cluster_00(void *argument);
GOLDEN_NE16_CODE_SECTION void golden_ne16_01(void *argument);
GOLDEN_NE16_CODE_SECTION void golden_ne16_02(void *argument);
GOLDEN_CLUSTER_CODE_SECTION void golden_cluster_03(void *argument);
GOLDEN_NE16_CODE_SECTION void golden_ne16_04(void *argument);
GOLDEN_CLUSTER_CODE_SECTION void golden_cluster_05(void *argument);

extern const uint8_t golden_01_constants[7296];
extern const uint8_t golden_02_constants[960];
extern const uint8_t golden_03_constants[9728];
extern const uint8_t golden_04_constants[72];

#endif
