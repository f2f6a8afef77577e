/* units.c - Carfield's clusters as harts 1 and 2: boot, hand-over, doorbells, sleep. Takes the place of
 * match_carfield_host.c, match_carfield_pulp.c and match_carfield_spatz.c.
 *
 * Everything that two harts share is a counter that one of them writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdint.h>

#include "match_carfield_config.h"
#include "match_carfield_pulp.h"
#include "match_carfield_spatz.h"
#include "virt.h"

/* How long a sleep of the host lasts at most, and how long it waits for a unit that is to boot or to return. */
#ifndef PORT_SLEEP_TICKS
#define PORT_SLEEP_TICKS (VIRT_TICKS_PER_SECOND / 50u)
#endif
#ifndef PORT_ANSWER_TICKS
#define PORT_ANSWER_TICKS (60u * VIRT_TICKS_PER_SECOND)
#endif

#define HOST 0u
#define UNITS 2u
enum { PULP, SPATZ };

typedef struct {
    _Atomic uint32_t boots_asked; /* written by the host only */
    _Atomic uint32_t boots_done;  /* written by the unit only */
    _Atomic uint32_t launches;    /* written by the host only */
    _Atomic uint32_t returns;     /* written by the unit only */
    void (*entry)(void *);        /* of the last launch */
    void *argument;
    uint32_t users;               /* the host's: starts that were not stopped */
    uint32_t cores, core;         /* the unit's: it is all of its cores, one after another */
} unit_t;

/* All harts boot at power-on, before the host has cleared .bss. */
static unit_t units[UNITS] __attribute__((section(".data"))) = {
    [PULP] = {.boots_asked = 1u, .cores = 8u},
    [SPATZ] = {.boots_asked = 1u, .cores = 2u},
};

static uint32_t hart_of(const unit_t *unit)
{
    return (uint32_t)(unit - units) + 1u;
}

static uint32_t seen(const _Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_acquire);
}

static void tell(_Atomic uint32_t *counter, uint32_t value)
{
    atomic_store_explicit(counter, value, memory_order_release);
}

/* ---- the host sleeps --------------------------------------------------------------------------------------------- */

int match_port_wait(void)
{
    const uint64_t end = virt_ticks() + PORT_SLEEP_TICKS;
    virt_set_timer(HOST, end);
    do {
        if (virt_sleep() != 0) {
            virt_hush();
            return 0;
        }
    } while (virt_ticks() < end);
    return 1;
}

/* Until both counters are equal; 0 if they are. */
static int await(const _Atomic uint32_t *wanted, const _Atomic uint32_t *counter)
{
    const uint64_t end = virt_ticks() + PORT_ANSWER_TICKS;
    while (seen(counter) != seen(wanted)) {
        if (virt_ticks() >= end) {
            return -1;
        }
        (void)match_port_wait();
    }
    return 0;
}

/* ---- the host's side --------------------------------------------------------------------------------------------- */

/* The first user boots the unit, whatever it is doing. */
static int start(unit_t *unit)
{
    if (unit->users == 0u) {
        if (await(&unit->boots_asked, &unit->boots_done) != 0) {
            return -1;
        }
        tell(&unit->boots_asked, seen(&unit->boots_asked) + 1u);
        virt_boot(hart_of(unit));
        if (await(&unit->boots_asked, &unit->boots_done) != 0) {
            return -1;
        }
    }
    unit->users++;
    return 0;
}

/* There is nothing to switch off: an idle hart sleeps. */
static void stop(unit_t *unit)
{
    if (unit->users > 0u) {
        unit->users--;
    }
}

static int launch(unit_t *unit, void (*entry)(void *), void *argument)
{
    const uint32_t launches = seen(&unit->launches);
    if ((unit->users == 0u) || (seen(&unit->returns) != launches)) {
        return -1;
    }
    unit->entry = entry;
    unit->argument = argument;
    tell(&unit->launches, launches + 1u);
    virt_ring(hart_of(unit));
    return 0;
}

static int join(unit_t *unit)
{
    return await(&unit->launches, &unit->returns);
}

static int call(unit_t *unit, void (*entry)(void *), void *argument)
{
    if (launch(unit, entry, argument) != 0) {
        return -1;
    }
    while (seen(&unit->returns) != seen(&unit->launches)) {
        (void)match_port_wait();
    }
    return 0;
}

/* ---- the units' side --------------------------------------------------------------------------------------------- */

_Noreturn void virt_unit(uint32_t hart)
{
    unit_t *const unit = &units[hart - 1u];
    tell(&unit->returns, seen(&unit->launches)); /* what ran before has ended */
    virt_allow_boot();
    tell(&unit->boots_done, seen(&unit->boots_asked));
    virt_ring(HOST);
    for (;;) {
        const uint32_t launches = seen(&unit->launches);
        if (launches != seen(&unit->returns)) {
            unit->entry(unit->argument);
            tell(&unit->returns, launches);
            virt_ring(HOST);
        } else {
            (void)virt_sleep();
            virt_hush();
        }
    }
}

#if MATCH_CARFIELD_POLL

static int wait(const match_queue_t *queue, uint32_t count)
{
    return match_spin(queue, count);
}

static void notify(void)
{
}

#else

static int wait(const match_queue_t *queue, uint32_t count)
{
    uint32_t posted = match_load(&queue->posted);
    while (posted < count) {
        (void)virt_sleep();
        virt_hush();
        posted = match_load(&queue->posted);
    }
    return (posted == MATCH_CANCEL) ? 1 : 0;
}

static void notify(void)
{
    virt_ring(HOST);
}

#endif

static void team(unit_t *unit, void (*entry)(void *), const void *tile)
{
    for (unit->core = 0u; unit->core < unit->cores; unit->core++) {
        entry((void *)(uintptr_t)tile);
    }
    unit->core = 0u;
}

/* ---- what SDKs say about cores (pulp.h, snrt.h) ------------------------------------------------------------------- */

int rt_core_id(void)
{
    return (int)units[PULP].core;
}

int get_core_num(void)
{
    return (int)units[PULP].cores;
}

uint32_t snrt_cluster_core_idx(void)
{
    return units[SPATZ].core;
}

uint32_t snrt_cluster_core_num(void)
{
    return units[SPATZ].cores;
}

/* ---- the functions of match_carfield_api.h, for both units -------------------------------------------------------- */

#define UNIT_FUNCTIONS(name, index)                                                                                    \
    int match_carfield_##name##_start(void) { return start(&units[index]); }                                           \
    void match_carfield_##name##_stop(void) { stop(&units[index]); }                                                   \
    int match_carfield_##name##_launch(void (*entry)(void *), void *argument)                                          \
    {                                                                                                                  \
        return launch(&units[index], entry, argument);                                                                 \
    }                                                                                                                  \
    int match_carfield_##name##_join(void) { return join(&units[index]); }                                             \
    int match_carfield_##name##_call(void (*entry)(void *), void *argument)                                            \
    {                                                                                                                  \
        return call(&units[index], entry, argument);                                                                   \
    }                                                                                                                  \
    void match_carfield_##name##_signal(void) { virt_ring((index) + 1u); }                                             \
    int match_carfield_##name##_wait(const match_queue_t *queue, uint32_t count) { return wait(queue, count); }        \
    void match_carfield_##name##_notify(void) { notify(); }                                                            \
    void match_carfield_##name##_team(void (*entry)(void *), const void *tile) { team(&units[index], entry, tile); }

UNIT_FUNCTIONS(pulp, PULP)
UNIT_FUNCTIONS(spatz, SPATZ)
