/* gap9_twin.h - what the GAP9 twin's source files share. Not for emitted programs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_H
#define MATCH_GAP9_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clock numbers of the program, if its build generated them; the timing header has defaults. */
#if defined(__has_include)
#if __has_include("match_twin_clocks.h")
#include "match_twin_clocks.h"
#endif
#endif
#include "match_gap9_timing.h"
#include "match_twin.h"

/* ---- memory (gap9_memory.c) ------------------------------------------------------------------------------ */

extern uint8_t match_gap9_l1[MATCH_GAP9_L1_BYTES];

/* Faults unless [data, data + size) lies in L1 and no DMA copy in flight writes there; `what` names the operand in the
 * message. */
void gap9_check_l1(const void *data, size_t size, const char *what);
/* Host pointer of a 32-bit L1 address; faults unless [address, address + size) lies in L1. */
uint8_t *gap9_l1_pointer(uint32_t address, size_t size, const char *what);
/* The same for units that compute: faults too if a DMA copy in flight writes there. */
uint8_t *gap9_l1_access(uint32_t address, size_t size, const char *what);
bool gap9_is_l1(uint32_t address);

/* ---- cluster (gap9_cluster.c, gap9_team.c) ----------------------------------------------------------------- */

bool gap9_on_cluster(void);
/* The calling thread is one of the cluster from now on. */
void gap9_enter_cluster(void);
/* Whether a worker core runs now. */
bool gap9_in_team(void);
/* The clock of whoever runs now: the workers, their controller, or the fabric controller. A worker that takes it is at
 * its own time. */
unsigned gap9_clock(void);
/* See gap9_clock. */
void gap9_team_settle(void);
/* A task begins: its team is not configured; a task ends: its team has been waited for. */
void gap9_team_begin(void);
void gap9_team_end(void);
/* A task of a sequential program begins: its first NE16 job finds the code of another layer in the cache. */
void gap9_layer_begins(void);
/* Entry of a team kernel: faults outside of a full team; returns the core. */
int gap9_enter_kernel(const char *name);
/* A kernel whose cycles come from a published formula: core 0 charges them. */
void gap9_charge_kernel(const char *name, uint64_t cycles);

/* Cluster DMA commands issued and not waited for (gap9_dma.c). */
uint32_t gap9_dma_in_flight(void);
/* Faults if one of them writes to these bytes of L1; `what` names who touches them. */
void gap9_dma_check_idle(const void *data, size_t size, const char *what);

/* ---- published cycle formulas (gap9_cost.c), equal to match_gap9.formulas ---------------------------------------- */

typedef struct {
  uint32_t out_y, out_x, k_out, c_in, kernel_y, kernel_x;
} gap9_conv_shape_t;

uint64_t gap9_cost_conv(const gap9_conv_shape_t *shape);
uint64_t gap9_cost_pointwise(const gap9_conv_shape_t *shape);
uint64_t gap9_cost_depthwise(const gap9_conv_shape_t *shape, uint32_t in_y);
uint64_t gap9_cost_linear(uint32_t c_in, uint32_t k_out);

/* An NE16 job as its registers say it. */
typedef enum { GAP9_NE16_3X3 = 0, GAP9_NE16_DEPTHWISE = 1, GAP9_NE16_1X1 = 2 } gap9_ne16_mode_t;

typedef struct {
  gap9_ne16_mode_t mode;
  uint32_t tiles_ko, tiles_ki, tiles_ho, tiles_wo;
  uint32_t rem_ko, rem_ki, rem_ho, rem_wo, rem_hi, rem_wi; /* sizes in the last tile, never 0 */
  uint32_t weight_bits, scale_bits, out_bits;              /* scale_bits 0: no requantisation */
  bool bias, shift;
} gap9_ne16_job_t;

uint64_t gap9_cost_ne16(const gap9_ne16_job_t *job);
/* Acquiring a context of NE16, writing so many words of a job, starting it. */
uint64_t gap9_cost_ne16_program(uint32_t words);

/* Waits for a request of the fabric controller to the external RAM (gap9_store.c). */
struct pi_task;
void gap9_ram_wait(struct pi_task *task);
/* Cycles a request occupies the link to the external RAM. */
uint64_t gap9_cost_l3(uint32_t size);
/* Cycles a command occupies its channel; rows = 1 and strided = false for a 1-D command. */
uint64_t gap9_cost_dma(uint32_t rows, uint32_t row_bytes, bool inwards, bool strided, uint32_t l1_offset);

#endif
