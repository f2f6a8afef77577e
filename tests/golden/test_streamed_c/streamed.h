/* SPDX-License-Identifier: Apache-2.0 */
/* streamed: compiled by match 0.1.0 for gap9 from streamed.onnx (sha256 9d9e450bca39fc2f).
 * The caller owns all memory. Fill in streamed_t, call streamed_init once, then streamed_run per inference. Several
 * instances may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef STREAMED_H
#define STREAMED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define STREAMED_VERSION "0.1.0"
#define STREAMED_MODEL_SHA256 "9d9e450bca39fc2fcaf3d0d75ba3b86505b9b46fb91f48c8dcd25dfc3cbb41ef"
#define STREAMED_PROGRAM_SHA256 "f71a4f16725e8577630cb984fc89031145f4dad6526d24a62914732e26116098"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define STREAMED_STACK_BYTES 1792u

/* l1: working memory of the units */
#define STREAMED_L1_BYTES 43712u
#define STREAMED_L1_ALIGN 16u
/* l2: activations between layers */
#define STREAMED_L2_BYTES 43712u
#define STREAMED_L2_ALIGN 16u
/* l3: constants, the content of streamed_l3.bin */
#define STREAMED_L3_BYTES 84480u
#define STREAMED_L3_ALIGN 16u

/* input: int8 1x32x9x9, scale 0.05, zero point -128 */
#define STREAMED_IN_INPUT_ELEMENTS 2592u
#define STREAMED_IN_INPUT_BYTES 2592u
#define STREAMED_IN_INPUT_RANK 4u
#define STREAMED_IN_INPUT_SHAPE {1u, 32u, 9u, 9u}
#define STREAMED_IN_INPUT_TYPE 3 /* number of the element type in ONNX: int8 */
#define STREAMED_IN_INPUT_SCALE 0.05f /* real value = (stored - zero point) * scale */
#define STREAMED_IN_INPUT_ZERO_POINT (-128)
/* q5: int8 1x24x9x9, scale 0.43511102, zero point -128 */
#define STREAMED_OUT_Q5_ELEMENTS 1944u
#define STREAMED_OUT_Q5_BYTES 1944u
#define STREAMED_OUT_Q5_RANK 4u
#define STREAMED_OUT_Q5_SHAPE {1u, 24u, 9u, 9u}
#define STREAMED_OUT_Q5_TYPE 3 /* number of the element type in ONNX: int8 */
#define STREAMED_OUT_Q5_SCALE 0.43511102f /* real value = (stored - zero point) * scale */
#define STREAMED_OUT_Q5_ZERO_POINT (-128)

/* Results. */
enum {
    STREAMED_OK = 0,
    STREAMED_BUSY = 1,            /* tasks are left */
    STREAMED_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    STREAMED_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks or did not end */
    STREAMED_ERROR_TIMEOUT = -3,  /* no progress for too long */
    STREAMED_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    STREAMED_ERROR_STATE = -5,    /* not initialised: before streamed_init, after it failed, or after streamed_stop */
    STREAMED_CANCELLED = -6       /* streamed_cancel ended the inference */
};

typedef struct {
    /* input: int8 1x32x9x9, scale 0.05, zero point -128 */
    const int8_t *input;
} streamed_inputs_t;

typedef struct {
    /* q5: int8 1x24x9x9, scale 0.43511102, zero point -128 */
    int8_t *q5;
} streamed_outputs_t;

/* The state of a run. */
typedef struct {
    streamed_inputs_t inputs;
    streamed_outputs_t outputs;
    const void *owner; /* this state while it is initialised */
    uint32_t next; /* number of the next task */
    int32_t status;
    volatile uint32_t cancelled;
} streamed_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    uint32_t l3; /* address of streamed_l3.bin in l3 */
    streamed_state_t *state;
} streamed_t;

/* Checks the arenas, sets up the state, starts the units. If it fails, it stops what it started. The state must be
 * all zero before the first call, as static memory is. */
int streamed_init(const streamed_t *ctx);

/* One inference; returns when the outputs are written. */
int streamed_run(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs);

/* The same in parts: start an inference, continue it (STREAMED_BUSY while tasks are left), wait for its end. */
int streamed_start(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs);
int streamed_poll(const streamed_t *ctx);
int streamed_wait(const streamed_t *ctx);

/* Ends a running inference at its next task: streamed_poll, streamed_wait and streamed_run return STREAMED_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int streamed_cancel(const streamed_t *ctx);

/* Cancels a running inference and stops the units. */
void streamed_stop(const streamed_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
