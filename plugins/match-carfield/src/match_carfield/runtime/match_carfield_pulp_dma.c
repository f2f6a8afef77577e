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
static void begin(void)
{
    if (copies_in_flight == COPY_SLOTS) {
        match_carfield_pulp_copy_wait();
    }
    counters[copies_in_flight] = plp_dma_counter_alloc();
    copies_in_flight++;
}

static void push_dense(place_t place, uint32_t bytes)
{
    while (bytes > 0u) {
        const uint32_t part = (bytes <= COMMAND_BYTES) ? bytes : (COMMAND_BYTES & ~7u);
        plp_dma_cmd_push(plp_dma_getCmd(place.inwards, part, DENSE, 1, 0, 0), place.loc, place.ext);
        place.ext += part;
        place.loc += part;
        bytes -= part;
    }
}

static void push_rows(place_t place, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    const uint32_t fit = COMMAND_BYTES / row_bytes;
    while (rows > 0u) {
        const uint32_t part = (rows < fit) ? rows : fit;
        const unsigned int command = plp_dma_getCmd(place.inwards, part * row_bytes, STRIDED, 1, 0, 0);
        plp_dma_cmd_push_2d(command, place.loc, place.ext, row_stride, row_bytes);
        place.ext += part * row_stride;
        place.loc += part * row_bytes;
        rows -= part;
    }
}

static void push_2d(place_t place, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    if ((row_bytes == row_stride) || (rows == 1u)) {
        push_dense(place, rows * row_bytes);
    } else if ((row_bytes > COMMAND_BYTES) || (row_stride > COMMAND_BYTES)) {
        for (uint32_t row = 0u; row < rows; row++) {
            push_dense(place, row_bytes);
            place.ext += row_stride;
            place.loc += row_bytes;
        }
    } else {
        push_rows(place, rows, row_bytes, row_stride);
    }
}

static void copy_3d(place_t place, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
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

static place_t inwards(void *near, const void *far)
{
    const place_t place = {address(far), address(near), 1};
    return place;
}

static place_t outwards(void *far, const void *near)
{
    const place_t place = {address(far), address(near), 0};
    return place;
}

void match_carfield_pulp_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    copy_3d(inwards(near, far), 1u, 1u, bytes, 0u, 0u);
}

void match_carfield_pulp_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_3d(inwards(near, far), 1u, rows, row_bytes, row_stride, 0u);
}

void match_carfield_pulp_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(inwards(near, far), planes, rows, row_bytes, row_stride, plane_stride);
}

void match_carfield_pulp_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    copy_3d(outwards(far, near), 1u, 1u, bytes, 0u, 0u);
}

void match_carfield_pulp_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride)
{
    copy_3d(outwards(far, near), 1u, rows, row_bytes, row_stride, 0u);
}

void match_carfield_pulp_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(outwards(far, near), planes, rows, row_bytes, row_stride, plane_stride);
}
