/* SPDX-License-Identifier: Apache-2.0 */
/* both: compiled by match 0.1.0 for beside_chip from both.onnx (sha256 6feeddc776204f1c).
 * The caller owns all memory. Fill in both_t, call both_init once, then both_run per inference. Several instances
 * may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef BOTH_H
#define BOTH_H

#include <stdint.h>
#include "match_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ram: activations between layers */
#define BOTH_RAM_BYTES 384u
#define BOTH_RAM_ALIGN 4u

/* Results. */
enum {
    BOTH_OK = 0,
    BOTH_BUSY = 1,          /* tasks are left */
    BOTH_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
    BOTH_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks, failed at one or did not end */
    BOTH_ERROR_TIMEOUT = -3 /* no progress for too long */
};

typedef struct {
    /* x: float32 4x6 */
    const float *x;
    /* y: float32 4x6 */
    const float *y;
} both_inputs_t;

typedef struct {
    /* early: float32 4x6 */
    float *early;
    /* late: float32 4x6 */
    float *late;
    /* other: float32 4x6 */
    float *other;
} both_outputs_t;

/* The state of a run that the host and the units share, in ram. */
typedef struct {
    match_queue_t queue[2]; /* host, engine */
    struct {
        MATCH_ALIGN uint32_t failed; /* written by the unit that runs the region, before it counts the task */
    } region_result[2];
    match_address_t base[7]; /* arenas, inputs and outputs, written before the units begin */
    match_address_t region_handle[2];
    match_address_t regions_of; /* this state while its regions are loaded */
    uint32_t seen;     /* tasks that were done when the host last looked */
    int32_t status;
} both_state_t;

typedef struct {
    uint8_t *ram;
    both_state_t *state;
} both_t;

/* Checks the arenas, sets up the state, starts the units and loads their regions, which stay loaded until both_stop.
 * The state must be all zero before the first call, as static memory is. */
int both_init(const both_t *ctx);

/* One inference; returns when the outputs are written. */
int both_run(const both_t *ctx, const both_inputs_t *inputs, const both_outputs_t *outputs);

/* The same in parts: start an inference, continue it (BOTH_BUSY while tasks are left), wait for its end. */
int both_start(const both_t *ctx, const both_inputs_t *inputs, const both_outputs_t *outputs);
int both_poll(const both_t *ctx);
int both_wait(const both_t *ctx);

/* Cancels a running inference, unloads the regions and stops the units. */
void both_stop(const both_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
