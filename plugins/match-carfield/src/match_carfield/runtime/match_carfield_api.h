/* match_carfield_api.h - how emitted programs call Carfield, host and clusters. No SDK is needed to read it, so that the
 * images of all three processors share it. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_API_H
#define MATCH_CARFIELD_API_H

#include <stdint.h>

#include "match_carfield_dma.h"
#include "match_carfield_half_kernels.h"
#include "match_carfield_int8.h"
#include "match_carfield_int8.h"
#include "match_runtime.h"

/* ---- host: clusters; 0 on success --------------------------------------------------------------------------------- */

/* Domain on and boot; calls are counted, the last stop ends the unit's main. */
int match_carfield_pulp_start(void);
void match_carfield_pulp_stop(void);
int match_carfield_spatz_start(void);
void match_carfield_spatz_stop(void);

/* Hands entry(argument) to core 0 and returns at once; refused while the last one has not returned. */
int match_carfield_pulp_launch(void (*entry)(void *), void *argument);
int match_carfield_spatz_launch(void (*entry)(void *), void *argument);
/* 0 once it has returned, another number if it does not within a bounded time. */
int match_carfield_pulp_join(void);
int match_carfield_spatz_join(void);
/* Launch, and return when entry has returned. */
int match_carfield_pulp_call(void (*entry)(void *), void *argument);
int match_carfield_spatz_call(void (*entry)(void *), void *argument);
/* Doorbells: the unit looks at its counter. */
void match_carfield_pulp_signal(void);
void match_carfield_spatz_signal(void);

/* ---- units: tasks (docs/programs.md) ------------------------------------------------------------------------------- */

int match_carfield_pulp_wait(const match_queue_t *queue, uint32_t count);
void match_carfield_pulp_notify(void);
int match_carfield_spatz_wait(const match_queue_t *queue, uint32_t count);
void match_carfield_spatz_notify(void);

/* ---- units: copies between L2 (far, strided) and L1 (near, dense); asynchronous until the unit's copy_wait --------- */

void match_carfield_pulp_copy_in_1d(void *near, const void *far, uint32_t bytes);
void match_carfield_pulp_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride);
void match_carfield_pulp_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride, uint32_t plane_stride);
void match_carfield_pulp_copy_out_1d(void *far, const void *near, uint32_t bytes);
void match_carfield_pulp_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride);
void match_carfield_pulp_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride, uint32_t plane_stride);
void match_carfield_pulp_copy_wait(void);

void match_carfield_spatz_copy_in_1d(void *near, const void *far, uint32_t bytes);
void match_carfield_spatz_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride);
void match_carfield_spatz_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride, uint32_t plane_stride);
void match_carfield_spatz_copy_out_1d(void *far, const void *near, uint32_t bytes);
void match_carfield_spatz_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                      uint32_t row_stride);
void match_carfield_spatz_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                      uint32_t row_stride, uint32_t plane_stride);
void match_carfield_spatz_copy_wait(void);

#endif
