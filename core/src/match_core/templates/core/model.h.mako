/* SPDX-License-Identifier: Apache-2.0 */
${heading}
#ifndef ${guard}_H
#define ${guard}_H

#include <stdint.h>
% if queues:
#include "match_runtime.h"
% endif

#ifdef __cplusplus
extern "C" {
#endif

% for arena in arenas:
/* ${arena.memory}: ${arena.comment} */
#define ${guard}_${arena.macro}_BYTES ${arena.size_bytes}u
#define ${guard}_${arena.macro}_ALIGN ${arena.alignment_bytes}u
% endfor
% for store in stores:
/* ${store.memory}: constants, the content of ${store.file} */
#define ${guard}_${store.macro}_BYTES ${store.size_bytes}u
#define ${guard}_${store.macro}_ALIGN ${store.alignment_bytes}u
% endfor
% for area in swap_areas:
/* ${area.memory}: area for activations that are swapped out of ${home} */
#define ${guard}_${area.macro}_BYTES ${area.size_bytes}u
#define ${guard}_${area.macro}_ALIGN ${area.alignment_bytes}u
% endfor

/* Results. */
enum {
    ${guard}_OK = 0,
    ${guard}_BUSY = 1,          /* tasks are left */
    ${guard}_ERROR_ARENA = -1,  /* an arena or the state is missing or not aligned */
% if regions:
    ${guard}_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks, failed at one or did not end */
% else:
    ${guard}_ERROR_UNIT = -2,   /* a unit did not start, did not accept its tasks or did not end */
% endif
    ${guard}_ERROR_TIMEOUT = -3 /* no progress for too long */
};

typedef struct {
% for io in inputs:
${io.comment}
    const ${io.ctype} *${io.field};
% endfor
% if not inputs:
    uint8_t unused; /* this model has no inputs */
% endif
} ${name}_inputs_t;

typedef struct {
% for io in outputs:
${io.comment}
    ${io.ctype} *${io.field};
% endfor
} ${name}_outputs_t;

% if queues:
/* The state of a run that the host and the units share, in ${home}. */
typedef struct {
    match_queue_t queue[${len(queues)}]; /* ${", ".join(queue.name for queue in queues)} */
% if regions:
    struct {
        MATCH_ALIGN uint32_t failed; /* written by the unit that runs the region, before it counts the task */
    } region_result[${len(regions)}];
% endif
    match_address_t base[${len(bases)}]; /* arenas, inputs and outputs, written before the units begin */
% if regions:
    match_address_t region_handle[${len(regions)}];
    match_address_t regions_of; /* this state while its regions are loaded */
% endif
% for store in stores:
    uint32_t ${store.field};
% endfor
% for area in swap_areas:
    uint32_t ${area.field};
    uint32_t swapping; /* 1 while a swap is in progress */
% endfor
    uint32_t seen;     /* tasks that were done when the host last looked */
    int32_t status;
} ${name}_state_t;
% else:
/* The state of a run. */
typedef struct {
    ${name}_inputs_t inputs;
    ${name}_outputs_t outputs;
% if regions:
    void *region_handle[${len(regions)}];
    const void *regions_of; /* this state while its regions are loaded */
% endif
    uint32_t next; /* number of the next task */
    int32_t status;
} ${name}_state_t;
% endif

typedef struct {
% for arena in arenas:
    uint8_t *${arena.field};
% endfor
% for store in stores:
    uint32_t ${store.field}; /* address of ${store.file} in ${store.memory} */
% endfor
% for area in swap_areas:
    uint32_t ${area.field}; /* address of ${guard}_${area.macro}_BYTES in ${area.memory} */
% endfor
    ${name}_state_t *state;
} ${name}_t;

% if regions:
/* Checks the arenas, sets up the state, starts the units and loads their regions, which stay loaded until ${name}_stop.
 * The state must be all zero before the first call, as static memory is. */
% else:
/* Checks the arenas, sets up the state and starts the units. */
% endif
int ${name}_init(const ${name}_t *ctx);

/* One inference; returns when the outputs are written. */
int ${name}_run(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs);

/* The same in parts: start an inference, continue it (${guard}_BUSY while tasks are left), wait for its end. */
int ${name}_start(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs);
int ${name}_poll(const ${name}_t *ctx);
int ${name}_wait(const ${name}_t *ctx);

% if regions:
/* Cancels a running inference, unloads the regions and stops the units. */
% else:
/* Cancels a running inference and stops the units. */
% endif
void ${name}_stop(const ${name}_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
