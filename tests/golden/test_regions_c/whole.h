/* SPDX-License-Identifier: Apache-2.0 */
/* whole: compiled by match 0.1.0 for engine_chip from whole.onnx (sha256 6feeddc776204f1c).
 * The caller owns all memory. Fill in whole_t, call whole_init once, then whole_run per inference. Several instances
 * may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ram: activations between layers */
#define WHOLE_RAM_BYTES 288u
#define WHOLE_RAM_ALIGN 4u

/* Results. */
enum {
    WHOLE_OK = 0,
    WHOLE_BUSY = 1,          /* tasks are left */
    WHOLE_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
    WHOLE_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks, failed at one or did not end */
    WHOLE_ERROR_TIMEOUT = -3 /* no progress for too long */
};

typedef struct {
    /* x: float32 4x6 */
    const float *x;
    /* y: float32 4x6 */
    const float *y;
} whole_inputs_t;

typedef struct {
    /* early: float32 4x6 */
    float *early;
    /* late: float32 4x6 */
    float *late;
    /* other: float32 4x6 */
    float *other;
} whole_outputs_t;

/* The state of a run. */
typedef struct {
    whole_inputs_t inputs;
    whole_outputs_t outputs;
    void *region_handle[2];
    const void *regions_of; /* this state while its regions are loaded */
    uint32_t next; /* number of the next task */
    int32_t status;
} whole_state_t;

typedef struct {
    uint8_t *ram;
    whole_state_t *state;
} whole_t;

/* Checks the arenas, sets up the state, starts the units and loads their regions, which stay loaded until whole_stop.
 * The state must be all zero before the first call, as static memory is. */
int whole_init(const whole_t *ctx);

/* One inference; returns when the outputs are written. */
int whole_run(const whole_t *ctx, const whole_inputs_t *inputs, const whole_outputs_t *outputs);

/* The same in parts: start an inference, continue it (WHOLE_BUSY while tasks are left), wait for its end. */
int whole_start(const whole_t *ctx, const whole_inputs_t *inputs, const whole_outputs_t *outputs);
int whole_poll(const whole_t *ctx);
int whole_wait(const whole_t *ctx);

/* Cancels a running inference, unloads the regions and stops the units. */
void whole_stop(const whole_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
