/* two_copiers.c - the controller and core 0 of the workers copy at the same time, each with copies of many commands.
 *
 * Argument: the mode of the twin. Prints how many copies were wrong after their wait; a fault of the twin ends it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "gap9_twin.h"
#include "match_gap9_api.h"
#include "match_gap9_cores.h"
#include "match_twin_context.h"
#include "pmsis.h"

#define COPIES 40u
#define PLANES 9u /* more than the ids that a core takes */
#define ROWS 2u
#define ROW_BYTES 24u
#define ROW_STRIDE 40u
#define PLANE_STRIDE (3u * ROW_STRIDE)

static uint8_t far[2][PLANES * PLANE_STRIDE];
static uint32_t wrong[2];

static void copy_in(uint32_t who, uint32_t n) {
  uint8_t *const near = &match_gap9_l1[1024u * (1u + who)];
  for (uint32_t i = 0u; i < sizeof far[who]; i++) {
    far[who][i] = (uint8_t)(i * 7u + n + 100u * who);
  }
  match_gap9_copy_in_3d(near, far[who], PLANES, ROWS, ROW_BYTES, ROW_STRIDE, PLANE_STRIDE);
  match_gap9_copy_wait();
  uint32_t bad = 0u;
  for (uint32_t plane = 0u; plane < PLANES; plane++) {
    for (uint32_t row = 0u; row < ROWS; row++) {
      const uint8_t *const from = &far[who][plane * PLANE_STRIDE + row * ROW_STRIDE];
      bad |= memcmp(&near[(plane * ROWS + row) * ROW_BYTES], from, ROW_BYTES) != 0 ? 1u : 0u;
    }
  }
  wrong[who] += bad;
}

static void team_side(void *argument) {
  (void)argument;
  if (pi_core_id() == 0) {
    for (uint32_t n = 0u; n < COPIES; n++) {
      copy_in(0u, n);
    }
  }
}

static void both_sides(void *argument) {
  (void)argument;
  match_gap9_team_begin(team_side);
  for (uint32_t n = 0u; n < COPIES; n++) {
    copy_in(1u, n);
  }
  match_gap9_team_end();
}

int main(int argc, char **argv) {
  static struct pi_cluster_task task;
  static pi_task_t end;
  match_twin_configure(argc > 1 ? argv[1] : "eager");
  if (match_gap9_start() != 0 || match_gap9_send(&task, both_sides, pi_task_block(&end)) != 0) {
    return 1;
  }
  pi_task_wait_on(&end);
  match_gap9_stop();
  (void)printf("%u\n", (unsigned)(wrong[0] + wrong[1]));
  return 0;
}
