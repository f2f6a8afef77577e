/* SPDX-License-Identifier: Apache-2.0 */
/* golden: compiled by match 0.1.0 for gap9 from golden.onnx (sha256 25030fef937030a5).
 * The caller owns all memory. Fill in golden_t, call golden_init once, then golden_run per inference. Several
 * instances may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define GOLDEN_VERSION "0.1.0"
#define GOLDEN_MODEL_SHA256 "25030fef937030a55726a7eeb26e87d7b888162d0fb6f8f5e8dae1d0f41a5469"
#define GOLDEN_PROGRAM_SHA256 "a4888fb5498d66de8e363728a4ad6439522ebc4d59c4d746c3f7d88d0c1d9b84"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define GOLDEN_STACK_BYTES 1792u

/* l1: working memory of the units */
#define GOLDEN_L1_BYTES 104896u
#define GOLDEN_L1_ALIGN 16u
/* l2: activations between layers */
#define GOLDEN_L2_BYTES 238144u
#define GOLDEN_L2_ALIGN 16u

/* input: int8 1x16x61x61, scale 0.05, zero point -128 */
#define GOLDEN_IN_INPUT_ELEMENTS 59536u
#define GOLDEN_IN_INPUT_BYTES 59536u
#define GOLDEN_IN_INPUT_RANK 4u
#define GOLDEN_IN_INPUT_SHAPE {1u, 16u, 61u, 61u}
#define GOLDEN_IN_INPUT_TYPE 3 /* number of the element type in ONNX: int8 */
#define GOLDEN_IN_INPUT_SCALE 0.05f /* real value = (stored - zero point) * scale */
#define GOLDEN_IN_INPUT_ZERO_POINT (-128)
/* q7: int8 1x3x11x11, scale 0.12560573, zero point -18 */
#define GOLDEN_OUT_Q7_ELEMENTS 363u
#define GOLDEN_OUT_Q7_BYTES 363u
#define GOLDEN_OUT_Q7_RANK 4u
#define GOLDEN_OUT_Q7_SHAPE {1u, 3u, 11u, 11u}
#define GOLDEN_OUT_Q7_TYPE 3 /* number of the element type in ONNX: int8 */
#define GOLDEN_OUT_Q7_SCALE 0.12560573f /* real value = (stored - zero point) * scale */
#define GOLDEN_OUT_Q7_ZERO_POINT (-18)

/* Results. */
enum {
    GOLDEN_OK = 0,
    GOLDEN_BUSY = 1,            /* tasks are left */
    GOLDEN_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    GOLDEN_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks or did not end */
    GOLDEN_ERROR_TIMEOUT = -3,  /* no progress for too long */
    GOLDEN_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    GOLDEN_ERROR_STATE = -5,    /* not initialised: before golden_init, after it failed, or after golden_stop */
    GOLDEN_CANCELLED = -6       /* golden_cancel ended the inference */
};

typedef struct {
    /* input: int8 1x16x61x61, scale 0.05, zero point -128 */
    const int8_t *input;
} golden_inputs_t;

typedef struct {
    /* q7: int8 1x3x11x11, scale 0.12560573, zero point -18 */
    int8_t *q7;
} golden_outputs_t;

/* The state of a run. */
typedef struct {
    golden_inputs_t inputs;
    golden_outputs_t outputs;
    const void *owner; /* this state while it is initialised */
    uint32_t next; /* number of the next task */
    int32_t status;
    volatile uint32_t cancelled;
} golden_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    golden_state_t *state;
} golden_t;

/* Checks the arenas, sets up the state, starts the units. If it fails, it stops what it started. The state must be
 * all zero before the first call, as static memory is. */
int golden_init(const golden_t *ctx);

/* One inference; returns when the outputs are written. */
int golden_run(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs);

/* The same in parts: start an inference, continue it (GOLDEN_BUSY while tasks are left), wait for its end. */
int golden_start(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs);
int golden_poll(const golden_t *ctx);
int golden_wait(const golden_t *ctx);

/* Ends a running inference at its next task: golden_poll, golden_wait and golden_run return GOLDEN_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int golden_cancel(const golden_t *ctx);

/* Cancels a running inference and stops the units. */
void golden_stop(const golden_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
