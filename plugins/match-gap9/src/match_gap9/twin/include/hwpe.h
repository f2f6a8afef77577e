/* hwpe.h - register access of a hardware processing engine; the twin routes it to its NE16 register file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_HWPE_H
#define MATCH_GAP9_TWIN_HWPE_H

#include <stdint.h>

typedef struct hwpe_dev_t {
  volatile uint32_t *base_addr;
} hwpe_dev_t;

/* Register indices are words from the base: 0 trigger, 1 acquire, 2 finished, 3 status, 4 running job,
 * 5 soft clear, 6 software synchronisation; job words follow from index 8. */
void hwpe_reg_write(const hwpe_dev_t *dev, int reg, uint32_t value);
uint32_t hwpe_reg_read(const hwpe_dev_t *dev, int reg);
void hwpe_task_reg_write(const hwpe_dev_t *dev, int reg, uint32_t value);
void hwpe_soft_clear(const hwpe_dev_t *dev);
uint32_t hwpe_task_queue_status(const hwpe_dev_t *dev);
int hwpe_task_queue_acquire_task(const hwpe_dev_t *dev, uint8_t *id);
void hwpe_task_queue_write_task(const hwpe_dev_t *dev, const uint32_t *data, int len);
void hwpe_task_queue_release_and_run(const hwpe_dev_t *dev);
uint8_t hwpe_last_task_id(const hwpe_dev_t *dev);

#endif
