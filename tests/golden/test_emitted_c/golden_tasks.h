/* SPDX-License-Identifier: Apache-2.0 */
/* golden: inner names, not for the application. Each task takes a const match_task_t *. */
#ifndef GOLDEN_TASKS_H
#define GOLDEN_TASKS_H

#include <stdint.h>

void golden_cluster_00(void *argument);
void golden_ne16_01(void *argument);
void golden_ne16_02(void *argument);
void golden_cluster_03(void *argument);
void golden_ne16_04(void *argument);
void golden_cluster_05(void *argument);

extern const uint8_t golden_01_weight[6912];
extern const int32_t golden_01_multiplier[48];
extern const int32_t golden_01_addend[48];
extern const uint8_t golden_02_weight[432];
extern const int32_t golden_02_multiplier[48];
extern const int32_t golden_02_addend[48];
extern const int8_t golden_03_weight[9600];
extern const int32_t golden_03_multiplier[8];
extern const int64_t golden_03_addend[8];
extern const uint8_t golden_04_weight[48];
extern const int32_t golden_04_multiplier[3];
extern const int32_t golden_04_addend[3];

#endif
