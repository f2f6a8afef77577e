/* SPDX-License-Identifier: Apache-2.0 */
/* match_gap9_main.c - runs net once.
 *
 * On made-up inputs; prints the cycles of each node and a checksum of each output.
 * An example to start from: it is no part of the library, and the only file that prints. Inputs are the bytes of a
 * fixed pseudo-random sequence (floats: from -2 to 2), so that the checksums can be compared with another machine's. */
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pmsis.h"

#include "match_gap9_api.h"
#include "match_gap9_profile.h"
#include "net.h"

#ifndef MATCH_GAP9_PRINT
#define MATCH_GAP9_PRINT printf
#endif
#ifndef PI_L2
#define PI_L2
#endif

PI_L2 static alignas(NET_L2_ALIGN) uint8_t arena_l2[NET_L2_BYTES];
PI_L2 static uint8_t io_x[3];
PI_L2 static float io_f[4];
PI_L2 static int8_t io_y[10];
PI_L2 static net_state_t state;

/* Nodes that have code. */
static const struct {
    uint32_t node;
    const char *title;
} rows[] = {
    {0u, "cluster: first"},
    {3u, "host: a _b_ _/ _d _n _xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."},
};

/* ---- made-up inputs, checksums ------------------------------------------------------------------------------- */

/* xorshift32, Marsaglia 2003 */
static uint8_t next_byte(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (uint8_t)(*state >> 24);
}

static void make_inputs(void)
{
    uint32_t state = 1u;
    for (uint32_t i = 0u; i < 3u; i++) {
        const uint8_t byte = next_byte(&state);
        io_x[i] = (uint8_t)byte;
    }
    for (uint32_t i = 0u; i < 4u; i++) {
        const uint8_t byte = next_byte(&state);
        io_f[i] = (float)((int32_t)byte - 128) / 64;
    }
    (void)next_byte(&state);
}

/* FNV-1a, 32 bits */
static uint32_t checksum(const void *data, size_t bytes)
{
    const uint8_t *const byte = data;
    uint32_t hash = 2166136261u;
    for (size_t i = 0u; i < bytes; i++) {
        hash = (hash ^ byte[i]) * 16777619u;
    }
    return hash;
}

/* ---- one run ------------------------------------------------------------------------------------------------- */

static int run(const net_t *ctx)
{
    const net_inputs_t in = {
        .x = io_x,
        .f = io_f,
    };
    const net_outputs_t out = {
        .y = io_y,
    };
    int status = net_init(ctx);
    if (status == NET_OK) {
        match_gap9_profile_start();
        status = net_run(ctx, &in, &out);
        const uint32_t total = match_gap9_profile_total();
        for (size_t i = 0u; i < sizeof rows / sizeof rows[0]; i++) {
            const unsigned long cycles = match_gap9_profile_cycles(rows[i].node);
            MATCH_GAP9_PRINT("%10lu  %s\n", cycles, rows[i].title);
        }
        MATCH_GAP9_PRINT("%10lu  total\n", (unsigned long)total);
        net_stop(ctx);
    }
    MATCH_GAP9_PRINT("y: checksum %08lx\n",
                     (unsigned long)checksum(io_y, sizeof io_y));
    return status;
}

/* The allocator of L1 promises less alignment than the program wants. */
static uint8_t *aligned(void *block)
{
    const uintptr_t surplus = (uintptr_t)block % NET_L1_ALIGN;
    return (uint8_t *)block + ((surplus == 0u) ? 0u : NET_L1_ALIGN - surplus);
}

int main(void)
{
    /* L1 can be allocated once the cluster is on. */
    if (match_gap9_start() != 0) {
        MATCH_GAP9_PRINT("the cluster does not start\n");
        return -1;
    }
    const uint32_t bytes_of_l1 = NET_L1_BYTES + NET_L1_ALIGN;
    void *const block_of_l1 = pi_cl_l1_malloc(NULL, bytes_of_l1);
    if (block_of_l1 == NULL) {
        MATCH_GAP9_PRINT("no %lu bytes in l1\n", (unsigned long)bytes_of_l1);
        return -1;
    }
    make_inputs();
    const net_t ctx = {
        .l1 = aligned(block_of_l1),
        .l2 = arena_l2,
        .state = &state,
    };
    const int status = run(&ctx);
    MATCH_GAP9_PRINT("status %d\n", status);
    pi_cl_l1_free(NULL, block_of_l1, (int)bytes_of_l1);
    match_gap9_stop();
    return status;
}
