/* carfield_driver.c - scenarios on the Carfield twin, one per name; each prints what the test looks at.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "car_util.h"
#include "carfield_twin.h"
#include "match_carfield_pulp.h"
#include "match_carfield_protocol.h"
#include "match_carfield_spatz.h"
#include "dma.h"

#define ROWS 6u
#define ROW_BYTES 10u
#define PLANES 3u
#define TASKS 5u

static uint8_t home[4096], result[4096];
static const uint8_t fixed[64] = {1};
static uint8_t *l1[CARFIELD_UNITS];
static match_queue_t queue;

static void print_bytes(const uint8_t *bytes, size_t count) {
  for (size_t i = 0u; i < count; i++) {
    printf("%02x", bytes[i]);
  }
  printf("\n");
}

static void print_clocks(void) {
  static const unsigned clocks[] = {MATCH_TWIN_CLOCK_HOST, MATCH_TWIN_CLOCK_PULP, MATCH_TWIN_CLOCK_SPATZ,
                                    MATCH_TWIN_CLOCK_PULP_DMA_IN, MATCH_TWIN_CLOCK_PULP_DMA_OUT,
                                    MATCH_TWIN_CLOCK_SPATZ_DMA_IN, MATCH_TWIN_CLOCK_SPATZ_DMA_OUT,
                                    MATCH_TWIN_CLOCK_SYSDMA};
  for (size_t i = 0u; i < sizeof clocks / sizeof clocks[0]; i++) {
    printf("%" PRIu64 " ", match_twin_now(clocks[i]));
  }
  printf("\n");
}

/* ---- what units run: each call of it is of one unit ------------------------------------------------------------ */

static void copies_pulp(void *argument) {
  uint8_t *near = l1[CARFIELD_PULP];
  (void)argument;
  match_carfield_pulp_copy_in_1d(near, home, 100u);
  match_carfield_pulp_copy_in_2d(near + 128u, home, ROWS, ROW_BYTES, 32u);
  match_carfield_pulp_copy_in_3d(near + 256u, home, PLANES, ROWS, ROW_BYTES, 16u, 512u);
  match_carfield_pulp_copy_wait();
  match_carfield_pulp_copy_out_1d(result, near, 100u);
  match_carfield_pulp_copy_out_2d(result + 128u, near + 128u, ROWS, ROW_BYTES, 32u);
  match_carfield_pulp_copy_out_3d(result + 512u, near + 256u, PLANES, ROWS, ROW_BYTES, 16u, 512u);
  match_carfield_pulp_copy_wait();
}

static void copies_spatz(void *argument) {
  uint8_t *near = l1[CARFIELD_SPATZ];
  (void)argument;
  match_carfield_spatz_copy_in_1d(near, home, 100u);
  match_carfield_spatz_copy_in_2d(near + 128u, home, ROWS, ROW_BYTES, 32u);
  match_carfield_spatz_copy_in_3d(near + 256u, home, PLANES, ROWS, ROW_BYTES, 16u, 512u);
  match_carfield_spatz_copy_wait();
  match_carfield_spatz_copy_out_1d(result, near, 100u);
  match_carfield_spatz_copy_out_2d(result + 128u, near + 128u, ROWS, ROW_BYTES, 32u);
  match_carfield_spatz_copy_out_3d(result + 512u, near + 256u, PLANES, ROWS, ROW_BYTES, 16u, 512u);
  match_carfield_spatz_copy_wait();
}

static void big_copy_pulp(void *argument) {
  (void)argument;
  match_carfield_pulp_copy_in_1d(l1[CARFIELD_PULP], home, 4096u);
  match_carfield_pulp_copy_wait();
}

static void big_copy_spatz(void *argument) {
  (void)argument;
  match_carfield_spatz_copy_in_1d(l1[CARFIELD_SPATZ], home, 4096u);
  match_carfield_spatz_copy_wait();
}

/* The scenario. */
static const char *fault;

static bool is(const char *name) { return strcmp(fault, name) == 0; }

/* A copy of rows, of planes of rows, or from DRAM. */
static uint8_t *far;

static void one_copy_pulp(void *argument) {
  (void)argument;
  if (is("one-rows")) {
    match_carfield_pulp_copy_in_2d(l1[CARFIELD_PULP], home, ROWS, ROW_BYTES, 32u);
  } else if (is("one-planes")) {
    match_carfield_pulp_copy_in_3d(l1[CARFIELD_PULP], home, PLANES, ROWS, ROW_BYTES, 16u, 512u);
  } else {
    match_carfield_pulp_copy_in_1d(l1[CARFIELD_PULP], far, 4096u);
  }
  match_carfield_pulp_copy_wait();
}

static void one_copy_spatz(void *argument) {
  (void)argument;
  if (is("one-rows")) {
    match_carfield_spatz_copy_in_2d(l1[CARFIELD_SPATZ], home, ROWS, ROW_BYTES, 32u);
  } else if (is("one-planes")) {
    match_carfield_spatz_copy_in_3d(l1[CARFIELD_SPATZ], home, PLANES, ROWS, ROW_BYTES, 16u, 512u);
  } else {
    match_carfield_spatz_copy_in_1d(l1[CARFIELD_SPATZ], far, 4096u);
  }
  match_carfield_spatz_copy_wait();
}

/* Every core writes its number, and behind a barrier what its neighbour wrote. */
static void core_pulp(void *tile) {
  uint8_t *bytes = tile;
  const uint32_t core = (uint32_t)rt_core_id(), cores = (uint32_t)get_core_num();
  bytes[core] = (uint8_t)(core + 1u);
  synch_barrier();
  bytes[16u + core] = bytes[(core + 1u) % cores];
}

static void core_spatz(void *tile) {
  uint8_t *bytes = tile;
  const uint32_t core = snrt_cluster_core_idx(), cores = snrt_cluster_core_num();
  bytes[core] = (uint8_t)(core + 1u);
  snrt_cluster_hw_barrier();
  bytes[16u + core] = bytes[(core + 1u) % cores];
}

static void teams_pulp(void *argument) {
  (void)argument;
  match_carfield_pulp_team(core_pulp, result);
  match_carfield_pulp_team(core_pulp, result + 32u);
}

static void teams_spatz(void *argument) {
  (void)argument;
  match_carfield_spatz_team(core_spatz, result);
  match_carfield_spatz_team(core_spatz, result + 32u);
}

/* As a dispatch loop does: wait, work, done, notify. */
static void loop_pulp(void *argument) {
  match_queue_t *const own = argument;
  for (uint32_t task = 0u; task < TASKS; task++) {
    if (match_carfield_pulp_wait(own, task + 1u) != 0) {
      return;
    }
    result[task] = (uint8_t)(home[task] + 1u);
    match_twin_spend(MATCH_TWIN_CLOCK_PULP, 1000u);
    match_store(&own->done, task + 1u);
    match_carfield_pulp_notify();
  }
}

static void loop_spatz(void *argument) {
  match_queue_t *const own = argument;
  for (uint32_t task = 0u; task < TASKS; task++) {
    if (match_carfield_spatz_wait(own, task + 1u) != 0) {
      return;
    }
    result[task] = (uint8_t)(home[task] + 1u);
    match_twin_spend(MATCH_TWIN_CLOCK_SPATZ, 1000u);
    match_store(&own->done, task + 1u);
    match_carfield_spatz_notify();
  }
}

/* ---- the host's side ------------------------------------------------------------------------------------------------ */

typedef struct {
  int (*start)(void);
  void (*stop)(void);
  int (*launch)(void (*)(void *), void *);
  int (*join)(void);
  int (*call)(void (*)(void *), void *);
  void (*signal)(void);
  void (*copies)(void *);
  void (*big_copy)(void *);
  void (*teams)(void *);
  void (*loop)(void *);
} unit_t;

static const unit_t units[] = {
    {match_carfield_pulp_start, match_carfield_pulp_stop, match_carfield_pulp_launch, match_carfield_pulp_join,
     match_carfield_pulp_call, match_carfield_pulp_signal, copies_pulp, big_copy_pulp, teams_pulp, loop_pulp},
    {match_carfield_spatz_start, match_carfield_spatz_stop, match_carfield_spatz_launch, match_carfield_spatz_join,
     match_carfield_spatz_call, match_carfield_spatz_signal, copies_spatz, big_copy_spatz, teams_spatz, loop_spatz},
};

static void on_unit(const unit_t *unit, void (*entry)(void *)) {
  printf("start %d\n", unit->start());
  match_twin_reset();
  printf("call %d\n", unit->call(entry, NULL));
  print_clocks();
  match_twin_reset();
  unit->stop();
}

/* A session: tasks are posted one by one behind the last one's end; with `cancel`, only the first. */
static void session(const unit_t *unit, bool cancel) {
  printf("start %d\n", unit->start());
  match_twin_reset();
  match_store(&queue.posted, 0u);
  match_store(&queue.done, 0u);
  printf("launch %d\n", unit->launch(unit->loop, &queue));
  printf("again %d\n", unit->launch(unit->loop, &queue));
  uint32_t timeouts = 0u;
  for (uint32_t task = 0u; task < TASKS; task++) {
    const bool ends = cancel && task == 1u;
    match_store(&queue.posted, ends ? MATCH_CANCEL : task + 1u);
    unit->signal();
    while (!ends && match_load(&queue.done) < task + 1u) {
      timeouts += match_port_wait() != 0 ? 1u : 0u;
    }
    if (ends) {
      break;
    }
  }
  printf("join %d timeouts %u\n", unit->join(), (unsigned)timeouts);
  print_bytes(result, TASKS);
  print_clocks();
  match_twin_reset();
  unit->stop();
}

/* The unit's context never goes on: everything the host does must end. */
static void hung(const unit_t *unit) {
  printf("start %d\n", unit->start());
  printf("launch %d\n", unit->launch(unit->loop, &queue));
  printf("wait %d\n", match_port_wait());
  printf("join %d\n", unit->join());
  printf("launch %d\n", unit->launch(unit->loop, &queue));
  unit->stop();
}

static void swaps(void) {
  const uint32_t room = match_carfield_twin_store(result, sizeof result);
  const uint32_t bytes = 1000u;
  match_carfield_swap_out(room, home, bytes);
  printf("busy %d\n", match_carfield_swap_busy());
  while (match_carfield_swap_busy() != 0) {
    (void)match_port_wait();
  }
  print_clocks();
  match_carfield_swap_in(result, room, bytes);
  while (match_carfield_swap_busy() != 0) {
    (void)match_port_wait();
  }
  print_bytes(result, 16u);
  printf("same %d\n", memcmp(result, home, bytes));
}

/* ---- faults: what a unit or the host must not do -------------------------------------------------------------------- */



static void wrong_pulp(void *argument) {
  uint8_t *near = l1[CARFIELD_PULP];
  (void)argument;
  if (is("outside")) {
    match_carfield_pulp_copy_in_1d(near + MATCH_CARFIELD_PULP_L1_BYTES - 8u, home, 16u);
  } else if (is("constant")) {
    match_carfield_pulp_copy_out_1d((void *)(uintptr_t)fixed, near, 16u);
  } else if (is("l1-to-l1")) {
    match_carfield_pulp_copy_in_1d(near, near + 64u, 16u);
  } else if (is("counters")) {
    for (uint32_t i = 0u; i < 17u; i++) {
      (void)plp_dma_counter_alloc();
    }
  } else if (is("no-counter")) {
    plp_dma_cmd_push(plp_dma_getCmd(1, 16u, 0, 1, 0, 0), 0u, 0u);
  } else if (is("long")) {
    (void)plp_dma_getCmd(1, 131072u, 0, 1, 0, 0);
  } else if (is("overlap")) {
    match_carfield_pulp_copy_out_2d(home, near, 4u, 16u, 8u);
  } else if (is("no-wait")) {
    match_carfield_pulp_copy_in_1d(near, home, 16u);
  } else if (is("early")) {
    match_carfield_pulp_copy_in_1d(near, home, 16u);
    carfield_check_l1(CARFIELD_PULP, near, 16u, "operand");
  } else if (is("operand")) {
    carfield_check_l1(CARFIELD_PULP, home, 16u, "operand");
  } else if (is("freed")) {
    plp_dma_wait(3u);
  } else if (is("redmule")) {
    (void)MATCH_CARFIELD_READ(0x5020100Cu);
  } else if (is("event")) {
    (void)eu_evt_maskWaitAndClr(1u);
  }
}

static void wrong_team(void *tile) {
  if (rt_core_id() == 1) {
    match_carfield_pulp_copy_in_1d(tile, home, 16u);
  }
}

static void worker_copies(void *argument) {
  (void)argument;
  match_carfield_pulp_team(wrong_team, l1[CARFIELD_PULP]);
}

static void wrong_spatz(void *argument) {
  uint8_t *near = l1[CARFIELD_SPATZ];
  (void)argument;
  if (is("spatz-outside")) {
    match_carfield_spatz_copy_in_1d(result, home, 16u);
  } else if (is("spatz-constant")) {
    match_carfield_spatz_copy_out_1d((void *)(uintptr_t)fixed, near, 16u);
  } else if (is("spatz-overlap")) {
    match_carfield_spatz_copy_out_2d(home, near, 4u, 16u, 8u);
  } else if (is("spatz-no-wait")) {
    match_carfield_spatz_copy_in_1d(near, home, 16u);
  } else if (is("spatz-id")) {
    snrt_dma_wait(77u);
  } else if (is("spatz-mchan")) {
    (void)plp_dma_counter_alloc();
  } else if (is("spatz-barrier")) {
    synch_barrier();
  } else if (is("spatz-vector")) {
    carfield_check_l1(CARFIELD_SPATZ, home, 64u, "vector operand");
  }
}

static void wrong_host(void) {
  if (is("host-dma")) {
    match_carfield_pulp_copy_in_1d(l1[CARFIELD_PULP], home, 16u);
  } else if (is("not-booted")) {
    match_carfield_ring(MATCH_CARFIELD_TO_PULP);
  } else if (is("no-domain")) {
    pulp_cluster_set_bootaddress(64u);
  } else if (is("no-boot-address")) {
    car_enable_domain(CAR_SPATZ_RST);
    match_carfield_ring(MATCH_CARFIELD_TO_SPATZ);
  } else if (is("register")) {
    (void)MATCH_CARFIELD_READ(0x20000000u);
  } else if (is("endless-sleep")) {
    MATCH_CARFIELD_WAKE_BY(MATCH_CARFIELD_MIE_EXTERNAL);
    MATCH_CARFIELD_SLEEP();
  } else if (is("deaf-sleep")) {
    MATCH_CARFIELD_SLEEP();
  } else if (is("two-swaps")) {
    const uint32_t room = match_carfield_twin_store(result, sizeof result);
    match_carfield_swap_out(room, home, 16u);
    match_carfield_swap_out(room, home, 16u);
  } else if (is("swap-outside")) {
    match_carfield_swap_out(0x80100000u, home, 16u);
  } else if (is("no-start")) {
    printf("launch %d\n", match_carfield_pulp_launch(loop_pulp, &queue));
  }
}

static void faults(void) {
  static const struct {
    const char *prefix;
    const unit_t *unit;
    void (*entry)(void *);
  } places[] = {{"spatz-", &units[1], wrong_spatz}, {"worker", &units[0], worker_copies},
                {"pulp-", &units[0], wrong_pulp}};
  for (size_t i = 0u; i < sizeof places / sizeof places[0]; i++) {
    if (strncmp(fault, places[i].prefix, strlen(places[i].prefix)) == 0) {
      fault += places[i].entry == wrong_pulp ? strlen("pulp-") : 0u;
      on_unit(places[i].unit, places[i].entry);
      return;
    }
  }
  wrong_host();
}

int main(int argc, char **argv) {
  if (argc != 4) {
    return 2;
  }
  const unit_t *const unit = &units[strcmp(argv[3], "spatz") == 0 ? 1 : 0];
  const char *const what = argv[2];
  match_twin_configure(argv[1]);
  match_twin_host_clock(MATCH_TWIN_CLOCK_HOST);
  match_twin_signalling(MATCH_CARFIELD_POST_CYCLES, MATCH_CARFIELD_WAKE_CYCLES, MATCH_CARFIELD_NOTIFY_CYCLES,
                        MATCH_CARFIELD_TASK_CYCLES);
  match_twin_queue(&queue.posted, &queue.done);
  l1[CARFIELD_PULP] = match_carfield_twin_l1_pulp(MATCH_CARFIELD_PULP_L1_BYTES);
  l1[CARFIELD_SPATZ] = match_carfield_twin_l1_spatz(MATCH_CARFIELD_SPATZ_L1_BYTES);
  for (size_t i = 0u; i < sizeof home; i++) {
    home[i] = (uint8_t)(i * 7u + i / 256u);
  }
  if (strcmp(what, "copies") == 0) {
    on_unit(unit, unit->copies);
    print_bytes(result, 2048u);
  } else if (strcmp(what, "big") == 0) {
    on_unit(unit, unit->big_copy);
  } else if (strncmp(what, "one-", 4u) == 0) {
    fault = what;
    far = match_carfield_twin_l3(4096u);
    on_unit(unit, unit == units ? one_copy_pulp : one_copy_spatz);
  } else if (strcmp(what, "teams") == 0) {
    on_unit(unit, unit->teams);
    print_bytes(result, 64u);
  } else if (strcmp(what, "twice") == 0) {
    on_unit(unit, unit->teams);
    on_unit(unit, unit->teams);
  } else if (strcmp(what, "session") == 0 || strcmp(what, "cancel") == 0) {
    session(unit, strcmp(what, "cancel") == 0);
  } else if (strcmp(what, "hung") == 0) {
    hung(unit);
  } else if (strcmp(what, "swaps") == 0) {
    printf("start %d\n", unit->start());
    match_twin_reset();
    swaps();
    match_twin_reset();
    unit->stop();
  } else {
    fault = what;
    faults();
  }
  return 0;
}
