/* gap9_cluster.c - power, hand-over of tasks to the cluster controller, performance counter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"
#include "pmsis.h"

static struct {
  bool open;
  bool on_cluster;
} cluster;

bool gap9_on_cluster(void) { return cluster.on_cluster; }

unsigned gap9_clock(void) {
  const unsigned core = gap9_in_team() ? MATCH_TWIN_CLOCK_CLUSTER : MATCH_TWIN_CLOCK_CONTROL;
  return cluster.on_cluster ? core : MATCH_TWIN_CLOCK_HOST;
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
  struct pi_cluster_task task;
  task = *(const struct pi_cluster_task *)argument;
  if (cluster.on_cluster) {
    match_twin_fault("a cluster task was sent while one runs");
  }
  cluster.on_cluster = true;
  gap9_team_begin();
  task.entry(task.arg);
  gap9_team_end();
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
  match_twin_sync(MATCH_TWIN_CLOCK_CONTROL, MATCH_TWIN_CLOCK_HOST);
  run_on_cluster(task);
  match_twin_sync(MATCH_TWIN_CLOCK_HOST, MATCH_TWIN_CLOCK_CONTROL);
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
  match_twin_sync(MATCH_TWIN_CLOCK_CONTROL, MATCH_TWIN_CLOCK_HOST);
  task->ticket = match_twin_defer(run_on_cluster, cluster_task, sizeof *cluster_task);
  task->end_time = match_twin_now(MATCH_TWIN_CLOCK_CONTROL);
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
    task->end_time = match_twin_now(MATCH_TWIN_CLOCK_CONTROL);
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
