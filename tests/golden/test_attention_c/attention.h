/* SPDX-License-Identifier: Apache-2.0 */
/* attention: compiled by match 0.1.0 for ita from attention.onnx (sha256 9f7a8a9a273d9112).
 * The caller owns all memory. Fill in attention_t, call attention_init once, then attention_run per inference.
 * Several instances may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef ATTENTION_H
#define ATTENTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define ATTENTION_VERSION "0.1.0"
#define ATTENTION_MODEL_SHA256 "9f7a8a9a273d9112a17c80ec7ceb71c2a80491d2a74c53935bd5b82e5da37d5c"
#define ATTENTION_PROGRAM_SHA256 "7317b52dfd0e72d856e5fc78b5952a952f5a6eb42e404bcdce08aecf154e30fc"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define ATTENTION_STACK_BYTES 2048u

/* l1: working memory of the units */
#define ATTENTION_L1_BYTES 64064u
#define ATTENTION_L1_ALIGN 64u
/* l2: activations between layers */
#define ATTENTION_L2_BYTES 47488u
#define ATTENTION_L2_ALIGN 64u

/* x: int8 1x81x64, scale 0.03728957, zero point 0 */
#define ATTENTION_IN_X_ELEMENTS 5184u
#define ATTENTION_IN_X_BYTES 5184u
#define ATTENTION_IN_X_RANK 3u
#define ATTENTION_IN_X_SHAPE {1u, 81u, 64u}
#define ATTENTION_IN_X_TYPE 3 /* number of the element type in ONNX: int8 */
#define ATTENTION_IN_X_SCALE 0.03728957f /* real value = (stored - zero point) * scale */
#define ATTENTION_IN_X_ZERO_POINT 0
/* y: int8 1x81x64, scale 0.05898039, zero point 19 */
#define ATTENTION_OUT_Y_ELEMENTS 5184u
#define ATTENTION_OUT_Y_BYTES 5184u
#define ATTENTION_OUT_Y_RANK 3u
#define ATTENTION_OUT_Y_SHAPE {1u, 81u, 64u}
#define ATTENTION_OUT_Y_TYPE 3 /* number of the element type in ONNX: int8 */
#define ATTENTION_OUT_Y_SCALE 0.05898039f /* real value = (stored - zero point) * scale */
#define ATTENTION_OUT_Y_ZERO_POINT 19

/* Results. */
enum {
    ATTENTION_OK = 0,
    ATTENTION_BUSY = 1,            /* tasks are left */
    ATTENTION_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    ATTENTION_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks or did not end */
    ATTENTION_ERROR_TIMEOUT = -3,  /* no progress for too long */
    ATTENTION_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    ATTENTION_ERROR_STATE = -5,    /* not initialised: before attention_init, after it failed, or after attention_stop */
    ATTENTION_CANCELLED = -6       /* attention_cancel ended the inference */
};

typedef struct {
    /* x: int8 1x81x64, scale 0.03728957, zero point 0 */
    const int8_t *x;
} attention_inputs_t;

typedef struct {
    /* y: int8 1x81x64, scale 0.05898039, zero point 19 */
    int8_t *y;
} attention_outputs_t;

/* The state of a run. */
typedef struct {
    attention_inputs_t inputs;
    attention_outputs_t outputs;
    const void *owner; /* this state while it is initialised */
    uint32_t next; /* number of the next task */
    int32_t status;
    volatile uint32_t cancelled;
} attention_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    attention_state_t *state;
} attention_t;

/* Checks the arenas, sets up the state, starts the units. If it fails, it stops what it started. The state must be
 * all zero before the first call, as static memory is. */
int attention_init(const attention_t *ctx);

/* One inference; returns when the outputs are written. */
int attention_run(const attention_t *ctx, const attention_inputs_t *inputs, const attention_outputs_t *outputs);

/* The same in parts: start an inference, continue it (ATTENTION_BUSY while tasks are left), wait for its end. */
int attention_start(const attention_t *ctx, const attention_inputs_t *inputs, const attention_outputs_t *outputs);
int attention_poll(const attention_t *ctx);
int attention_wait(const attention_t *ctx);

/* Ends a running inference at its next task: attention_poll, attention_wait and attention_run return ATTENTION_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int attention_cancel(const attention_t *ctx);

/* Cancels a running inference and stops the units. */
void attention_stop(const attention_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
