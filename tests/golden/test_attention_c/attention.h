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

/* l1: working memory of the units */
#define ATTENTION_L1_BYTES 64064u
#define ATTENTION_L1_ALIGN 64u
/* l2: activations between layers */
#define ATTENTION_L2_BYTES 47488u
#define ATTENTION_L2_ALIGN 64u

/* Results. */
enum {
    ATTENTION_OK = 0,
    ATTENTION_BUSY = 1,          /* tasks are left */
    ATTENTION_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
    ATTENTION_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks or did not end */
    ATTENTION_ERROR_TIMEOUT = -3 /* no progress for too long */
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
    uint32_t next; /* number of the next task */
    int32_t status;
} attention_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    attention_state_t *state;
} attention_t;

/* Checks the arenas, sets up the state and starts the units. */
int attention_init(const attention_t *ctx);

/* One inference; returns when the outputs are written. */
int attention_run(const attention_t *ctx, const attention_inputs_t *inputs, const attention_outputs_t *outputs);

/* The same in parts: start an inference, continue it (ATTENTION_BUSY while tasks are left), wait for its end. */
int attention_start(const attention_t *ctx, const attention_inputs_t *inputs, const attention_outputs_t *outputs);
int attention_poll(const attention_t *ctx);
int attention_wait(const attention_t *ctx);

/* Cancels a running inference and stops the units. */
void attention_stop(const attention_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
