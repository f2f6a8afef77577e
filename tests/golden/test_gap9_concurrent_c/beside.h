/* SPDX-License-Identifier: Apache-2.0 */
/* beside: compiled by match 0.1.0 for gap9 from beside.onnx (sha256 7afb08fe656c1a53).
 * The caller owns all memory. Fill in beside_t, call beside_init once, then beside_run per inference. Several
 * instances may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef BESIDE_H
#define BESIDE_H

#include <stdint.h>
#include "match_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define BESIDE_VERSION "0.1.0"
#define BESIDE_MODEL_SHA256 "7afb08fe656c1a53f422771d9763639b79defd965d1ca62cbfa6c46724e743ec"
#define BESIDE_PROGRAM_SHA256 "2e30892071fd378496fb413f4afb68bdb4f661011bd5688491e1ca55f189d8e6"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define BESIDE_STACK_BYTES 1792u

/* l1: working memory of the units */
#define BESIDE_L1_BYTES 81408u
#define BESIDE_L1_ALIGN 16u
/* l2: activations between layers */
#define BESIDE_L2_BYTES 36864u
#define BESIDE_L2_ALIGN 16u

/* input: int8 1x16x24x24, scale 0.05, zero point -128 */
#define BESIDE_IN_INPUT_ELEMENTS 9216u
#define BESIDE_IN_INPUT_BYTES 9216u
#define BESIDE_IN_INPUT_RANK 4u
#define BESIDE_IN_INPUT_SHAPE {1u, 16u, 24u, 24u}
#define BESIDE_IN_INPUT_TYPE 3 /* number of the element type in ONNX: int8 */
#define BESIDE_IN_INPUT_SCALE 0.05f /* real value = (stored - zero point) * scale */
#define BESIDE_IN_INPUT_ZERO_POINT (-128)
/* q3: int8 1x16x24x24, scale 0.25121146, zero point -128 */
#define BESIDE_OUT_Q3_ELEMENTS 9216u
#define BESIDE_OUT_Q3_BYTES 9216u
#define BESIDE_OUT_Q3_RANK 4u
#define BESIDE_OUT_Q3_SHAPE {1u, 16u, 24u, 24u}
#define BESIDE_OUT_Q3_TYPE 3 /* number of the element type in ONNX: int8 */
#define BESIDE_OUT_Q3_SCALE 0.25121146f /* real value = (stored - zero point) * scale */
#define BESIDE_OUT_Q3_ZERO_POINT (-128)

/* Results. */
enum {
    BESIDE_OK = 0,
    BESIDE_BUSY = 1,            /* tasks are left */
    BESIDE_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    BESIDE_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks or did not end */
    BESIDE_ERROR_TIMEOUT = -3,  /* no progress for too long */
    BESIDE_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    BESIDE_ERROR_STATE = -5,    /* not initialised: before beside_init, after it failed, or after beside_stop */
    BESIDE_CANCELLED = -6       /* beside_cancel ended the inference */
};

typedef struct {
    /* input: int8 1x16x24x24, scale 0.05, zero point -128 */
    const int8_t *input;
} beside_inputs_t;

typedef struct {
    /* q3: int8 1x16x24x24, scale 0.25121146, zero point -128 */
    int8_t *q3;
} beside_outputs_t;

/* The state of a run that the host and the units share, in l2. */
typedef struct {
    match_queue_t queue[2]; /* cluster, ne16 */
    match_address_t base[5]; /* arenas, inputs and outputs, written before the units begin */
    match_address_t owner; /* this state while it is initialised */
    uint32_t seen; /* tasks that were done when the host last looked */
    int32_t status;
    volatile uint32_t cancelled;
} beside_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    beside_state_t *state;
} beside_t;

/* Checks the arenas, sets up the state, starts the units. If it fails, it stops what it started. The state must be
 * all zero before the first call, as static memory is. */
int beside_init(const beside_t *ctx);

/* One inference; returns when the outputs are written. */
int beside_run(const beside_t *ctx, const beside_inputs_t *inputs, const beside_outputs_t *outputs);

/* The same in parts: start an inference, continue it (BESIDE_BUSY while tasks are left), wait for its end. */
int beside_start(const beside_t *ctx, const beside_inputs_t *inputs, const beside_outputs_t *outputs);
int beside_poll(const beside_t *ctx);
int beside_wait(const beside_t *ctx);

/* Ends a running inference at its next task: beside_poll, beside_wait and beside_run return BESIDE_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int beside_cancel(const beside_t *ctx);

/* Cancels a running inference and stops the units. */
void beside_stop(const beside_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
