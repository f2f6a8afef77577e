/* ne16_driver.c - the pulp-nnx functions for NE16 that programs call: dispatching and resolving jobs.
 *
 * dispatch_stride2x2 shifts all tiles but the first back by one row (column) of an odd output, which is computed twice.
 * It leaves the last tile's addresses and padding in the task. SPDX-License-Identifier: Apache-2.0 */
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

static uint32_t tiles(uint32_t size, uint32_t tile) {
  if (size == 0u) {
    match_twin_fault("NE16: a size is 0");
  }
  return (size - 1u) / tile + 1u;
}

static uint32_t get_tile_padding(uint32_t padding, uint32_t i_height, uint32_t i_width, uint32_t n_height,
                               uint32_t n_width) {
  const uint32_t top = i_height == 0u ? 0xF0000000u : 0u, right = i_width + 1u >= n_width ? 0x0F000000u : 0u;
  const uint32_t bottom = i_height + 1u >= n_height ? 0x00F00000u : 0u, left = i_width == 0u ? 0x000F0000u : 0u;
  return padding & (top | right | bottom | left | 0xFFFFu);
}

/* Address of tile (i, j): tiles are `step` apart, all but the first shifted back by `back`, in units of `pitch`. */
static uint32_t tile_offset(uint32_t index, uint32_t step, uint32_t back, uint32_t pitch) {
  return index == 0u ? 0u : (index * step - back) * pitch;
}

void ne16_nnx_dispatch_stride2x2(const ne16_dev_t *dev, ne16_task_t *task, const uint32_t w_in,
                                 const uint32_t k_in, const uint32_t h_out, const uint32_t w_out,
                                 const uint32_t k_out, const uint8_t h_ker, const uint8_t w_ker) {
  const uint32_t rows = tiles(h_out, 2u), columns = tiles(w_out, 2u);
  const uint32_t back_y = h_out % 2u, back_x = w_out % 2u;
  const uint32_t input = task->data.infeat_addr, output = task->data.outfeat_addr;
  const uint32_t padding = task->data.cfg.padding;
  const ne16_cfg_t *cfg = &task->data.cfg;
  (void)w_in;
  (void)k_in;
  (void)k_out;
  (void)h_ker; /* two outputs are four inputs apart whatever the kernel: (3 + k - 1) - (k - 2) = 4 */
  (void)w_ker;
  for (uint32_t i = 0u; i < rows; i++) {
    for (uint32_t j = 0u; j < columns; j++) {
      task->data.infeat_addr = input + tile_offset(i, 4u, 2u * back_y, cfg->input_stride.d1) +
                               tile_offset(j, 4u, 2u * back_x, cfg->input_stride.d0);
      task->data.outfeat_addr = output + tile_offset(i, 2u, back_y, 2u * cfg->output_stride.d2) +
                                tile_offset(j, 2u, back_x, 2u * cfg->output_stride.d1);
      task->data.cfg.padding = get_tile_padding(padding, i, j, rows, columns);
      while (ne16_nnx_dispatch(dev, task) != 0) {
        ne16_pulp_event_wait_and_clear();
      }
    }
  }
}
