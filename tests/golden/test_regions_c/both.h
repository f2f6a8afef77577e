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

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define BOTH_VERSION "0.1.0"
#define BOTH_MODEL_SHA256 "6feeddc776204f1cef724a07801aa21a1f9504a555bd95d7e094fccc808d8d32"
#define BOTH_PROGRAM_SHA256 "7435e4f721790213f0f134932742c9ed20e3844db0f35b61508346bfc85199f5"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define BOTH_STACK_BYTES 1088u

/* ram: activations between layers */
#define BOTH_RAM_BYTES 384u
#define BOTH_RAM_ALIGN 4u

/* x: float32 4x6 */
#define BOTH_IN_X_ELEMENTS 24u
#define BOTH_IN_X_BYTES 96u
#define BOTH_IN_X_RANK 2u
#define BOTH_IN_X_SHAPE {4u, 6u}
#define BOTH_IN_X_TYPE 1 /* number of the element type in ONNX: float32 */
/* y: float32 4x6 */
#define BOTH_IN_Y_ELEMENTS 24u
#define BOTH_IN_Y_BYTES 96u
#define BOTH_IN_Y_RANK 2u
#define BOTH_IN_Y_SHAPE {4u, 6u}
#define BOTH_IN_Y_TYPE 1 /* number of the element type in ONNX: float32 */
/* early: float32 4x6 */
#define BOTH_OUT_EARLY_ELEMENTS 24u
#define BOTH_OUT_EARLY_BYTES 96u
#define BOTH_OUT_EARLY_RANK 2u
#define BOTH_OUT_EARLY_SHAPE {4u, 6u}
#define BOTH_OUT_EARLY_TYPE 1 /* number of the element type in ONNX: float32 */
/* late: float32 4x6 */
#define BOTH_OUT_LATE_ELEMENTS 24u
#define BOTH_OUT_LATE_BYTES 96u
#define BOTH_OUT_LATE_RANK 2u
#define BOTH_OUT_LATE_SHAPE {4u, 6u}
#define BOTH_OUT_LATE_TYPE 1 /* number of the element type in ONNX: float32 */
/* other: float32 4x6 */
#define BOTH_OUT_OTHER_ELEMENTS 24u
#define BOTH_OUT_OTHER_BYTES 96u
#define BOTH_OUT_OTHER_RANK 2u
#define BOTH_OUT_OTHER_SHAPE {4u, 6u}
#define BOTH_OUT_OTHER_TYPE 1 /* number of the element type in ONNX: float32 */

/* Results. */
enum {
    BOTH_OK = 0,
    BOTH_BUSY = 1,            /* tasks are left */
    BOTH_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    BOTH_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks, failed at one or did not end */
    BOTH_ERROR_TIMEOUT = -3,  /* no progress for too long */
    BOTH_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    BOTH_ERROR_STATE = -5,    /* not initialised: before both_init, after it failed, or after both_stop */
    BOTH_CANCELLED = -6       /* both_cancel ended the inference */
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
    match_address_t owner; /* this state while it is initialised */
    uint32_t seen; /* tasks that were done when the host last looked */
    int32_t status;
    volatile uint32_t cancelled;
} both_state_t;

typedef struct {
    uint8_t *ram;
    both_state_t *state;
} both_t;

/* Checks the arenas, sets up the state, starts the units and loads their regions, which stay loaded until both_stop.
 * If it fails, it stops what it started. The state must be all zero before the first call, as static memory is. */
int both_init(const both_t *ctx);

/* One inference; returns when the outputs are written. */
int both_run(const both_t *ctx, const both_inputs_t *inputs, const both_outputs_t *outputs);

/* The same in parts: start an inference, continue it (BOTH_BUSY while tasks are left), wait for its end. */
int both_start(const both_t *ctx, const both_inputs_t *inputs, const both_outputs_t *outputs);
int both_poll(const both_t *ctx);
int both_wait(const both_t *ctx);

/* Ends a running inference at its next task: both_poll, both_wait and both_run return BOTH_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int both_cancel(const both_t *ctx);

/* Cancels a running inference, unloads the regions and stops the units. */
void both_stop(const both_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
