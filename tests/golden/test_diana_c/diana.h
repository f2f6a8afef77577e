/* SPDX-License-Identifier: Apache-2.0 */
/* diana: compiled by match 0.1.0 for diana from diana.onnx (sha256 29c80dda0bf0e927).
 * The caller owns all memory. Fill in diana_t, call diana_init once, then diana_run per inference. Several instances
 * may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef DIANA_H
#define DIANA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define DIANA_VERSION "0.1.0"
#define DIANA_MODEL_SHA256 "29c80dda0bf0e9273bef560985715006df33a0773ac94e05c1f3f448960dd17f"
#define DIANA_PROGRAM_SHA256 "cb003851703c994a55e475199b1a669454fff5d3c1c5f4179083f44862f88f70"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define DIANA_STACK_BYTES 1088u

/* l1: working memory of the units */
#define DIANA_L1_BYTES 20480u
#define DIANA_L1_ALIGN 16u
/* digital_weights: working memory of the units */
#define DIANA_DIGITAL_WEIGHTS_BYTES 1984u
#define DIANA_DIGITAL_WEIGHTS_ALIGN 4u
/* analog_cells: working memory of the units */
#define DIANA_ANALOG_CELLS_BYTES 18432u
#define DIANA_ANALOG_CELLS_ALIGN 4u
/* analog_norm: working memory of the units */
#define DIANA_ANALOG_NORM_BYTES 512u
#define DIANA_ANALOG_NORM_ALIGN 4u
/* l2: activations between layers */
#define DIANA_L2_BYTES 49152u
#define DIANA_L2_ALIGN 16u

/* input: int8 1x3x16x16, scale 0.023622047, zero point 0 */
#define DIANA_IN_INPUT_ELEMENTS 768u
#define DIANA_IN_INPUT_BYTES 768u
#define DIANA_IN_INPUT_RANK 4u
#define DIANA_IN_INPUT_SHAPE {1u, 3u, 16u, 16u}
#define DIANA_IN_INPUT_TYPE 3 /* number of the element type in ONNX: int8 */
#define DIANA_IN_INPUT_SCALE 0.023622047f /* real value = (stored - zero point) * scale */
#define DIANA_IN_INPUT_ZERO_POINT 0
/* pool26_q: int8 1x32x1x1, scale 0.0025710028, zero point 9 */
#define DIANA_OUT_POOL26_Q_ELEMENTS 32u
#define DIANA_OUT_POOL26_Q_BYTES 32u
#define DIANA_OUT_POOL26_Q_RANK 4u
#define DIANA_OUT_POOL26_Q_SHAPE {1u, 32u, 1u, 1u}
#define DIANA_OUT_POOL26_Q_TYPE 3 /* number of the element type in ONNX: int8 */
#define DIANA_OUT_POOL26_Q_SCALE 0.0025710028f /* real value = (stored - zero point) * scale */
#define DIANA_OUT_POOL26_Q_ZERO_POINT 9

/* Results. */
enum {
    DIANA_OK = 0,
    DIANA_BUSY = 1,            /* tasks are left */
    DIANA_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    DIANA_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks or did not end */
    DIANA_ERROR_TIMEOUT = -3,  /* no progress for too long */
    DIANA_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    DIANA_ERROR_STATE = -5,    /* not initialised: before diana_init, after it failed, or after diana_stop */
    DIANA_CANCELLED = -6       /* diana_cancel ended the inference */
};

typedef struct {
    /* input: int8 1x3x16x16, scale 0.023622047, zero point 0 */
    const int8_t *input;
} diana_inputs_t;

typedef struct {
    /* pool26_q: int8 1x32x1x1, scale 0.0025710028, zero point 9 */
    int8_t *pool26_q;
} diana_outputs_t;

/* The state of a run. */
typedef struct {
    diana_inputs_t inputs;
    diana_outputs_t outputs;
    const void *owner; /* this state while it is initialised */
    uint32_t next; /* number of the next task */
    int32_t status;
    volatile uint32_t cancelled;
} diana_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *digital_weights;
    uint8_t *analog_cells;
    uint8_t *analog_norm;
    uint8_t *l2;
    diana_state_t *state;
} diana_t;

/* Checks the arenas, sets up the state, starts the units. If it fails, it stops what it started. The state must be
 * all zero before the first call, as static memory is. */
int diana_init(const diana_t *ctx);

/* One inference; returns when the outputs are written. */
int diana_run(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs);

/* The same in parts: start an inference, continue it (DIANA_BUSY while tasks are left), wait for its end. */
int diana_start(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs);
int diana_poll(const diana_t *ctx);
int diana_wait(const diana_t *ctx);

/* Ends a running inference at its next task: diana_poll, diana_wait and diana_run return DIANA_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int diana_cancel(const diana_t *ctx);

/* Cancels a running inference and stops the units. */
void diana_stop(const diana_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
