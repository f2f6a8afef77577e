/* carfield_twin.h - what the Carfield twin's source files share. Not for emitted programs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_TWIN_H
#define MATCH_CARFIELD_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clock numbers of the program, if its build generated them; the timing header has defaults. */
#if defined(__has_include)
#if __has_include("match_twin_clocks.h")
#include "match_twin_clocks.h"
#endif
#endif
#include "match_carfield_timing.h"
#include "match_twin.h"
#include "match_twin_context.h"

typedef enum { CARFIELD_PULP = 0, CARFIELD_SPATZ = 1, CARFIELD_UNITS = 2 } carfield_unit_t;

/* ---- units (carfield_units.c) ------------------------------------------------------------------------------- */

const char *carfield_name(carfield_unit_t unit);
unsigned carfield_clock(carfield_unit_t unit);
/* Whether the running context is the unit's. */
bool carfield_on(carfield_unit_t unit);
/* Faults unless core 0 of the unit runs; `what` names the caller. */
void carfield_check_core(carfield_unit_t unit, const char *what);
/* Runs entry as the unit's context; the host calls it. */
void carfield_begin(carfield_unit_t unit, int (*serve)(void));
/* Whether its context has not ended; and whether its main has returned. */
bool carfield_is_running(carfield_unit_t unit);
bool carfield_has_exited(carfield_unit_t unit);
/* The host saw the unit's last letter: waits for the end of the context. */
void carfield_settle(carfield_unit_t unit);

/* ---- cores of a cluster (carfield_team.c) ------------------------------------------------------------------------ */

uint32_t carfield_core(carfield_unit_t unit);
/* Of the running core: goes on when all cores of the unit are there. Core 0 spends `cycles`. */
void carfield_barrier(carfield_unit_t unit, uint64_t cycles);
/* A context of the unit begins (the other cores wait for core 0) or ends. `follow` is what the other cores run. */
void carfield_team_begin(carfield_unit_t unit, void (*follow)(void));
void carfield_team_end(carfield_unit_t unit);

/* ---- memory (carfield_memory.c) ------------------------------------------------------------------------------------ */

bool carfield_in_l1(carfield_unit_t unit, const void *data, size_t bytes);
/* Faults unless the bytes lie in the unit's L1 and no copy in flight writes there; `what` names the operand. */
void carfield_check_l1(carfield_unit_t unit, const void *data, size_t bytes, const char *what);
/* Host pointer of an L1 address; faults as above. */
uint8_t *carfield_l1_pointer(carfield_unit_t unit, uint32_t address, size_t bytes, const char *what);
/* Host pointer of bytes in DRAM; faults outside of what was given out. */
uint8_t *carfield_dram(uint64_t address, size_t bytes);
bool carfield_is_dram(uint64_t address);
/* Whether these bytes of this machine stand for DRAM; faults outside of what was given out. */
bool carfield_in_dram(const void *data, size_t bytes);

/* ---- copies of the clusters (carfield_transfer.c) ----------------------------------------------------------------- */

typedef struct {
  uint8_t *to;
  const uint8_t *from;
  size_t to_stride, from_stride;
  uint32_t rows, row_bytes;
  bool inwards;
} carfield_copy_t;

/* Cycles of the data of `bytes` between L1 and `outer` at `per_cycle`; DRAM is slower and far away. */
uint64_t carfield_data_cycles(const void *outer, uint64_t bytes, uint64_t per_cycle);
/* Issues a copy that the unit's core waits for by `id`; `cycles` are those of its direction of the DMA. */
void carfield_transfer(carfield_unit_t unit, const carfield_copy_t *copy, uint64_t cycles, uint32_t id);
/* Waits for the copies with this id (all: CARFIELD_ALL); false if there is none. A core that had to wait spends `cycles`. */
#define CARFIELD_ALL UINT32_MAX
bool carfield_finish(carfield_unit_t unit, uint32_t id, uint64_t cycles);
void carfield_check_idle(carfield_unit_t unit, const void *data, size_t bytes, const char *what);
uint32_t carfield_in_flight(carfield_unit_t unit);

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* Core 0, before the other cores start: the unit is busy for so long. */
void carfield_kernel(carfield_unit_t unit, const char *name, uint64_t cycles);

/* Doorbells of the twin. */
enum { CARFIELD_BELL_HOST = 0, CARFIELD_BELL_PULP = 1, CARFIELD_BELL_SPATZ = 2 };

#endif
