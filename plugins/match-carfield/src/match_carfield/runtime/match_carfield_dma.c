/* match_carfield_dma.c - the system DMA. It has one set of registers: in a program with units side by side only the host
 * uses it, in a sequential one only the unit that runs. SPDX-License-Identifier: Apache-2.0 */
#include "dma.h"

#include "match_carfield_dma.h"
#include "match_carfield_io.h"

/* Number of the last copy: it is over when the DMA says that number or a later one. */
static uint64_t last;
static int in_flight;

static void start(uint64_t to, uint64_t from, uint32_t bytes)
{
    if (bytes > 0u) {
        MATCH_CARFIELD_FENCE();
        last = sys_dma_memcpy(to, from, bytes, DMA_CONF_DECOUPLE_NONE);
        in_flight = 1;
    }
}

int match_carfield_swap_busy(void)
{
    if ((in_flight != 0) && (*sys_dma_done_ptr() >= last)) {
        in_flight = 0;
        MATCH_CARFIELD_FENCE();
    }
    return in_flight;
}

void match_carfield_swap_out(uint32_t store, const void *home, uint32_t bytes)
{
    start(store, (uint64_t)(uintptr_t)home, bytes);
}

void match_carfield_swap_in(void *home, uint32_t store, uint32_t bytes)
{
    start((uint64_t)(uintptr_t)home, store, bytes);
}

void match_carfield_store_copy_1d(void *home, uint32_t address, uint32_t bytes)
{
    match_carfield_store_wait(); /* a tile may bring several constants before it waits; there is one set of registers */
    start((uint64_t)(uintptr_t)home, address, bytes);
}

void match_carfield_store_wait(void)
{
    while (match_carfield_swap_busy() != 0) {
        (void)MATCH_CARFIELD_LOOK_AGAIN();
    }
}
