/* pmsis.h - the part of the PMSIS interface that emitted programs call, implemented by the GAP9 twin.
 *
 * Names, parameter orders and types follow the public PMSIS headers, so a program that compiles here compiles
 * against the SDK. Addresses are 32 bits as on the chip: write (uint32_t)(uintptr_t)pointer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_PMSIS_H
#define MATCH_GAP9_TWIN_PMSIS_H

#include <stddef.h>
#include <stdint.h>

#include "match_gap9_charge.h"

/* Worker cores of the cluster. The SDK's build passes this macro; pulp-nn depends on it being a power of two. */
#ifndef NUM_CORES
#define NUM_CORES 8
#endif

/* Section attributes of the SDK; the host linker needs none. */
#define PI_L1
#define PI_L2

/* ---- devices and cluster --------------------------------------------------------------------------------- */

struct pi_device {
  void *config;
  void *data;
};
typedef struct pi_device pi_device_t;

struct pi_cluster_conf {
  int id;
  uint32_t cc_stack_size;
};
typedef struct pi_cluster_conf pi_cluster_conf_t;

struct pi_cluster_task {
  void (*entry)(void *arg);
  void *arg;
  void *stacks;
  uint32_t stack_size;
  uint32_t slave_stack_size;
  int nb_cores;
};
typedef struct pi_cluster_task pi_cluster_task_t;

typedef struct pi_task {
  uint32_t context; /* of the cluster controller while it runs the task */
  int done;
  int armed;
  uint64_t ticket, end_time; /* of a request to the external RAM */
} pi_task_t;

void pi_cluster_conf_init(struct pi_cluster_conf *conf);
void pi_open_from_conf(struct pi_device *device, void *conf);
int pi_cluster_open(struct pi_device *device);
int pi_cluster_close(struct pi_device *device);
struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *), void *arg);
int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task);
int pi_cluster_send_task_to_cl_async(struct pi_device *device, struct pi_cluster_task *cluster_task,
                                     pi_task_t *task);
pi_task_t *pi_task_block(pi_task_t *task);
void pi_task_wait_on(pi_task_t *task);

/* ---- team ------------------------------------------------------------------------------------------------ */

int pi_core_id(void);
int pi_cl_team_nb_cores(void);
void pi_cl_team_fork(int nb_cores, void (*entry)(void *), void *arg);
void pi_cl_team_preset_fork(void (*entry)(void *), void *arg);
/* GAP9: the team runs beside the controller until the wait; the configuration lasts until the task ends. */
void pi_team_config_offload(int nb_cores);
void pi_team_offload_preset(void (*entry)(void *), void *arg);
void pi_team_offload_wait(void);
/* Declared without a prototype in the SDK and called both with and without an argument. */
#define pi_cl_team_barrier(...) match_gap9_twin_team_barrier()
void match_gap9_twin_team_barrier(void);

/* ---- memory ---------------------------------------------------------------------------------------------- */

void *pi_l1_malloc(struct pi_device *device, uint32_t size);
void pi_l1_free(struct pi_device *device, void *chunk, int size);
void *pi_cl_l1_malloc(struct pi_device *device, uint32_t size);
void pi_cl_l1_free(struct pi_device *device, void *chunk, int size);

/* ---- cluster DMA ----------------------------------------------------------------------------------------- */

typedef enum { PI_CL_DMA_DIR_LOC2EXT = 0, PI_CL_DMA_DIR_EXT2LOC = 1 } pi_cl_dma_dir_e;

/* `merge` 1: the command shares the transfer that the DMA's port began last, whichever core began it; waiting for that
 * one waits for both. */
struct pi_cl_dma_copy_s {
  uint32_t ext, loc;
  uint32_t id;
  uint16_t size;
  pi_cl_dma_dir_e dir;
  uint8_t merge;
  uint32_t stride, length; /* of 2-D copies */
};
typedef struct pi_cl_dma_copy_s pi_cl_dma_copy_t;
typedef struct pi_cl_dma_copy_s pi_cl_dma_copy_2d_t;

void pi_cl_dma_memcpy(pi_cl_dma_copy_t *copy);
void pi_cl_dma_memcpy_2d(pi_cl_dma_copy_2d_t *copy);
void pi_cl_dma_wait(void *copy);
void pi_cl_dma_flush(void);

/* ---- external RAM: in the SDK in bsp/ram.h ----------------------------------------------------------------- */

struct pi_default_ram_conf {
  uint32_t baudrate;
};

struct pi_cl_ram_req_s {
  uint64_t ticket, end_time;
};
typedef struct pi_cl_ram_req_s pi_cl_ram_req_t;

void pi_default_ram_conf_init(struct pi_default_ram_conf *conf);
int32_t pi_ram_open(struct pi_device *device);
void pi_ram_close(struct pi_device *device);
int pi_ram_alloc(struct pi_device *device, uint32_t *addr, uint32_t size);
void pi_ram_write(struct pi_device *device, uint32_t pi_ram_addr, void *data, uint32_t size);
void pi_ram_read_async(struct pi_device *device, uint32_t pi_ram_addr, void *data, uint32_t size, pi_task_t *task);
void pi_ram_write_async(struct pi_device *device, uint32_t pi_ram_addr, void *data, uint32_t size, pi_task_t *task);
void pi_cl_ram_read(struct pi_device *device, uint32_t pi_ram_addr, void *addr, uint32_t size, pi_cl_ram_req_t *req);
void pi_cl_ram_read_wait(pi_cl_ram_req_t *req);

/* ---- performance counters and clocks --------------------------------------------------------------------- */

typedef enum { PI_PERF_CYCLES = 0, PI_PERF_ACTIVE_CYCLES = 1, PI_PERF_INSTR = 2 } pi_perf_event_e;

void pi_perf_conf(unsigned int events);
void pi_perf_reset(void);
void pi_perf_start(void);
void pi_perf_stop(void);
unsigned int pi_perf_read(int id);

typedef enum { PI_FREQ_DOMAIN_FC = 0, PI_FREQ_DOMAIN_CL = 1, PI_FREQ_DOMAIN_PERIPH = 2 } pi_freq_domain_e;
int32_t pi_freq_set(pi_freq_domain_e domain, uint32_t freq);

#endif
