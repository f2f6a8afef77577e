/* match_gap9_swap.c - activations and constants in the external RAM, copied there and back by the fabric controller.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_swap.h"
#include "pmsis.h"

/* The board's RAM is declared here in the SDK. */
#if defined(__has_include)
#if __has_include("bsp/bsp.h")
#include "bsp/bsp.h"
#endif
#endif

#define SWAPS 16u

static struct pi_device ram; /* a second handle of the RAM that match_gap9_store.c has opened */
static struct pi_default_ram_conf ram_conf;
static int ram_is_open;
static pi_task_t swaps[SWAPS]; /* those from swaps_ended to swaps_started, modulo SWAPS, have not ended */
static uint32_t swaps_started;
static uint32_t swaps_ended;

void match_gap9_swap_wait(uint32_t left)
{
    while (swaps_started - swaps_ended > left) {
        pi_task_wait_on(&swaps[swaps_ended % SWAPS]);
        swaps_ended++;
    }
}

/* The end of the next copy; the driver takes copies in order. */
static pi_task_t *next_swap(void)
{
    if (ram_is_open == 0) {
        pi_default_ram_conf_init(&ram_conf);
        pi_open_from_conf(&ram, &ram_conf);
        (void)pi_ram_open(&ram);
        ram_is_open = 1;
    }
    match_gap9_swap_wait(SWAPS - 1u);
    return pi_task_block(&swaps[swaps_started++ % SWAPS]);
}

void match_gap9_swap_out(uint32_t store, const void *home, uint32_t bytes)
{
    pi_task_t *const end = next_swap();
    pi_ram_write_async(&ram, store, (void *)(uintptr_t)home, bytes, end);
}

void match_gap9_swap_in(void *home, uint32_t store, uint32_t bytes)
{
    pi_task_t *const end = next_swap();
    pi_ram_read_async(&ram, store, home, bytes, end);
}
