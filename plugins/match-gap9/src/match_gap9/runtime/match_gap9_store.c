/* match_gap9_store.c - constants in the external RAM, streamed into L2 while layers run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "pmsis.h"

/* The board's RAM is declared here in the SDK. */
#if defined(__has_include)
#if __has_include("bsp/bsp.h")
#include "bsp/bsp.h"
#endif
#endif

#define REQUESTS 8u

static struct pi_device ram;
static struct pi_default_ram_conf ram_conf;
static int ram_is_open;
static pi_cl_ram_req_t requests[REQUESTS]; /* the first requests_in_flight of them are not waited for */
static uint32_t requests_in_flight;

int match_gap9_store_open(void)
{
    if (ram_is_open == 0) {
        pi_default_ram_conf_init(&ram_conf);
        pi_open_from_conf(&ram, &ram_conf);
        if (pi_ram_open(&ram) != 0) {
            return -1;
        }
        ram_is_open = 1;
    }
    return 0;
}

void match_gap9_store_close(void)
{
    if (ram_is_open != 0) {
        pi_ram_close(&ram);
        ram_is_open = 0;
    }
}

uint32_t match_gap9_store_load(const void *data, uint32_t bytes)
{
    const uint32_t address = (match_gap9_store_open() == 0) ? match_gap9_store_alloc(bytes) : UINT32_MAX;
    if (address != UINT32_MAX) {
        match_gap9_store_write(address, data, bytes);
    }
    return address;
}

uint32_t match_gap9_store_alloc(uint32_t bytes)
{
    uint32_t address = 0u;
    return (pi_ram_alloc(&ram, &address, bytes) == 0) ? address : UINT32_MAX;
}

void match_gap9_store_write(uint32_t address, const void *data, uint32_t bytes)
{
    pi_ram_write(&ram, address, (void *)(uintptr_t)data, bytes);
}

/* Latest first: requests end in order, so that the core sleeps once for all of them. */
void match_gap9_store_wait(void)
{
    while (requests_in_flight > 0u) {
        requests_in_flight--;
        pi_cl_ram_read_wait(&requests[requests_in_flight]);
    }
}

void match_gap9_store_copy_1d(void *home, uint32_t address, uint32_t bytes)
{
    if (requests_in_flight == REQUESTS) {
        match_gap9_store_wait();
    }
    pi_cl_ram_read(&ram, address, home, bytes, &requests[requests_in_flight]);
    requests_in_flight++;
}
