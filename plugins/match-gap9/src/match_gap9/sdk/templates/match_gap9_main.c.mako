<%
    def value(io):
        if io.dtype == "bool":
            return "(uint8_t)(byte & 1u)"
        if io.dtype.startswith("float"):
            return f"({io.ctype})((int32_t)byte - 128) / 64"
        return f"({io.ctype})byte"
%>\
/* SPDX-License-Identifier: Apache-2.0 */
/* match_gap9_main.c - runs ${name} once.
 *
 * On made-up inputs; prints the cycles ${"of the run" if beside else "of each node"} and a checksum of each output.
 * An example to start from: it is no part of the library, and the only file that prints. Inputs are the bytes of a
 * fixed pseudo-random sequence (floats: from -2 to 2), so that the checksums can be compared with another machine's. */
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pmsis.h"
% if stores:
#include "bsp/bsp.h"
#include "bsp/flash.h"
#include "bsp/fs.h"
#include "bsp/fs/readfs.h"
% endif

#include "match_gap9_api.h"
#include "match_gap9_profile.h"
#include "${name}.h"

#ifndef MATCH_GAP9_PRINT
#define MATCH_GAP9_PRINT printf
#endif
#ifndef PI_L2
#define PI_L2
#endif

% for arena in arenas:
% if arena.memory != "l1":
PI_L2 static alignas(${guard}_${arena.macro}_ALIGN) uint8_t arena_${arena.field}[${guard}_${arena.macro}_BYTES];
% endif
% endfor
% for io in [*inputs, *outputs]:
PI_L2 static ${io.ctype} io_${io.field}[${max(1, io.elements)}];
% endfor
PI_L2 static ${name}_state_t state;

% if not beside:
/* Nodes that have code. */
static const struct {
    uint32_t node;
    const char *title;
} rows[] = {
% for node, title in rows:
    {${node}u, "${title}"},
% endfor
};

% endif
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
% for io in inputs:
    for (uint32_t i = 0u; i < ${io.elements}u; i++) {
        const uint8_t byte = next_byte(&state);
        io_${io.field}[i] = ${value(io)};
    }
% endfor
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
% for store in stores:

/* ---- ${store.memory}: ${store.file} from the read-only file system into the external RAM ---- */

#define CHUNK_BYTES 4096u

PI_L2 static uint8_t chunk[CHUNK_BYTES];

static uint32_t load_${store.field}(void)
{
    static struct pi_default_flash_conf flash_conf;
    static struct pi_readfs_conf fs_conf;
    static struct pi_device flash, fs;
    uint32_t left = ${guard}_${store.macro}_BYTES;
    const uint32_t start = (match_gap9_store_open() == 0) ? match_gap9_store_alloc(left) : UINT32_MAX;
    pi_default_flash_conf_init(&flash_conf);
    pi_open_from_conf(&flash, &flash_conf);
    if ((start == UINT32_MAX) || (pi_flash_open(&flash) != 0)) {
        return UINT32_MAX;
    }
    pi_readfs_conf_init(&fs_conf);
    fs_conf.fs.flash = &flash;
    pi_open_from_conf(&fs, &fs_conf);
    pi_fs_file_t *const file = (pi_fs_mount(&fs) == 0) ? pi_fs_open(&fs, "${store.file}", 0) : NULL;
    for (uint32_t address = start; (file != NULL) && (left > 0u);) {
        const uint32_t part = (left < CHUNK_BYTES) ? left : CHUNK_BYTES;
        if (pi_fs_read(file, chunk, part) != (int32_t)part) {
            break;
        }
        match_gap9_store_write(address, chunk, part);
        address += part;
        left -= part;
    }
    pi_fs_unmount(&fs);
    pi_flash_close(&flash);
    return (left == 0u) ? start : UINT32_MAX;
}
% endfor

/* ---- one run ------------------------------------------------------------------------------------------------- */

static int run(const ${name}_t *ctx)
{
    const ${name}_inputs_t in = {
% for io in inputs:
        .${io.field} = io_${io.field},
% endfor
% if not inputs:
        .unused = 0u,
% endif
    };
    const ${name}_outputs_t out = {
% for io in outputs:
        .${io.field} = io_${io.field},
% endfor
    };
    int status = ${name}_init(ctx);
    if (status == ${guard}_OK) {
        match_gap9_profile_start();
        status = ${name}_run(ctx, &in, &out);
        const uint32_t total = match_gap9_profile_total();
% if not beside:
        for (size_t i = 0u; i < sizeof rows / sizeof rows[0]; i++) {
            const unsigned long cycles = match_gap9_profile_cycles(rows[i].node);
            MATCH_GAP9_PRINT("%10lu  %s\n", cycles, rows[i].title);
        }
% endif
        MATCH_GAP9_PRINT("%10lu  total\n", (unsigned long)total);
        ${name}_stop(ctx);
    }
% for io in outputs:
    MATCH_GAP9_PRINT("${io.field}: checksum %08lx\n",
                     (unsigned long)checksum(io_${io.field}, sizeof io_${io.field}));
% endfor
    return status;
}

% for arena in arenas:
% if arena.memory == "l1":
/* The allocator of L1 promises less alignment than the program wants. */
static uint8_t *aligned(void *block)
{
    const uintptr_t surplus = (uintptr_t)block % ${guard}_${arena.macro}_ALIGN;
    return (uint8_t *)block + ((surplus == 0u) ? 0u : ${guard}_${arena.macro}_ALIGN - surplus);
}

% endif
% endfor
int main(void)
{
    /* L1 can be allocated once the cluster is on. */
    if (match_gap9_start() != 0) {
        MATCH_GAP9_PRINT("the cluster does not start\n");
        return -1;
    }
% for arena in arenas:
% if arena.memory == "l1":
    const uint32_t bytes_of_${arena.field} = ${guard}_${arena.macro}_BYTES + ${guard}_${arena.macro}_ALIGN;
    void *const block_of_${arena.field} = pi_cl_l1_malloc(NULL, bytes_of_${arena.field});
    if (block_of_${arena.field} == NULL) {
        MATCH_GAP9_PRINT("no %lu bytes in ${arena.memory}\n", (unsigned long)bytes_of_${arena.field});
        return -1;
    }
% endif
% endfor
% for store in stores:
    const uint32_t store_${store.field} = load_${store.field}();
    if (store_${store.field} == UINT32_MAX) {
        MATCH_GAP9_PRINT("${store.file} is not in the file system, or does not fit ${store.memory}\n");
        return -1;
    }
% endfor
% for area in areas:
    const uint32_t area_${area.field} =
        (match_gap9_store_open() == 0) ? match_gap9_store_alloc(${guard}_${area.macro}_BYTES) : UINT32_MAX;
    if (area_${area.field} == UINT32_MAX) {
        MATCH_GAP9_PRINT("no room for activations in ${area.memory}\n");
        return -1;
    }
% endfor
    make_inputs();
    const ${name}_t ctx = {
% for field in instance:
        ${field},
% endfor
    };
    const int status = run(&ctx);
    MATCH_GAP9_PRINT("status %d\n", status);
% for arena in arenas:
% if arena.memory == "l1":
    pi_cl_l1_free(NULL, block_of_${arena.field}, (int)bytes_of_${arena.field});
% endif
% endfor
% if stores or areas:
    match_gap9_store_close();
% endif
    match_gap9_stop();
    return status;
}
