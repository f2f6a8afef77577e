/* SPDX-License-Identifier: Apache-2.0 */
/* ${name} on Carfield's host: one run with made-up inputs. The result and checksums of the outputs stay in memory, for a
 * debugger or for MATCH_CARFIELD_REPORT. */
#include <stdint.h>

#include "${name}.h"

#ifndef MATCH_CARFIELD_REPORT
#define MATCH_CARFIELD_REPORT(status, checksums, count) ((void)0)
#endif
#define SHARED __attribute__((section(".match_shared")))
#define FAR __attribute__((section(".match_far")))

% for arena in arenas:
% if arena.memory not in l1:
static _Alignas(${guard}_${arena.macro}_ALIGN) uint8_t ${arena.field}[${guard}_${arena.macro}_BYTES] ${"FAR" if arena.memory == "l3" else "SHARED"};
% endif
% endfor
% for io in [*inputs, *outputs]:
static _Alignas(64) ${io.ctype} ${io.field}[${max(1, io.elements)}] ${"FAR" if io.memory == "l3" else "SHARED"};
% endfor
static ${name}_state_t state SHARED;

volatile int32_t match_carfield_status;
volatile uint32_t match_carfield_checksums[${len(outputs)}];

% if inputs:
/* Upper byte of xorshift32 (shifts 13, 17, 5). */
static uint32_t draw(void)
{
    static uint32_t state = 1u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state >> 24;
}

% endif
/* FNV-1a, 32 bits. */
static uint32_t checksum(const void *tensor, uint32_t bytes)
{
    const uint8_t *const place = tensor;
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0u; i < bytes; i++) {
        hash = (hash ^ place[i]) * 16777619u;
    }
    return hash;
}

int main(void)
{
    const ${name}_t ctx = {
% for arena in arenas:
        .${arena.field} = ${f"(uint8_t *)(uintptr_t)0x{l1[arena.memory]:08X}u" if arena.memory in l1 else arena.field},
% endfor
#ifdef ${guard}_L3_SWAP_BYTES
        .l3_swap = ${f"0x{swap:08X}"}u,
#endif
        .state = &state,
    };
    const ${name}_inputs_t in = {${", ".join(f".{io.field} = {io.field}" for io in inputs) or ".unused = 0u"}};
    const ${name}_outputs_t out = {${", ".join(f".{io.field} = {io.field}" for io in outputs)}};
% for io in inputs:
    for (uint32_t i = 0u; i < ${io.elements}u; i++) {
        const uint32_t byte = draw();
% if io.dtype == "float16":
        ${io.field}[i] = (uint16_t)(((byte & 0x80u) << 8) | 0x3800u | ((byte & 0x7Fu) << 3)); /* 0.5 to 1, or negative */
% else:
        ${io.field}[i] = (${io.ctype})byte;
% endif
    }
% endfor
    int status = ${name}_init(&ctx);
    if (status == ${guard}_OK) {
        status = ${name}_run(&ctx, &in, &out);
        ${name}_stop(&ctx);
    }
% for index, io in enumerate(outputs):
    match_carfield_checksums[${index}] = checksum(${io.field}, (uint32_t)sizeof ${io.field});
% endfor
    match_carfield_status = status;
    MATCH_CARFIELD_REPORT(status, match_carfield_checksums, ${len(outputs)}u);
    return status;
}
