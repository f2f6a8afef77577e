/* SPDX-License-Identifier: Apache-2.0 */
/* What host_speed.py calls: one inference, many with the time of each, and a program. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
% if document:
#include "${document["name"]}.h"
% endif

#define EXPORT __attribute__((visibility("default")))
#define INPUTS ${len(about.inputs)}
#define OUTPUTS ${len(about.outputs)}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

% if document:
<% name = document["name"] %>\
% for arena in document["arenas"]:
static _Alignas(${max(64, arena["alignment_bytes"])}) uint8_t ${arena["field"]}[${arena["size_bytes"]}];
% endfor
static ${name}_state_t state;

#ifdef MATCH_PROFILE
#define NODES ${1 + max(node["index"] for node in document["nodes"])}
/* The least of all runs, plus one; 0 before the first. */
static uint64_t node_begin[NODES], node_best[NODES];

void match_profile_begin(unsigned node)
{
    node_begin[node] = now();
}

void match_profile_end(unsigned node)
{
    const uint64_t spent = now() - node_begin[node] + 1u;
    if ((node_best[node] == 0u) || (spent < node_best[node])) {
        node_best[node] = spent;
    }
}

EXPORT uint64_t bench_node(unsigned node)
{
    return (node_best[node] != 0u) ? node_best[node] - 1u : 0u;
}
#endif

EXPORT int bench_run(const void *const *in, void *const *out)
{
    const ${name}_t ctx = {${"".join(f".{arena['field']} = {arena['field']}, " for arena in document["arenas"])}.state = &state};
    const ${name}_inputs_t inputs = {${", ".join(f".{io['field']} = in[{n}]" for n, io in enumerate(document["inputs"]))}};
    const ${name}_outputs_t outputs = {${", ".join(f".{io['field']} = out[{n}]" for n, io in enumerate(document["outputs"]))}};
    return ${name}_init(&ctx) != 0 || ${name}_run(&ctx, &inputs, &outputs) != 0;
}
% else:
void emx(${", ".join(["const void *"] * len(about.inputs) + ["void *"] * len(about.outputs))});

EXPORT int bench_run(const void *const *in, void *const *out)
{
    emx(${", ".join([*(f"in[{n}]" for n in range(len(about.inputs))), *(f"out[{n}]" for n in range(len(about.outputs)))])});
    return 0;
}
% endif

EXPORT int bench_time(unsigned runs, double *seconds, const void *const *in, void *const *out)
{
    for (unsigned run = 0u; run < runs; run++) {
        const uint64_t start = now();
        if (bench_run(in, out) != 0) {
            return 1;
        }
        seconds[run] = 1e-9 * (double)(now() - start);
    }
    return 0;
}

#ifdef BENCH_MAIN
static void *place(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63u) / 64u * 64u);
}

/* Arguments: how many runs, files with the inputs, files for the outputs. */
int main(int argc, char **argv)
{
    static const size_t in_bytes[] = {${", ".join(f"{tensor.size_bytes}u" for tensor in about.inputs)}};
    static const size_t out_bytes[] = {${", ".join(f"{tensor.size_bytes}u" for tensor in about.outputs)}};
    void *in[INPUTS], *out[OUTPUTS];
    int ok = argc == 2 + INPUTS + OUTPUTS;
    for (int n = 0; ok && n < INPUTS; n++) {
        FILE *const file = fopen(argv[2 + n], "rb");
        in[n] = place(in_bytes[n]);
        ok = file != NULL && fread(in[n], 1, in_bytes[n], file) == in_bytes[n];
    }
    for (int n = 0; n < OUTPUTS; n++) {
        out[n] = place(out_bytes[n]);
    }
    for (long run = ok ? atol(argv[1]) : 0; ok && run > 0; run--) {
        ok = bench_run((const void *const *)in, out) == 0;
    }
    for (int n = 0; ok && n < OUTPUTS; n++) {
        FILE *const file = fopen(argv[2 + INPUTS + n], "wb");
        ok = file != NULL && fwrite(out[n], 1, out_bytes[n], file) == out_bytes[n] && fclose(file) == 0;
    }
    return ok ? 0 : 1;
}
#endif
