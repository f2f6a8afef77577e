/* SPDX-License-Identifier: Apache-2.0 */
/* whole: compiled by match 0.1.0 for engine_chip from whole.onnx (sha256 6feeddc776204f1c).
 * The caller owns all memory. Fill in whole_t, call whole_init once, then whole_run per inference. Several instances
 * may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define WHOLE_VERSION "0.1.0"
#define WHOLE_MODEL_SHA256 "6feeddc776204f1cef724a07801aa21a1f9504a555bd95d7e094fccc808d8d32"
#define WHOLE_PROGRAM_SHA256 "5dee68c78c0459dc211c8822326bf7daf0bd373dd0cbbded4824d8ef4d4daafc"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define WHOLE_STACK_BYTES 1088u

/* ram: activations between layers */
#define WHOLE_RAM_BYTES 288u
#define WHOLE_RAM_ALIGN 4u

/* x: float32 4x6 */
#define WHOLE_IN_X_ELEMENTS 24u
#define WHOLE_IN_X_BYTES 96u
#define WHOLE_IN_X_RANK 2u
#define WHOLE_IN_X_SHAPE {4u, 6u}
#define WHOLE_IN_X_TYPE 1 /* number of the element type in ONNX: float32 */
/* y: float32 4x6 */
#define WHOLE_IN_Y_ELEMENTS 24u
#define WHOLE_IN_Y_BYTES 96u
#define WHOLE_IN_Y_RANK 2u
#define WHOLE_IN_Y_SHAPE {4u, 6u}
#define WHOLE_IN_Y_TYPE 1 /* number of the element type in ONNX: float32 */
/* early: float32 4x6 */
#define WHOLE_OUT_EARLY_ELEMENTS 24u
#define WHOLE_OUT_EARLY_BYTES 96u
#define WHOLE_OUT_EARLY_RANK 2u
#define WHOLE_OUT_EARLY_SHAPE {4u, 6u}
#define WHOLE_OUT_EARLY_TYPE 1 /* number of the element type in ONNX: float32 */
/* late: float32 4x6 */
#define WHOLE_OUT_LATE_ELEMENTS 24u
#define WHOLE_OUT_LATE_BYTES 96u
#define WHOLE_OUT_LATE_RANK 2u
#define WHOLE_OUT_LATE_SHAPE {4u, 6u}
#define WHOLE_OUT_LATE_TYPE 1 /* number of the element type in ONNX: float32 */
/* other: float32 4x6 */
#define WHOLE_OUT_OTHER_ELEMENTS 24u
#define WHOLE_OUT_OTHER_BYTES 96u
#define WHOLE_OUT_OTHER_RANK 2u
#define WHOLE_OUT_OTHER_SHAPE {4u, 6u}
#define WHOLE_OUT_OTHER_TYPE 1 /* number of the element type in ONNX: float32 */

/* Results. */
enum {
    WHOLE_OK = 0,
    WHOLE_BUSY = 1,            /* tasks are left */
    WHOLE_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    WHOLE_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks, failed at one or did not end */
    WHOLE_ERROR_TIMEOUT = -3,  /* no progress for too long */
    WHOLE_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    WHOLE_ERROR_STATE = -5,    /* not initialised: before whole_init, after it failed, or after whole_stop */
    WHOLE_CANCELLED = -6       /* whole_cancel ended the inference */
};

typedef struct {
    /* x: float32 4x6 */
    const float *x;
    /* y: float32 4x6 */
    const float *y;
} whole_inputs_t;

typedef struct {
    /* early: float32 4x6 */
    float *early;
    /* late: float32 4x6 */
    float *late;
    /* other: float32 4x6 */
    float *other;
} whole_outputs_t;

/* The state of a run. */
typedef struct {
    whole_inputs_t inputs;
    whole_outputs_t outputs;
    void *region_handle[2];
    const void *owner; /* this state while it is initialised */
    uint32_t next; /* number of the next task */
    int32_t status;
    volatile uint32_t cancelled;
} whole_state_t;

typedef struct {
    uint8_t *ram;
    whole_state_t *state;
} whole_t;

/* Checks the arenas, sets up the state, starts the units and loads their regions, which stay loaded until
 * whole_stop. If it fails, it stops what it started. The state must be all zero before the first call, as static
 * memory is. */
int whole_init(const whole_t *ctx);

/* One inference; returns when the outputs are written. */
int whole_run(const whole_t *ctx, const whole_inputs_t *inputs, const whole_outputs_t *outputs);

/* The same in parts: start an inference, continue it (WHOLE_BUSY while tasks are left), wait for its end. */
int whole_start(const whole_t *ctx, const whole_inputs_t *inputs, const whole_outputs_t *outputs);
int whole_poll(const whole_t *ctx);
int whole_wait(const whole_t *ctx);

/* Ends a running inference at its next task: whole_poll, whole_wait and whole_run return WHOLE_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int whole_cancel(const whole_t *ctx);

/* Cancels a running inference, unloads the regions and stops the units. */
void whole_stop(const whole_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
