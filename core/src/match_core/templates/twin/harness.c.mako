/* SPDX-License-Identifier: Apache-2.0 */
/* Host harness around the emitted program ${name}: feeds samples, writes outputs and virtual cycles. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
% if states:
#include <string.h>
% endif

#include "${name}.h"
#include "match_twin.h"
#include "match_twin_context.h"
% for header in headers:
#include "${header}"
% endfor

% for arena in arenas:
% if arena.expression:
static uint8_t *arena_${arena.field};
% else:
static _Alignas(${arena.alignment_bytes}) uint8_t arena_${arena.field}[${arena.size_bytes}];
% endif
% endfor
% for io in [*inputs, *outputs]:
% if io.expression:
static ${io.ctype} *io_${io.field};
% else:
static ${io.ctype} io_${io.field}[${max(1, io.elements)}];
% endif
% endfor
static ${name}_state_t state;

#ifdef MATCH_TWIN_OBSERVER /* a header that defines observe(node), which sees the variables above */
#include MATCH_TWIN_OBSERVER
#endif

/* Modelled cycles of the nodes that run on the host, by node; 0 for all others. */
static const uint64_t host_cycles[] = {${", ".join(f"{c}u" for c in host_cycles) or "0u"}};

% for store in stores:
/* Copies ${store.file} to ${store.memory}; returns its address there. */
static uint32_t load_${store.field}(const char *path)
{
    static _Alignas(${store.alignment_bytes}) uint8_t data[${store.size_bytes}];
    FILE *const file = fopen(path, "rb");
    if ((file == NULL) || (fread(data, sizeof data, 1, file) != 1) || (fclose(file) != 0)) {
        match_twin_faultf("the constants in %s cannot be read", path);
    }
    return ${store.expression};
}

% endfor
% for area in swaps:
/* Room for activations in ${area.memory}; returns its address there. */
static uint32_t swap_${area.field}(void)
{
    static _Alignas(${area.alignment_bytes}) uint8_t data[${area.size_bytes}];
    match_twin_poison(data, sizeof data);
    return ${area.expression};
}

% endfor
int main(int argc, char **argv)
{
    if (argc != ${6 + len(stores)}) {
        fprintf(stderr, "usage: %s INPUTS OUTPUTS SUMMARY SAMPLES MODE${"".join(f" {s.file}" for s in stores)}\n", argv[0]);
        return 2;
    }
    FILE *const in = fopen(argv[1], "rb");
    FILE *const out = fopen(argv[2], "wb");
    FILE *const summary = fopen(argv[3], "w");
    const long samples = strtol(argv[4], NULL, 10);
    if ((in == NULL) || (out == NULL) || (summary == NULL)) {
        return 3;
    }
    match_twin_configure(argv[5]);
% for index, clock in enumerate(clocks):
    match_twin_name_clock(${index}u, "${clock}");
% endfor
    match_twin_host_clock(${host_clock}u);
% if signalling:
    match_twin_signalling(${", ".join(f"{cycles}u" for cycles in signalling)});
% endif
% for queue, started in unit_queues:
    match_twin_queue(&state.queue[${queue}].posted, ${"NULL" if started else f"&state.queue[{queue}].done"});
% endfor
    match_twin_charge_nodes(${host_clock}u, host_cycles, sizeof host_cycles / sizeof host_cycles[0]);
% for arena in arenas:
% if arena.expression:
    arena_${arena.field} = ${arena.expression};
% endif
% endfor
% for io in [*inputs, *outputs]:
% if io.expression:
    io_${io.field} = ${io.expression};
% endif
% endfor
#ifdef MATCH_TWIN_OBSERVER
    match_twin_observe(observe);
#endif
    const ${name}_t ctx = {${instance}};
    const ${name}_inputs_t inputs = {${", ".join(f".{io.field} = io_{io.field}" for io in inputs) or ".unused = 0u"}};
    const ${name}_outputs_t outputs = {${", ".join(f".{io.field} = io_{io.field}" for io in outputs) or ".unused = 0u"}};
    int status = ${name}_init(&ctx);
    if (status != 0) {
        fprintf(stderr, "init returned %d\n", status);
        return 4;
    }
    for (long sample = 0; sample < samples; sample++) {
% for io in inputs:
        if (fread(io_${io.field}, 1, ${io.size_bytes}u, in) != ${io.size_bytes}u) {
            return 3;
        }
% endfor
% for state, source, size_bytes in states:
        if (sample > 0) {
            memcpy(io_${state}, io_${source}, ${size_bytes}u);
        }
% endfor
        match_twin_reset();
        match_twin_log_enable(sample == 0);
% for arena in arenas:
        match_twin_poison(arena_${arena.field}, ${arena.size_bytes}u);
% endfor
% for io in outputs:
        match_twin_poison(io_${io.field}, ${io.size_bytes}u);
% endfor
        status = ${name}_run(&ctx, &inputs, &outputs);
        if (status != 0) {
            fprintf(stderr, "run returned %d\n", status);
            return 4;
        }
        match_twin_check_quiet();
        if (sample == 0) {
            match_twin_write_summary(summary);
            match_twin_write_events(summary);
        }
% for io in outputs:
        if (fwrite(io_${io.field}, 1, ${io.size_bytes}u, out) != ${io.size_bytes}u) {
            return 3;
        }
% endfor
    }
    match_twin_check_queue();
    ${name}_stop(&ctx);
    return ((fclose(in) == 0) && (fclose(out) == 0) && (fclose(summary) == 0)) ? 0 : 3;
}
