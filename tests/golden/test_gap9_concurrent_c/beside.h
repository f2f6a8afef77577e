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

/* l1: working memory of the units */
#define BESIDE_L1_BYTES 91648u
#define BESIDE_L1_ALIGN 16u
/* l2: activations between layers */
#define BESIDE_L2_BYTES 36864u
#define BESIDE_L2_ALIGN 16u

/* Results. */
enum {
    BESIDE_OK = 0,
    BESIDE_BUSY = 1,          /* tasks are left */
    BESIDE_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
    BESIDE_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks or did not end */
    BESIDE_ERROR_TIMEOUT = -3 /* no progress for too long */
};

typedef struct {
    /* input: int8 1x16x24x24 */
    const int8_t *input;
} beside_inputs_t;

typedef struct {
    /* q3: int8 1x16x24x24 */
    int8_t *q3;
} beside_outputs_t;

/* The state of a run that the host and the units share, in l2. */
typedef struct {
    match_queue_t queue[2]; /* cluster, ne16 */
    match_address_t base[5]; /* arenas, inputs and outputs, written before the units begin */
    uint32_t seen;     /* tasks that were done when the host last looked */
    int32_t status;
} beside_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *l2;
    beside_state_t *state;
} beside_t;

/* Checks the arenas, sets up the state and starts the units. */
int beside_init(const beside_t *ctx);

/* One inference; returns when the outputs are written. */
int beside_run(const beside_t *ctx, const beside_inputs_t *inputs, const beside_outputs_t *outputs);

/* The same in parts: start an inference, continue it (BESIDE_BUSY while tasks are left), wait for its end. */
int beside_start(const beside_t *ctx, const beside_inputs_t *inputs, const beside_outputs_t *outputs);
int beside_poll(const beside_t *ctx);
int beside_wait(const beside_t *ctx);

/* Cancels a running inference and stops the units. */
void beside_stop(const beside_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
