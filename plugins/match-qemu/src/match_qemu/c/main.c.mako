/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: the application of a run. For each sample: inputs in, one inference, outputs out; at the end what was
 * counted and how deep the stack was. */
#include <stddef.h>
#include <stdint.h>
% if states:
#include <string.h>
% endif

#include "${name}.h"
#include "match_board.h"
#include "match_counts.h"

#define ARENA __attribute__((section(".arenas")))
#define STACK_FILL 0xA5A5A5A5u
#define ARENA_FILL 0xA5u
/* Below main's own frame, which nothing fills: the least depth that is told. */
#define STACK_MARGIN 64u

extern uint32_t match_stack_bottom[], match_stack_top[];
% for store in stores:
extern const uint8_t match_${store["field"]}[];
% endfor

% for arena in arenas:
ARENA static _Alignas(${arena["alignment_bytes"]}) uint8_t arena_${arena["field"]}[${arena["size_bytes"]}];
% endfor
% for io in [*inputs, *outputs]:
ARENA static _Alignas(64) ${io.ctype} io_${io.field}[${max(1, io.elements)}];
% endfor
static ${name}_state_t state;

/* Bytes that no inference may rely on. */
static void fill(uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0u; i < bytes; i++) {
        data[i] = ARENA_FILL;
    }
}

/* Not a part of main, whose frame it would fill then: on 64 bits, saved registers alone exceed the margin. */
__attribute__((noinline)) static uint32_t *fill_stack(void)
{
    uint32_t *const end = (uint32_t *)((uintptr_t)__builtin_frame_address(0) - STACK_MARGIN);
    for (volatile uint32_t *word = match_stack_bottom; word < end; word++) {
        *word = STACK_FILL;
    }
    return end;
}

static uint32_t stack_bytes(const uint32_t *end)
{
    const volatile uint32_t *word = match_stack_bottom;
    while ((word < end) && (*word == STACK_FILL)) {
        word++;
    }
    return (uint32_t)((uintptr_t)end - (uintptr_t)word) + STACK_MARGIN;
}

int main(void)
{
    static const ${name}_t ctx = {
% for arena in arenas:
        .${arena["field"]} = arena_${arena["field"]},
% endfor
        .${state} = &state,
    };
% if stores:
    ${name}_t placed = ctx;
% for store in stores:
    placed.${store["field"]} = (uint32_t)(uintptr_t)match_${store["field"]};
% endfor
% endif
    const ${name}_inputs_t in = {${", ".join(f".{io.field} = io_{io.field}" for io in inputs) or ".unused = 0u"}};
    const ${name}_outputs_t out = {${", ".join(f".{io.field} = io_{io.field}" for io in outputs) or ".unused = 0u"}};
    const ${name}_t *const program = ${"&placed" if stores else "&ctx"};
    uint32_t deepest = 0u, samples = 0u;

    match_board_start();
    /* What counting costs: a pair of calls with nothing inside, and that pair inside of another one. */
    match_profile_begin(MATCH_PAIR);
    match_profile_begin(MATCH_EMPTY);
    match_profile_end(MATCH_EMPTY);
    match_profile_end(MATCH_PAIR);
    int status = ${name}_init(program);
    while ((status == ${guard}_OK) && (match_board_next() != 0)) {
        int lost = 0;
% for io in inputs:
        lost |= match_board_receive(io_${io.field}, ${io.size_bytes}u);
% endfor
        if (lost != 0) {
            continue;
        }
% for kept, source, size_bytes in states:
        if (samples != 0u) {
            memcpy(io_${kept}, io_${source}, ${size_bytes}u);
        }
% endfor
% for arena in arenas:
        fill(arena_${arena["field"]}, ${arena["size_bytes"]}u);
% endfor
% for io in outputs:
        fill((uint8_t *)io_${io.field}, ${io.size_bytes}u);
% endfor
        uint32_t *const end = fill_stack();
        match_profile_begin(MATCH_WHOLE);
        status = ${name}_run(program, &in, &out);
        match_profile_end(MATCH_WHOLE);
        match_counts_freeze();
        const uint32_t depth = stack_bytes(end);
        deepest = (depth > deepest) ? depth : deepest;
        samples++;
% for io in outputs:
        match_board_send(io_${io.field}, ${io.size_bytes}u);
% endfor
    }
    ${name}_stop(program);
    match_board_send(&deepest, (uint32_t)sizeof deepest);
    match_counts_send();
    return status;
}
