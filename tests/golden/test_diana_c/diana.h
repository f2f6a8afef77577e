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

/* Results. */
enum {
    DIANA_OK = 0,
    DIANA_BUSY = 1,          /* tasks are left */
    DIANA_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
    DIANA_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks or did not end */
    DIANA_ERROR_TIMEOUT = -3 /* no progress for too long */
};

typedef struct {
    /* input: int8 1x3x16x16 */
    const int8_t *input;
} diana_inputs_t;

typedef struct {
    /* pool26_q: int8 1x32x1x1 */
    int8_t *pool26_q;
} diana_outputs_t;

/* The state of a run. */
typedef struct {
    diana_inputs_t inputs;
    diana_outputs_t outputs;
    uint32_t next; /* number of the next task */
    int32_t status;
} diana_state_t;

typedef struct {
    uint8_t *l1;
    uint8_t *digital_weights;
    uint8_t *analog_cells;
    uint8_t *analog_norm;
    uint8_t *l2;
    diana_state_t *state;
} diana_t;

/* Checks the arenas, sets up the state and starts the units. */
int diana_init(const diana_t *ctx);

/* One inference; returns when the outputs are written. */
int diana_run(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs);

/* The same in parts: start an inference, continue it (DIANA_BUSY while tasks are left), wait for its end. */
int diana_start(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs);
int diana_poll(const diana_t *ctx);
int diana_wait(const diana_t *ctx);

/* Cancels a running inference and stops the units. */
void diana_stop(const diana_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
