/* gap9_cluster.c - power, hand-over of tasks to the cluster controller, performance counter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"
#include "match_twin_context.h"
#include "pmsis.h"

static struct {
  bool open;
  bool busy; /* the controller runs a task */
} cluster;

static _Thread_local bool on_cluster;

bool gap9_on_cluster(void) { return on_cluster; }

void gap9_enter_cluster(void) { on_cluster = true; }

unsigned gap9_clock(void) {
  if (gap9_in_team()) {
    gap9_team_settle();
    return MATCH_TWIN_CLOCK_CLUSTER;
  }
  return on_cluster ? MATCH_TWIN_CLOCK_CONTROL : MATCH_TWIN_CLOCK_HOST;
}

/* ---- offload --------------------------------------------------------------------------------------------- */

void pi_cluster_conf_init(struct pi_cluster_conf *conf) { *conf = (struct pi_cluster_conf){0}; }

void pi_open_from_conf(struct pi_device *device, void *conf) { device->config = conf; }

int pi_cluster_open(struct pi_device *device) {
  match_twin_name_clock(MATCH_TWIN_CLOCK_HOST, "host");
  match_twin_name_clock(MATCH_TWIN_CLOCK_CONTROL, "control");
  match_twin_name_clock(MATCH_TWIN_CLOCK_CLUSTER, "cluster");
  match_twin_name_clock(MATCH_TWIN_CLOCK_NE16, "ne16");
  match_twin_name_clock(MATCH_TWIN_CLOCK_DMA_IN, "dma_in");
  match_twin_name_clock(MATCH_TWIN_CLOCK_DMA_OUT, "dma_out");
  match_twin_name_clock(MATCH_TWIN_CLOCK_L3, "l3");
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
  const struct pi_cluster_task *task = argument;
  gap9_enter_cluster();
  gap9_team_begin();
  task->entry(task->arg);
  gap9_team_end();
  on_cluster = false;
}

/* The fabric controller has sent a task. */
static void send(void) {
  if (cluster.busy || on_cluster) {
    match_twin_fault("a cluster task was sent while one runs");
  }
  cluster.busy = true;
  match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_GAP9_CLUSTER_OFFLOAD_CYCLES, "offload");
}

static void check_device(const struct pi_device *device) {
  if (!cluster.open || device->data != &cluster) {
    match_twin_fault("a task was sent to a cluster that is not open");
  }
}

/* The caller's thread runs the task itself, on the controller's clock. */
int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task) {
  check_device(device);
  send();
  gap9_layer_begins();
  match_twin_sync(MATCH_TWIN_CLOCK_CONTROL, MATCH_TWIN_CLOCK_HOST);
  (void)match_twin_use_clock(MATCH_TWIN_CLOCK_CONTROL);
  run_on_cluster(task);
  (void)match_twin_use_clock(MATCH_TWIN_CLOCK_HOST);
  match_twin_sync(MATCH_TWIN_CLOCK_HOST, MATCH_TWIN_CLOCK_CONTROL);
  cluster.busy = false;
  return 0;
}

/* The controller is a context of its own until the task is waited for. */
int pi_cluster_send_task_to_cl_async(struct pi_device *device, struct pi_cluster_task *cluster_task,
                                     pi_task_t *task) {
  check_device(device);
  if (!task->armed) {
    match_twin_fault("pi_cluster_send_task_to_cl_async without pi_task_block on its task");
  }
  send();
  match_twin_sync(MATCH_TWIN_CLOCK_CONTROL, MATCH_TWIN_CLOCK_HOST);
  task->context = match_twin_start_job("ne16", MATCH_TWIN_CLOCK_CONTROL, run_on_cluster, cluster_task);
  return 0;
}

pi_task_t *pi_task_block(pi_task_t *task) {
  *task = (pi_task_t){.armed = 1};
  return task;
}

void pi_task_wait_on(pi_task_t *task) {
  if (task->armed && task->ticket != 0u) {
    gap9_ram_wait(task);
    return;
  }
  if (!task->armed || task->context == 0u) {
    match_twin_fault("pi_task_wait_on a task that was not sent");
  }
  match_twin_join(task->context);
  cluster.busy = false;
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
