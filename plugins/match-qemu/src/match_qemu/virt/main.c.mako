/* SPDX-License-Identifier: Apache-2.0 */
/* ${name} on QEMU's `virt`: one run per sample, results and outputs on the console. */
#include <stdint.h>

#include "${name}.h"
#include "virt.h"
#ifdef MATCH_COUNTED_OUTSIDE
#include "match_counts.h"
#endif

/* How often a run that took too long is tried again, on units that were restarted. */
#ifndef PORT_RETRIES
#define PORT_RETRIES 0u
#endif

#define SAMPLES ${samples}u
#define SAMPLE_BYTES ${sample_bytes}u

/* data.S: what the inputs of all samples are, one behind the other. */
extern const uint8_t port_inputs[];
% for store in stores:
extern const uint8_t port_${store["field"]}[];
% endfor

% for arena in arenas:
static _Alignas(${arena["alignment_bytes"]}) uint8_t ${arena["field"]}[${arena["size_bytes"]}];
% endfor
% for io in outputs:
static _Alignas(64) ${io.ctype} ${io.field}[${io.elements}];
% endfor
% if swap:
static _Alignas(${swap["alignment_bytes"]}) uint8_t ${swap["field"]}[${swap["size_bytes"]}];
% endif
static ${name}_state_t state;

static uint32_t checksum(const void *tensor, uint32_t bytes)
{
    const uint8_t *const place = tensor;
    uint32_t hash = 2166136261u; /* FNV-1a, 32 bits */
    for (uint32_t i = 0u; i < bytes; i++) {
        hash = (hash ^ place[i]) * 16777619u;
    }
    return hash;
}

static void print_output(const char *field, const void *tensor, uint32_t bytes)
{
    virt_print("output ");
    virt_print(field);
    virt_print(" bytes ");
    virt_print_number(bytes);
    virt_print(" checksum ");
    virt_print_number(checksum(tensor, bytes));
    virt_print("\n");
    for (uint32_t i = 0u; i < bytes; i += 64u) {
        virt_print_hex((const uint8_t *)tensor + i, (bytes - i < 64u) ? bytes - i : 64u);
        virt_print("\n");
    }
}

static const char *name_of(int status)
{
    switch (status) {
    case ${guard}_OK:
        return "${guard}_OK";
    case ${guard}_ERROR_ARENA:
        return "${guard}_ERROR_ARENA";
    case ${guard}_ERROR_UNIT:
        return "${guard}_ERROR_UNIT";
    case ${guard}_ERROR_TIMEOUT:
        return "${guard}_ERROR_TIMEOUT";
    default:
        return "unknown";
    }
}

static void print_status(const char *what, int status, uint64_t ticks)
{
    virt_print(what);
    virt_print(" ");
    virt_print(name_of(status));
    virt_print(" ticks ");
    virt_print_number(ticks);
    virt_print("\n");
}

static int run(const ${name}_t *ctx, const uint8_t *sample)
{
    const ${name}_inputs_t in = {${", ".join(f".{io.field} = (const {io.ctype} *)(const void *)(sample + {io.offset}u)" for io in inputs) or ".unused = 0u"}};
    const ${name}_outputs_t out = {${", ".join(f".{io.field} = {io.field}" for io in outputs)}};
% if not inputs:
    (void)sample;
% endif
    const uint64_t start = virt_ticks();
    const int status = ${name}_run(ctx, &in, &out);
    print_status("run", status, virt_ticks() - start);
% for io in outputs:
    if (status == ${guard}_OK) {
        print_output("${io.field}", ${io.field}, (uint32_t)sizeof ${io.field});
    }
% endfor
    return status;
}

static int run_with_retries(const ${name}_t *ctx, const uint8_t *sample)
{
    int status = run(ctx, sample);
    for (uint32_t retry = 0u; (status == ${guard}_ERROR_TIMEOUT) && (retry != PORT_RETRIES); retry++) {
        ${name}_stop(ctx);
        status = ${name}_init(ctx);
        print_status("init", status, 0u);
        if (status == ${guard}_OK) {
            status = run(ctx, sample);
        }
    }
    return status;
}

int main(void)
{
    const ${name}_t ctx = {
% for arena in arenas:
        .${arena["field"]} = ${arena["field"]},
% endfor
% for store in stores:
        .${store["field"]} = (uint32_t)(uintptr_t)port_${store["field"]},
% endfor
% if swap:
        .${swap["field"]} = (uint32_t)(uintptr_t)${swap["field"]},
% endif
        .${state} = &state,
    };
#ifdef MATCH_COUNTED_OUTSIDE
    /* What counting costs: a pair of calls with nothing inside, and that pair inside of another one. */
    match_profile_begin(MATCH_PAIR);
    match_profile_begin(MATCH_EMPTY);
    match_profile_end(MATCH_EMPTY);
    match_profile_end(MATCH_PAIR);
#endif
    const uint64_t start = virt_ticks();
    int status = ${name}_init(&ctx);
    print_status("init", status, virt_ticks() - start);
    for (uint32_t i = 0u; (status == ${guard}_OK) && (i < SAMPLES); i++) {
        status = run_with_retries(&ctx, port_inputs + i * SAMPLE_BYTES);
    }
    ${name}_stop(&ctx);
    return -status;
}
