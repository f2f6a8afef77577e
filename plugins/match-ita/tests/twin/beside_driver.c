/* beside_driver.c - two queues side by side, as an emitted program has them. ITA's tasks copy a layer in, compute it
 * and copy the result out; those of the cores copy its result in, add one to each byte on all cores and copy it out,
 * and the next task of ITA needs that. Prints a checksum of all results and the time.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ita_twin.h"
#include "match_ita_api.h"
#include "match_ita_beside.h"
#include "match_ita_hooks.h"
#include "match_ita_team.h"

#define TASKS 6u
#define ROWS 96u
#define WIDTH 128u
#define BYTES (ROWS * WIDTH)

/* What a test takes out. */
#ifdef WITHOUT_COPY_WAIT
#define match_snitch_copy_wait() ((void)0)
#endif

typedef struct {
  match_queue_t ita, snitch;
} state_t;

static state_t state;
static int8_t input[BYTES], layers[TASKS][BYTES], sums[TASKS][BYTES], weight[2u * 2u * 4096u];
static uint8_t bias[2u * 192u];
static uint8_t *l1;

/* ---- ITA -------------------------------------------------------------------------------------------------------- */

static void ita_task(uint32_t task) {
  uint8_t *const near = l1, *const out = l1 + BYTES, *const constants = out + BYTES, *const scratch = l1 + 61440u;
  const int8_t *const far = task == 0u ? input : sums[task - 1u];
  match_ita_copy_in_3d(near, far, WIDTH / 64u, ROWS, 64u, WIDTH, 64u);
  match_ita_copy_in_1d(constants, weight, sizeof weight);
  match_ita_copy_in_1d(constants + sizeof weight, bias, sizeof bias);
  match_ita_copy_wait();
  const match_ita_linear_t tile = {
      .input = near, .weight = constants, .bias = constants + sizeof weight, .output = out, .scratch = scratch,
      .s = ROWS, .k1 = WIDTH / 64u, .c1 = WIDTH / 64u, .multiplier = 9, .shift = 12,
  };
  match_ita_linear(&tile);
  match_ita_copy_out_3d(layers[task], out, WIDTH / 64u, ROWS, 64u, WIDTH, 64u);
  match_ita_copy_wait();
}

static void ita_loop(void *argument) {
  state_t *const shared = argument;
  for (uint32_t task = 0u; task < TASKS; task++) {
    if (match_ita_ita_wait(&shared->ita, task + 1u) != 0) {
      return;
    }
    ita_task(task);
    match_store(&shared->ita.done, task + 1u);
  }
}

/* ---- compute cores ---------------------------------------------------------------------------------------------- */

typedef struct {
  uint8_t *data;
  uint32_t bytes;
} add_t;

/* Each core adds one to what its neighbour has copied. */
static void add_core(void *argument) {
  const add_t *const t = argument;
  const uint32_t core = match_ita_core(), share = t->bytes / match_ita_cores();
  uint8_t *const copy = t->data + t->bytes;
  memcpy(copy + core * share, t->data + core * share, share);
  match_ita_charge(share);
  match_ita_barrier();
  const uint32_t other = (core + 1u) % match_ita_cores();
  for (uint32_t i = 0u; i < share; i++) {
    t->data[other * share + i] = (uint8_t)(copy[other * share + i] + 1u);
  }
  match_ita_charge(5u * share);
}

static void snitch_task(uint32_t task) {
  uint8_t *const near = l1 + 100u * 1024u;
  for (uint32_t part = 0u; part < BYTES; part += 4096u) {
    const add_t tile = {near, 4096u};
    match_snitch_copy_in_1d(near, layers[task] + part, 2048u);
    match_snitch_copy_in_2d(near + 2048u, layers[task] + part + 2048u, 16u, 128u, 128u);
    match_snitch_copy_wait();
    match_ita_team_launch(add_core, &tile);
    match_snitch_copy_out_2d(sums[task] + part, near, 32u, 128u, 128u);
    match_snitch_copy_wait();
  }
}

static void snitch_loop(void *argument) {
  state_t *const shared = argument;
  for (uint32_t task = 0u; task < TASKS; task++) {
    if (match_ita_snitch_wait(&shared->snitch, task + 1u) != 0) {
      return;
    }
    snitch_task(task);
    match_store(&shared->snitch.done, task + 1u);
  }
}

/* ---- host ------------------------------------------------------------------------------------------------------- */

static int finish(int status) {
  if (status != 0) {
    match_store(&state.ita.posted, MATCH_CANCEL);
    match_store(&state.snitch.posted, MATCH_CANCEL);
  }
  const int joined = match_ita_ita_join() | match_ita_snitch_join();
  return status != 0 ? status : joined;
}

/* 0, or another number when a unit hangs. */
static int run(uint32_t tasks) {
  match_store(&state.ita.posted, 0u);
  match_store(&state.ita.done, 0u);
  match_store(&state.snitch.posted, 0u);
  match_store(&state.snitch.done, 0u);
  if (match_ita_ita_loop(ita_loop, &state) != 0 || match_ita_snitch_loop(snitch_loop, &state) != 0) {
    return finish(2);
  }
  uint32_t idle = 0u;
  while (match_load(&state.snitch.done) < tasks && idle < 10u) {
    const uint32_t layer = match_load(&state.ita.done), sum = match_load(&state.snitch.done);
    match_store(&state.ita.posted, sum + 1u < TASKS ? sum + 1u : TASKS);
    match_store(&state.snitch.posted, layer);
    idle = match_port_wait() != 0 ? idle + 1u : 0u;
  }
  return finish(idle == 10u ? 3 : tasks < TASKS ? -1 : 0);
}

static uint32_t checksum(void) {
  uint32_t sum = 0u;
  for (uint32_t i = 0u; i < TASKS * BYTES; i++) {
    sum = sum * 31u + (uint8_t)((const int8_t *)sums)[i];
  }
  return sum;
}

static void fill(void *data, size_t bytes, uint32_t seed) {
  for (size_t i = 0u; i < bytes; i++) {
    seed = seed * 1664525u + 1013904223u;
    ((uint8_t *)data)[i] = (uint8_t)(seed >> 24);
  }
}

/* MODE, and how many of the tasks are waited for before the session is cancelled. */
int main(int argc, char **argv) {
  const uint32_t tasks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : TASKS;
  match_twin_configure(argv[1]);
  match_twin_host_clock(MATCH_TWIN_CLOCK_HOST);
  match_twin_signalling(60u, 20u, 30u, 40u);
  match_twin_queue(&state.ita.posted, &state.ita.done);
  match_twin_queue(&state.snitch.posted, &state.snitch.done);
  l1 = match_ita_twin_l1(118u * 1024u);
  match_twin_poison(l1, 118u * 1024u);
  fill(input, sizeof input, 1u);
  fill(weight, sizeof weight, 2u);
  if (match_ita_start() != 0) {
    return 4;
  }
  for (uint32_t session = 0u; session < 2u; session++) {
    const int status = run(session == 0u ? tasks : TASKS);
    if (status > 0) {
      printf("status %d\n", status);
      return 1;
    }
  }
  match_ita_stop();
  match_twin_check_quiet();
  match_twin_check_queue();
  printf("%08x %llu\n", (unsigned)checksum(), (unsigned long long)match_twin_wall());
  return 0;
}
