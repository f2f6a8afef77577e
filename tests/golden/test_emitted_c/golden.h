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

/* l1: working memory of the units */
#define GOLDEN_L1_BYTES 104896u
#define GOLDEN_L1_ALIGN 16u
/* l2: activations between layers */
#define GOLDEN_L2_BYTES 238144u
#define GOLDEN_L2_ALIGN 16u

/* Results. */
enum {
    GOLDEN_OK = 0,
    GOLDEN_BUSY = 1,          /* tasks are left */
    GOLDEN_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
    GOLDEN_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks or did not end */
    GOLDEN_ERROR_TIMEOUT = -3 /* no progress for too long */
};

typedef struct {
    /* input: int8 1x16x61x61 */
    const int8_t *input;
} golden_inputs_t;

typedef struct {
    /* q7: int8 1x3x11x11 */
    int8_t *q7;
} golden_outputs_t;

/* The state of a run. */
typedef struct {
    golden_inputs_t inputs;
    golden_outputs_t outputs;
    uint32_t next; /* number of the next task */
    int32_t status;
} golden_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    golden_state_t *state;
} golden_t;

/* Checks the arenas, sets up the state and starts the units. */
int golden_init(const golden_t *ctx);

/* One inference; returns when the outputs are written. */
int golden_run(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs);

/* The same in parts: start an inference, continue it (GOLDEN_BUSY while tasks are left), wait for its end. */
int golden_start(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs);
int golden_poll(const golden_t *ctx);
int golden_wait(const golden_t *ctx);

/* Cancels a running inference and stops the units. */
void golden_stop(const golden_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
