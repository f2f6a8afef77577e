/* match_carfield_pulp_dma.c - copies between L2 and the PULP cluster's L1 by MCHAN. SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_pulp.h"

/* MCHAN takes 17 bits of length, its stride and length of rows 16. */
#define COMMAND_BYTES 65535u
/* Of MCHAN's 16 counters; some stay free for the application. */
#define COPY_SLOTS 12u
#define STRIDED 1
#define DENSE 0

typedef struct {
    uint32_t ext;
    uint32_t loc;
    int inwards;
} place_t;

static int counters[COPY_SLOTS]; /* the first copies_in_flight are not waited for */
static uint32_t copies_in_flight;

/* Latest first: copies of a direction end in order, so that the core sleeps once for all of them. */
void match_carfield_pulp_copy_wait(void)
{
    while (copies_in_flight > 0u) {
        copies_in_flight--;
        plp_dma_wait((unsigned int)counters[copies_in_flight]);
    }
}

/* Addresses have 32 bits; the casts are exact on the chip. */
static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

/* All commands up to the next one share a counter, so that a copy of many commands is one to wait for. */
static inline void begin(void)
{
    if (copies_in_flight == COPY_SLOTS) {
        match_carfield_pulp_copy_wait();
    }
    counters[copies_in_flight] = plp_dma_counter_alloc();
    copies_in_flight++;
}

static inline void push_one(place_t place, uint32_t bytes)
{
    plp_dma_cmd_push(plp_dma_getCmd(place.inwards, bytes, DENSE, 1, 0, 0), place.loc, place.ext);
}

static inline void push_dense(place_t place, uint32_t bytes)
{
    while (bytes > COMMAND_BYTES) {
        const uint32_t part = COMMAND_BYTES & ~7u;
        push_one(place, part);
        place.ext += part;
        place.loc += part;
        bytes -= part;
    }
    push_one(place, bytes);
}

static inline void push_strided(place_t place, uint32_t bytes, uint32_t row_bytes, uint32_t row_stride)
{
    const unsigned int command = plp_dma_getCmd(place.inwards, bytes, STRIDED, 1, 0, 0);
    plp_dma_cmd_push_2d(command, place.loc, place.ext, row_stride, row_bytes);
}

/* Rows and distances of at most 16 bits, the whole of more: as many rows at once as a command takes. */
static inline void push_rows(place_t place, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    const uint32_t fit = COMMAND_BYTES / row_bytes;
    while (rows > 0u) {
        const uint32_t part = (rows < fit) ? rows : fit;
        push_strided(place, part * row_bytes, row_bytes, row_stride);
        place.ext += part * row_stride;
        place.loc += part * row_bytes;
        rows -= part;
    }
}

static inline void push_2d(place_t place, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    if ((row_bytes == row_stride) || (rows == 1u)) {
        push_dense(place, rows * row_bytes);
    } else if ((row_bytes > COMMAND_BYTES) || (row_stride > COMMAND_BYTES)) {
        for (uint32_t row = 0u; row < rows; row++) {
            push_dense(place, row_bytes);
            place.ext += row_stride;
            place.loc += row_bytes;
        }
    } else if (rows * row_bytes <= COMMAND_BYTES) { /* no division where one command is enough */
        push_strided(place, rows * row_bytes, row_bytes, row_stride);
    } else {
        push_rows(place, rows, row_bytes, row_stride);
    }
}

static inline void copy_1d(place_t place, uint32_t bytes)
{
    if (bytes > 0u) {
        begin();
        push_dense(place, bytes);
    }
}

static inline void copy_2d(place_t place, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    if ((rows > 0u) && (row_bytes > 0u)) {
        begin();
        push_2d(place, rows, row_bytes, row_stride);
    }
}

static inline void copy_3d(place_t place, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
                    uint32_t plane_stride)
{
    if ((planes == 0u) || (rows == 0u) || (row_bytes == 0u)) {
        return;
    }
    begin();
    if ((row_bytes == row_stride) || (rows == 1u)) {
        push_2d(place, planes, rows * row_bytes, plane_stride);
        return;
    }
    for (uint32_t plane = 0u; plane < planes; plane++) {
        push_2d(place, rows, row_bytes, row_stride);
        place.ext += plane_stride;
        place.loc += rows * row_bytes;
    }
}

static inline place_t inwards(void *near, const void *far)
{
    const place_t place = {address(far), address(near), 1};
    return place;
}

static inline place_t outwards(void *far, const void *near)
{
    const place_t place = {address(far), address(near), 0};
    return place;
}

void match_carfield_pulp_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    copy_1d(inwards(near, far), bytes);
}

void match_carfield_pulp_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_2d(inwards(near, far), rows, row_bytes, row_stride);
}

void match_carfield_pulp_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(inwards(near, far), planes, rows, row_bytes, row_stride, plane_stride);
}

void match_carfield_pulp_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    copy_1d(outwards(far, near), bytes);
}

void match_carfield_pulp_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride)
{
    copy_2d(outwards(far, near), rows, row_bytes, row_stride);
}

void match_carfield_pulp_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(outwards(far, near), planes, rows, row_bytes, row_stride, plane_stride);
}
