/* SPDX-License-Identifier: Apache-2.0 */
${heading}
#ifndef ${guard}_H
#define ${guard}_H

#include <stdint.h>

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

/* Results of ${name}_init and ${name}_run. */
enum {
    ${guard}_OK = 0,
    ${guard}_ERROR_ARENA = -1, /* an arena is missing or not aligned */
    ${guard}_ERROR_UNIT = -2   /* a unit did not start or did not take a task */
};

typedef struct {
% for arena in arenas:
    uint8_t *${arena.field};
% endfor
% for store in stores:
    uint32_t ${store.field}; /* address of ${store.file} in ${store.memory} */
% endfor
% if not arenas and not stores:
    uint8_t unused; /* this program needs no memory of the caller */
% endif
} ${name}_t;

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

/* Checks the arenas and starts the units. */
int ${name}_init(const ${name}_t *ctx);

/* One inference; returns when the outputs are written. */
int ${name}_run(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs);

/* Stops the units. */
void ${name}_stop(const ${name}_t *ctx);

#ifdef __cplusplus
}
#endif

#endif
