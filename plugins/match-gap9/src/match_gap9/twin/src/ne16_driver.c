/* ne16_driver.c - the pulp-nnx functions for NE16 that programs call: dispatching and resolving jobs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gap9_twin.h"
#include "pulp_nnx_ne16.h"

void ne16_nnx_init(const ne16_dev_t *dev, ne16_pulp_conf_t *conf) {
  ne16_pulp_open(conf);
  hwpe_soft_clear(&dev->hwpe_dev);
}

void ne16_nnx_term(const ne16_dev_t *dev) {
  hwpe_soft_clear(&dev->hwpe_dev);
  ne16_pulp_close();
}

int ne16_nnx_dispatch_check(const ne16_dev_t *dev) { return !ne16_task_queue_full(dev); }

void ne16_nnx_dispatch_wait(const ne16_dev_t *dev) {
  while (!ne16_nnx_dispatch_check(dev)) {
    ne16_pulp_event_wait_and_clear();
  }
}

int ne16_nnx_dispatch(const ne16_dev_t *dev, ne16_task_t *task) {
  uint32_t words[sizeof(ne16_task_data_t) / sizeof(uint32_t)];
  if (hwpe_task_queue_acquire_task(&dev->hwpe_dev, &task->id) != 0) {
    return 1;
  }
  memcpy(words, &task->data, sizeof words);
  hwpe_task_queue_write_task(&dev->hwpe_dev, words, (int)(sizeof words / sizeof words[0]));
  hwpe_task_queue_release_and_run(&dev->hwpe_dev);
  return 0;
}

/* Resolved once the engine has run a later job, or this one and nothing is in flight. Ids count modulo 256. */
int ne16_nnx_resolve_check(const ne16_dev_t *dev, ne16_task_t *task) {
  const int empty = ne16_task_queue_empty(dev);
  const uint8_t last = hwpe_last_task_id(&dev->hwpe_dev);
  const uint8_t before = (uint8_t)(task->id - 1u);
  return empty || !(last == before || last == task->id);
}

void ne16_nnx_resolve_wait(const ne16_dev_t *dev, ne16_task_t *task) {
  while (!ne16_nnx_resolve_check(dev, task)) {
    ne16_pulp_event_wait_and_clear();
  }
}
