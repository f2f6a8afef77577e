/* gap9_store.c - the external RAM (L3): allocation and writing by the fabric controller, reading into L2 on request of
 * the cluster, both on request of the fabric controller. Requests queue on one clock.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gap9_twin.h"
#include "pmsis.h"

static struct {
  uint8_t bytes[MATCH_GAP9_L3_BYTES];
  uint32_t used; /* allocated from the start; nothing is given back */
} ram;

typedef struct {
  uint8_t *to;
  const uint8_t *from;
  uint32_t size;
} read_t;

void pi_default_ram_conf_init(struct pi_default_ram_conf *conf) { *conf = (struct pi_default_ram_conf){0}; }

int32_t pi_ram_open(struct pi_device *device) {
  if (device->config == NULL) {
    match_twin_fault("pi_ram_open before pi_open_from_conf");
  }
  device->data = &ram;
  return 0;
}

void pi_ram_close(struct pi_device *device) { device->data = NULL; }

static void check_open(const struct pi_device *device) {
  if (device->data != &ram) {
    match_twin_fault("the external RAM is used before pi_ram_open");
  }
}

/* Host pointer of a block that lies in what was allocated. */
static uint8_t *inside(uint32_t address, uint32_t size) {
  if (size == 0u || address > ram.used || size > ram.used - address) {
    match_twin_faultf("external RAM: %u bytes at %u; %u are allocated", (unsigned)size, (unsigned)address,
                      (unsigned)ram.used);
  }
  return &ram.bytes[address];
}

int pi_ram_alloc(struct pi_device *device, uint32_t *addr, uint32_t size) {
  check_open(device);
  const uint32_t wanted = (size + 15u) / 16u * 16u;
  if (size == 0u || wanted > sizeof ram.bytes - ram.used) {
    return -1;
  }
  *addr = ram.used;
  ram.used += wanted;
  return 0;
}

void pi_ram_write(struct pi_device *device, uint32_t pi_ram_addr, void *data, uint32_t size) {
  check_open(device);
  memcpy(inside(pi_ram_addr, size), data, size);
}

static void perform(void *argument) {
  read_t request;
  memcpy(&request, argument, sizeof request);
  memcpy(request.to, request.from, request.size);
}

/* A request of the fabric controller. Its bytes may move at any time until the wait. */
static void request(struct pi_device *device, uint8_t *to, const uint8_t *from, const void *home, uint32_t size,
                    pi_task_t *task) {
  check_open(device);
  if (gap9_on_cluster()) {
    match_twin_fault("pi_ram_read_async or pi_ram_write_async was called on the cluster");
  }
  if (gap9_is_l1((uint32_t)(uintptr_t)home)) {
    match_twin_fault("the external RAM cannot be copied from or to L1");
  }
  if (!task->armed) {
    match_twin_fault("a request to the external RAM without pi_task_block on its task");
  }
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    memset(to, MATCH_TWIN_POISON, size);
  }
  const read_t move = {.to = to, .from = from, .size = size};
  match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_GAP9_L3_ISSUE_CYCLES, "l3 request");
  task->end_time = match_twin_issue_kind(MATCH_TWIN_CLOCK_HOST, MATCH_TWIN_CLOCK_L3, gap9_cost_l3(size), "l3 copy");
  task->ticket = match_twin_defer(perform, &move, sizeof move);
}

void pi_ram_read_async(struct pi_device *device, uint32_t pi_ram_addr, void *data, uint32_t size, pi_task_t *task) {
  request(device, data, inside(pi_ram_addr, size), data, size, task);
}

void pi_ram_write_async(struct pi_device *device, uint32_t pi_ram_addr, void *data, uint32_t size, pi_task_t *task) {
  request(device, inside(pi_ram_addr, size), data, data, size, task);
}

void gap9_ram_wait(pi_task_t *task) {
  match_twin_complete(task->ticket);
  task->ticket = 0u;
  task->armed = 0;
  task->done = 1;
  if (match_twin_now(MATCH_TWIN_CLOCK_HOST) < task->end_time) {
    match_twin_wait_until(MATCH_TWIN_CLOCK_HOST, task->end_time);
    match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_GAP9_L3_WAIT_CYCLES, "l3 wait");
  }
}

void pi_cl_ram_read(struct pi_device *device, uint32_t pi_ram_addr, void *addr, uint32_t size, pi_cl_ram_req_t *req) {
  check_open(device);
  if (!gap9_on_cluster()) {
    match_twin_fault("pi_cl_ram_read was called by the fabric controller");
  }
  if (gap9_is_l1((uint32_t)(uintptr_t)addr)) {
    match_twin_fault("the external RAM cannot be read into L1");
  }
  const read_t request = {.to = addr, .from = inside(pi_ram_addr, size), .size = size};
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    memset(addr, MATCH_TWIN_POISON, size);
  }
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_L3_ISSUE_CYCLES, "l3 request");
  req->end_time = match_twin_issue_kind(gap9_clock(), MATCH_TWIN_CLOCK_L3, gap9_cost_l3(size), "l3 copy");
  req->ticket = match_twin_defer(perform, &request, sizeof request);
}

void pi_cl_ram_read_wait(pi_cl_ram_req_t *req) {
  if (req->ticket == 0u) {
    match_twin_fault("a wait for a request to the external RAM that was not issued, or was waited for already");
  }
  match_twin_complete(req->ticket);
  req->ticket = 0u;
  if (match_twin_now(gap9_clock()) < req->end_time) {
    match_twin_wait_until(gap9_clock(), req->end_time);
    match_twin_spend_kind(gap9_clock(), MATCH_GAP9_L3_WAIT_CYCLES, "l3 wait");
  }
}
