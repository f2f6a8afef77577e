<%
    import re

    import numpy as np

    from match_core.ir.naming import comment_text
    from match_core.lower.region_code import element_number
    from match_core.lower.text import comment

    heading = comment(
        f"{name}: compiled by match {version} for {soc.name} from {comment_text(model.source)} "
        f"(sha256 {model.source_sha256[:16]}).",
        f"The caller owns all memory. Fill in {name}_t, call {name}_init once, then {name}_run per inference. Several "
        "instances may exist if each has its own arenas and state; they share the units, so run one at a time.",
    )
    loads = f" and loads their regions, which stay loaded until {name}_stop" if regions else ""
    on_init = comment(
        f"Checks the arenas, sets up the state, starts the units{loads}. If it fails, it stops what it started. "
        "The state must be all zero before the first call, as static memory is."
    )
    ends = [(f"{guard}_{side}_{io.field.upper()}", io)
            for side, ios in (("IN", inputs), ("OUT", outputs)) for io in ios]

    def size_bytes(io):
        bits = re.search("[0-9]+", io.ctype)
        return io.elements * (int(bits[0]) // 8 if bits else {"float": 4, "double": 8, "bool": 1}[io.ctype])

    def scale(io):
        text = str(np.float32(io.quantisation.scale))
        return f"{text}f" if "." in text or "e" in text else f"{text}.0f"
%>\
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

/* The compiler's version, the model's file, and all C and data of this program but this header. */
#define ${guard}_VERSION "${version}"
#define ${guard}_MODEL_SHA256 "${model.source_sha256}"
#define ${guard}_PROGRAM_SHA256 "${program_sha256}"

/* Bytes of stack that a call of a function below uses on the host, without interrupts and what the platform's own
 * functions use: an estimate from the functions' arrays, which docs/emitted-c.md compares with compilers. */
#define ${guard}_STACK_BYTES ${stack_bytes}u

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

% for prefix, io in ends:
${io.comment.lstrip()}
#define ${prefix}_ELEMENTS ${io.elements}u
#define ${prefix}_BYTES ${size_bytes(io)}u
#define ${prefix}_RANK ${len(io.shape)}u
% if io.shape:
#define ${prefix}_SHAPE {${", ".join(f"{size}u" for size in io.shape)}}
% endif
#define ${prefix}_TYPE ${element_number(io.dtype)} /* number of the element type in ONNX: ${io.dtype} */
% if io.quantisation is not None:
#define ${prefix}_SCALE ${scale(io)} /* real value = (stored - zero point) * scale */
#define ${prefix}_ZERO_POINT ${f"({io.quantisation.zero})" if io.quantisation.zero < 0 else io.quantisation.zero}
% endif
% endfor

/* Results. */
enum {
    ${guard}_OK = 0,
    ${guard}_BUSY = 1,            /* tasks are left */
    ${guard}_ERROR_ARENA = -1,    /* an arena or the state is missing or not aligned */
% if regions:
    ${guard}_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks, failed at one or did not end */
% else:
    ${guard}_ERROR_UNIT = -2,     /* a unit did not start, did not accept its tasks or did not end */
% endif
    ${guard}_ERROR_TIMEOUT = -3,  /* no progress for too long */
    ${guard}_ERROR_ARGUMENT = -4, /* a pointer is NULL, or a tensor not aligned to its elements */
    ${guard}_ERROR_STATE = -5,    /* not initialised: before ${name}_init, after it failed, or after ${name}_stop */
    ${guard}_CANCELLED = -6       /* ${name}_cancel ended the inference */
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
% endif
    match_address_t owner; /* this state while it is initialised */
% for store in stores:
    uint32_t ${store.field};
% endfor
% for area in swap_areas:
    uint32_t ${area.field};
    uint32_t swapping; /* 1 while a swap is in progress */
% endfor
% if any(queue.done for queue in queues):
    uint32_t started; /* a bit for each queue whose unit computes a region that the host started */
% endif
    uint32_t seen; /* tasks that were done when the host last looked */
    int32_t status;
    volatile uint32_t cancelled;
} ${name}_state_t;
% else:
/* The state of a run. */
typedef struct {
    ${name}_inputs_t inputs;
    ${name}_outputs_t outputs;
% if regions:
    void *region_handle[${len(regions)}];
% endif
    const void *owner; /* this state while it is initialised */
    uint32_t next; /* number of the next task */
    int32_t status;
    volatile uint32_t cancelled;
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

${on_init}
int ${name}_init(const ${name}_t *ctx);

/* One inference; returns when the outputs are written. */
int ${name}_run(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs);

/* The same in parts: start an inference, continue it (${guard}_BUSY while tasks are left), wait for its end. */
int ${name}_start(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs);
int ${name}_poll(const ${name}_t *ctx);
int ${name}_wait(const ${name}_t *ctx);

/* Ends a running inference at its next task: ${name}_poll, ${name}_wait and ${name}_run return ${guard}_CANCELLED.
 * It may be called from interrupts and from MATCH_YIELD; the next inference can start after the return. */
int ${name}_cancel(const ${name}_t *ctx);

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
