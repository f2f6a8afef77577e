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

/* l1: working memory of the units */
#define STREAMED_L1_BYTES 43712u
#define STREAMED_L1_ALIGN 16u
/* l2: activations between layers */
#define STREAMED_L2_BYTES 43712u
#define STREAMED_L2_ALIGN 16u
/* l3: constants, the content of streamed_l3.bin */
#define STREAMED_L3_BYTES 84480u
#define STREAMED_L3_ALIGN 16u

/* Results. */
enum {
    STREAMED_OK = 0,
    STREAMED_BUSY = 1,          /* tasks are left */
    STREAMED_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
    STREAMED_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks or did not end */
    STREAMED_ERROR_TIMEOUT = -3 /* no progress for too long */
};

typedef struct {
    /* input: int8 1x32x9x9 */
    const int8_t *input;
} streamed_inputs_t;

typedef struct {
    /* q5: int8 1x24x9x9 */
    int8_t *q5;
} streamed_outputs_t;

/* The state of a run. */
typedef struct {
    streamed_inputs_t inputs;
    streamed_outputs_t outputs;
    uint32_t next; /* number of the next task */
    int32_t status;
} streamed_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    uint32_t l3; /* address of streamed_l3.bin in l3 */
    streamed_state_t *state;
} streamed_t;

/* Checks the arenas, sets up the state and starts the units. */
int streamed_init(const streamed_t *ctx);

/* One inference; returns when the outputs are written. */
int streamed_run(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs);

/* The same in parts: start an inference, continue it (STREAMED_BUSY while tasks are left), wait for its end. */
int streamed_start(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs);
int streamed_poll(const streamed_t *ctx);
int streamed_wait(const streamed_t *ctx);

/* Cancels a running inference and stops the units. */
void streamed_stop(const streamed_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
