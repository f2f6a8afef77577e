/* gap9_cluster.c - offload, team of cores and performance counter.
 *
 * The cores of a team are fibers that run one after the other up to the next barrier, in ascending order in eager
 * mode and descending order in lazy mode, so a missing barrier shows. All cores share one clock: kernels charge the
 * time of the busiest core once. SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <ucontext.h>

#include "gap9_twin.h"
#include "pmsis.h"

/* The address sanitizer wants to know about fibers, and its own swapcontext prints a warning: libc's is used. */
#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <string.h>
#define STACK_BYTES (512u * 1024u)

static int switch_context(ucontext_t *from, const ucontext_t *to) {
  static int (*swap)(ucontext_t *, const ucontext_t *);
  if (swap == NULL) {
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = libc != NULL ? dlsym(libc, "swapcontext") : NULL;
    if (symbol == NULL) {
      swap = swapcontext;
    } else {
      memcpy(&swap, &symbol, sizeof swap);
    }
  }
  return swap(from, to);
}
#else
#define STACK_BYTES (128u * 1024u)
#define switch_context swapcontext
#endif

typedef enum { FINISHED, RUNNABLE, AT_BARRIER } core_state_t;

static struct {
  bool open;
  bool on_cluster;
  int team;      /* cores in the running team, 0 outside of forks */
  int prepared;  /* cores of the next preset fork */
  int core;      /* running core of the team */
  void (*entry)(void *);
  void *argument;
  core_state_t state[MATCH_GAP9_CORE_COUNT];
  ucontext_t context[MATCH_GAP9_CORE_COUNT];
  ucontext_t scheduler;
  void *fake_stack[MATCH_GAP9_CORE_COUNT];
  const void *scheduler_stack;
  size_t scheduler_stack_bytes;
} cluster;

static _Alignas(64) uint8_t stacks[MATCH_GAP9_CORE_COUNT][STACK_BYTES];

bool gap9_on_cluster(void) { return cluster.on_cluster; }

unsigned gap9_clock(void) { return cluster.on_cluster ? MATCH_TWIN_CLOCK_CLUSTER : MATCH_TWIN_CLOCK_HOST; }

/* ---- fibers ---------------------------------------------------------------------------------------------- */

static void to_scheduler(void) {
  const int core = cluster.core;
#if defined(__SANITIZE_ADDRESS__)
  const bool dies = cluster.state[core] == FINISHED;
  __sanitizer_start_switch_fiber(dies ? NULL : &cluster.fake_stack[core], cluster.scheduler_stack,
                                 cluster.scheduler_stack_bytes);
#endif
  (void)switch_context(&cluster.context[core], &cluster.scheduler);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(cluster.fake_stack[core], &cluster.scheduler_stack,
                                  &cluster.scheduler_stack_bytes);
#endif
}

static void to_core(int core) {
  cluster.core = core;
#if defined(__SANITIZE_ADDRESS__)
  void *own = NULL;
  __sanitizer_start_switch_fiber(&own, stacks[core], STACK_BYTES);
#endif
  (void)switch_context(&cluster.scheduler, &cluster.context[core]);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, NULL, NULL);
#endif
}

static void core_main(void) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(NULL, &cluster.scheduler_stack, &cluster.scheduler_stack_bytes);
#endif
  cluster.entry(cluster.argument);
  cluster.state[cluster.core] = FINISHED;
  to_scheduler();
}

/* Runs every core up to its next barrier or its end; returns how many wait at the barrier. */
static int run_round(void) {
  const bool descending = match_twin_mode() == MATCH_TWIN_LAZY;
  int waiting = 0;
  for (int i = 0; i < cluster.team; i++) {
    const int core = descending ? cluster.team - 1 - i : i;
    if (cluster.state[core] == RUNNABLE) {
      to_core(core);
    }
    waiting += cluster.state[core] == AT_BARRIER ? 1 : 0;
  }
  return waiting;
}

/* ---- team ------------------------------------------------------------------------------------------------ */

int pi_core_id(void) {
  if (!cluster.on_cluster) {
    return 0;
  }
  return cluster.team > 0 ? cluster.core : (int)MATCH_GAP9_CONTROLLER_CORE_ID;
}

int pi_cl_cluster_nb_cores(void) { return (int)MATCH_GAP9_CORE_COUNT; }

int pi_cl_team_nb_cores(void) { return cluster.team > 0 ? cluster.team : 1; }

void pi_cl_team_prepare_fork(int nb_cores) { cluster.prepared = nb_cores; }

void pi_cl_team_fork(int nb_cores, void (*entry)(void *), void *arg) {
  if (nb_cores != 0) {
    cluster.prepared = nb_cores;
  }
  pi_cl_team_preset_fork(entry, arg);
}

void pi_cl_team_preset_fork(void (*entry)(void *), void *arg) {
  if (!cluster.on_cluster || cluster.team > 0) {
    match_twin_fault("a team can only be forked by the cluster controller, outside of another team");
  }
  if (cluster.prepared < 1 || cluster.prepared > (int)MATCH_GAP9_CORE_COUNT) {
    match_twin_faultf("a team of %d cores; the cluster has %u workers", cluster.prepared, MATCH_GAP9_CORE_COUNT);
  }
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, MATCH_GAP9_TEAM_FORK_CYCLES, "fork");
  cluster.team = cluster.prepared;
  cluster.entry = entry;
  cluster.argument = arg;
  for (int core = 0; core < cluster.team; core++) {
    cluster.state[core] = RUNNABLE;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(stacks[core], STACK_BYTES); /* frames of the last team */
#endif
    (void)getcontext(&cluster.context[core]);
    cluster.context[core].uc_stack.ss_sp = stacks[core];
    cluster.context[core].uc_stack.ss_size = STACK_BYTES;
    cluster.context[core].uc_link = NULL;
    makecontext(&cluster.context[core], core_main, 0);
  }
  for (int waiting = run_round(); waiting > 0; waiting = run_round()) {
    if (waiting != cluster.team) {
      match_twin_faultf("%d cores wait at a barrier that %d others never reach", waiting, cluster.team - waiting);
    }
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, MATCH_GAP9_TEAM_BARRIER_CYCLES, "barrier");
    for (int core = 0; core < cluster.team; core++) {
      cluster.state[core] = RUNNABLE;
    }
  }
  cluster.team = 0;
}

void match_gap9_twin_team_barrier(void) {
  if (cluster.team == 0) {
    match_twin_fault("a team barrier outside of a team");
  }
  cluster.state[cluster.core] = AT_BARRIER;
  to_scheduler();
}

int gap9_enter_kernel(const char *name, uint64_t cycles) {
  if (cluster.team != NUM_CORES || NUM_CORES != (int)MATCH_GAP9_CORE_COUNT) {
    match_twin_faultf("%s: called by a team of %d cores, the library is built for %d", name, cluster.team, NUM_CORES);
  }
  if (cluster.core == 0) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, cycles, name);
  }
  return cluster.core;
}

/* ---- offload --------------------------------------------------------------------------------------------- */

void pi_cluster_conf_init(struct pi_cluster_conf *conf) { *conf = (struct pi_cluster_conf){0}; }

void pi_open_from_conf(struct pi_device *device, void *conf) { device->config = conf; }

int pi_cluster_open(struct pi_device *device) {
  match_twin_name_clock(MATCH_TWIN_CLOCK_HOST, "host");
  match_twin_name_clock(MATCH_TWIN_CLOCK_CLUSTER, "cluster");
  match_twin_name_clock(MATCH_TWIN_CLOCK_NE16, "ne16");
  match_twin_name_clock(MATCH_TWIN_CLOCK_DMA_IN, "dma_in");
  match_twin_name_clock(MATCH_TWIN_CLOCK_DMA_OUT, "dma_out");
  if (device->config == NULL) {
    match_twin_fault("pi_cluster_open before pi_open_from_conf");
  }
  device->data = &cluster;
  cluster.open = true;
  return 0;
}

int pi_cluster_close(struct pi_device *device) {
  if (gap9_dma_in_flight() != 0u) {
    match_twin_faultf("%u DMA transfers were never waited for", (unsigned)gap9_dma_in_flight());
  }
  device->data = NULL;
  cluster.open = false;
  return 0;
}

struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *), void *arg) {
  *task = (struct pi_cluster_task){.entry = entry, .arg = arg};
  return task;
}

static void run_on_cluster(void *argument) {
  struct pi_cluster_task task;
  task = *(const struct pi_cluster_task *)argument;
  if (cluster.on_cluster) {
    match_twin_fault("a cluster task was sent while one runs");
  }
  cluster.on_cluster = true;
  cluster.prepared = (int)MATCH_GAP9_CORE_COUNT;
  task.entry(task.arg);
  cluster.on_cluster = false;
}

static void check_device(const struct pi_device *device) {
  if (!cluster.open || device->data != &cluster) {
    match_twin_fault("a task was sent to a cluster that is not open");
  }
}

int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task) {
  check_device(device);
  match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_GAP9_CLUSTER_OFFLOAD_CYCLES, "offload");
  match_twin_sync(MATCH_TWIN_CLOCK_CLUSTER, MATCH_TWIN_CLOCK_HOST);
  run_on_cluster(task);
  match_twin_sync(MATCH_TWIN_CLOCK_HOST, MATCH_TWIN_CLOCK_CLUSTER);
  return 0;
}

/* A deferred task starts at the fabric controller's time of sending it, whenever it is performed. */
int pi_cluster_send_task_to_cl_async(struct pi_device *device, struct pi_cluster_task *cluster_task,
                                     pi_task_t *task) {
  check_device(device);
  if (!task->armed) {
    match_twin_fault("pi_cluster_send_task_to_cl_async without pi_task_block on its task");
  }
  match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_GAP9_CLUSTER_OFFLOAD_CYCLES, "offload");
  match_twin_sync(MATCH_TWIN_CLOCK_CLUSTER, MATCH_TWIN_CLOCK_HOST);
  task->ticket = match_twin_defer(run_on_cluster, cluster_task, sizeof *cluster_task);
  task->end_time = match_twin_now(MATCH_TWIN_CLOCK_CLUSTER);
  return 0;
}

pi_task_t *pi_task_block(pi_task_t *task) {
  *task = (pi_task_t){.armed = 1};
  return task;
}

void pi_task_wait_on(pi_task_t *task) {
  if (!task->armed || task->ticket == 0u) {
    match_twin_fault("pi_task_wait_on a task that was not sent");
  }
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    match_twin_complete(task->ticket);
    task->end_time = match_twin_now(MATCH_TWIN_CLOCK_CLUSTER);
  }
  match_twin_wait_until(MATCH_TWIN_CLOCK_HOST, task->end_time);
  task->armed = 0;
  task->done = 1;
}

/* ---- performance counter: cycles of the caller's clock ------------------------------------------------------ */

static struct {
  uint64_t start, total;
  bool running;
} counter;

void pi_perf_conf(unsigned int events) { (void)events; }

void pi_perf_reset(void) { counter.start = match_twin_now(gap9_clock()), counter.total = 0u; }

void pi_perf_start(void) { counter.start = match_twin_now(gap9_clock()), counter.running = true; }

void pi_perf_stop(void) {
  if (counter.running) {
    counter.total += match_twin_now(gap9_clock()) - counter.start;
  }
  counter.running = false;
}

unsigned int pi_perf_read(int id) {
  const uint64_t running = counter.running ? match_twin_now(gap9_clock()) - counter.start : 0u;
  if (id != PI_PERF_CYCLES && id != PI_PERF_ACTIVE_CYCLES) {
    match_twin_faultf("performance counter %d is not modelled", id);
  }
  return (unsigned int)(counter.total + running);
}

int32_t pi_freq_set(pi_freq_domain_e domain, uint32_t freq) {
  (void)domain;
  (void)freq;
  return 0;
}
