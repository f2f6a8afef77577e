/* SPDX-License-Identifier: Apache-2.0 */
/* side: compiled by match 1 for chip from  (sha256 ).
 * The caller owns all memory. Fill in side_t, call side_init once, then side_run per inference. Several instances
 * may exist if each has its own arenas and state; they share the units, so run one at a time. */
#ifndef SIDE_H
#define SIDE_H

#include <stdint.h>
#include "match_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define SIDE_VERSION "1"
#define SIDE_MODEL_SHA256 ""
#define SIDE_PROGRAM_SHA256 "6e19b27d2175efd984adee20792c47439a871f5290e7eb0c5f9420da43420b52"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define SIDE_STACK_BYTES 2098176u

/* near: working memory of the units */
#define SIDE_NEAR_BYTES 131072u
#define SIDE_NEAR_ALIGN 16u
/* home: activations between layers */
#define SIDE_HOME_BYTES 5568u
#define SIDE_HOME_ALIGN 16u
/* store: constants, the content of side_store.bin */
#define SIDE_STORE_BYTES 372u
#define SIDE_STORE_ALIGN 16u
/* store: area for activations that are swapped out of home */
#define SIDE_STORE_SWAP_BYTES 512u
#define SIDE_STORE_SWAP_ALIGN 16u

/* x: uint8 9x9x4 */
#define SIDE_IN_X_ELEMENTS 324u
#define SIDE_IN_X_BYTES 324u
#define SIDE_IN_X_RANK 3u
#define SIDE_IN_X_SHAPE {9u, 9u, 4u}
#define SIDE_IN_X_TYPE 2 /* number of the element type in ONNX: uint8 */
/* out: uint8 9x9x3 */
#define SIDE_OUT_OUT_ELEMENTS 243u
#define SIDE_OUT_OUT_BYTES 243u
#define SIDE_OUT_OUT_RANK 3u
#define SIDE_OUT_OUT_SHAPE {9u, 9u, 3u}
#define SIDE_OUT_OUT_TYPE 2 /* number of the element type in ONNX: uint8 */

/* Results. */
enum {
    SIDE_OK = 0,
    SIDE_BUSY = 1,            /* tasks are left */
    SIDE_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
    SIDE_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks or did not end */
    SIDE_ERROR_TIMEOUT = -3,  /* no progress for too long */
    SIDE_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    SIDE_ERROR_STATE = -5,    /* not initialised: before side_init, after it failed, or after side_stop */
    SIDE_CANCELLED = -6       /* side_cancel ended the inference */
};

typedef struct {
    /* x: uint8 9x9x4 */
    const uint8_t *x;
} side_inputs_t;

typedef struct {
    /* out: uint8 9x9x3 */
    uint8_t *out;
} side_outputs_t;

/* The state of a run that the host and the units share, in home. */
typedef struct {
    match_queue_t queue[4]; /* host, array, other, link */
    match_address_t base[5]; /* arenas, inputs and outputs, written before the units begin */
    match_address_t owner; /* this state while it is initialised */
    uint32_t store;
    uint32_t store_swap;
    uint32_t swapping; /* 1 while a swap is in progress */
    uint32_t seen; /* tasks that were done when the host last looked */
    int32_t status;
    volatile uint32_t cancelled;
} side_state_t;

typedef struct {
    uint8_t *near;
    uint8_t *home;
    uint32_t store; /* address of side_store.bin in store */
    uint32_t store_swap; /* address of SIDE_STORE_SWAP_BYTES in store */
    side_state_t *state;
} side_t;

/* Checks the arenas, sets up the state, starts the units. If it fails, it stops what it started. The state must be
 * all zero before the first call, as static memory is. */
int side_init(const side_t *ctx);

/* One inference; returns when the outputs are written. */
int side_run(const side_t *ctx, const side_inputs_t *inputs, const side_outputs_t *outputs);

/* The same in parts: start an inference, continue it (SIDE_BUSY while tasks are left), wait for its end. */
int side_start(const side_t *ctx, const side_inputs_t *inputs, const side_outputs_t *outputs);
int side_poll(const side_t *ctx);
int side_wait(const side_t *ctx);

/* Ends a running inference at its next task: side_poll, side_wait and side_run return SIDE_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int side_cancel(const side_t *ctx);

/* Cancels a running inference and stops the units. */
void side_stop(const side_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
