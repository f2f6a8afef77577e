/* match_carfield_host.c - the host's side: domains, boot, mailboxes, sleep.
 *
 * The host never takes a trap: interrupts that are enabled end its sleep, and it asks the PLIC behind it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "car_util.h"
#include "dif_rv_plic.h"

#include "match_carfield_api.h"
#include "match_carfield_config.h"
#include "match_carfield_protocol.h"
#include "match_runtime.h"

/* How often the host sleeps for a layer before it gives up: an estimate, 100 s if a sleep takes 2 ms. */
#ifndef MATCH_CARFIELD_CALL_WAITS
#define MATCH_CARFIELD_CALL_WAITS 50000u
#endif
/* The same for a unit that is about to return, and ticks of the CLINT's timer that a sleep lasts at most. */
#ifndef MATCH_CARFIELD_JOIN_WAITS
#define MATCH_CARFIELD_JOIN_WAITS 1000u
#endif
#ifndef MATCH_CARFIELD_SLEEP_TICKS
#define MATCH_CARFIELD_SLEEP_TICKS 1000u
#endif

/* Registers of the platform control block and of the clusters (hardware sheet, section 5). */
#define PLATFORM_CONTROL 0x20010000u
#define PULP_FETCH_ENABLE (PLATFORM_CONTROL + 0xC0u)
#define PULP_BOOT_ENABLE (PLATFORM_CONTROL + 0xDCu)
#define PULP_EOC (PLATFORM_CONTROL + 0xE8u)
#define SPATZ_BOOT 0x51020058u
#define SPATZ_EOC 0x51020060u
#define CLINT_MTIMECMP 0x02044000u
#define CLINT_MTIME 0x0204BFF8u
#define PLIC 0x04000000u
#define HART 0u
#define PULP_IRQ 58u  /* mailbox 15; the external interrupts begin at 57 */
#define SPATZ_IRQ 60u /* mailbox 12 */

typedef struct {
    uint32_t to;
    uint32_t from;
    uint32_t irq;
    uint32_t order;
    uint32_t eoc;
    uint32_t users;   /* starts that were not stopped */
    uint32_t booted;  /* since power-on */
    uint32_t running; /* a function was handed over and has not returned */
} unit_t;

static unit_t pulp = {.to = MATCH_CARFIELD_TO_PULP, .from = MATCH_CARFIELD_FROM_PULP, .irq = PULP_IRQ,
                      .order = MATCH_CARFIELD_ORDER_PULP, .eoc = PULP_EOC};
static unit_t spatz = {.to = MATCH_CARFIELD_TO_SPATZ, .from = MATCH_CARFIELD_FROM_SPATZ, .irq = SPATZ_IRQ,
                       .order = MATCH_CARFIELD_ORDER_SPATZ, .eoc = SPATZ_EOC};

/* ---- notifications ------------------------------------------------------------------------------------------------ */

static void receive(unit_t *unit)
{
    if (match_carfield_receive(unit->from) == MATCH_CARFIELD_ENDED) {
        unit->running = 0u;
    }
}

#if MATCH_CARFIELD_POLL

static void listen(const unit_t *unit)
{
    (void)unit;
}

/* Nobody rings: the host looks at the mailboxes now and then, and at the counters behind each return. Of so many looks
 * one counts as a wait without news, so that waits have a bound: at some 100 cycles a look and 50 MHz it is 2 ms. */
#define LOOKS_OF_A_WAIT 1000u

int match_port_wait(void)
{
    static uint32_t looks;
    const int over = MATCH_CARFIELD_LOOK_AGAIN();
    receive(&pulp);
    receive(&spatz);
    looks = (looks + 1u) % LOOKS_OF_A_WAIT;
    return ((over != 0) || (looks == 0u)) ? 1 : 0;
}

#else

static dif_rv_plic_t plic;
static int plic_is_on;

static void listen(const unit_t *unit)
{
    if (plic_is_on == 0) {
        (void)dif_rv_plic_init(mmio_region_from_addr(PLIC), &plic);
        MATCH_CARFIELD_WAKE_BY(MATCH_CARFIELD_MIE_EXTERNAL | MATCH_CARFIELD_MIE_TIMER);
        plic_is_on = 1;
    }
    (void)dif_rv_plic_irq_set_priority(&plic, unit->irq, 1u);
    (void)dif_rv_plic_irq_set_enabled(&plic, unit->irq, HART, kDifToggleEnabled);
}

/* How many interrupts there were. */
static uint32_t take_interrupts(void)
{
    uint32_t taken = 0u;
    dif_rv_plic_irq_id_t irq = 0u;
    (void)dif_rv_plic_irq_claim(&plic, HART, &irq);
    while (irq != 0u) {
        receive((irq == PULP_IRQ) ? &pulp : &spatz);
        (void)dif_rv_plic_irq_complete(&plic, HART, irq);
        taken++;
        irq = 0u;
        (void)dif_rv_plic_irq_claim(&plic, HART, &irq);
    }
    return taken;
}

/* The upper half of the comparator is written last: in between it may only be late. */
static void set_timer(uint32_t ticks)
{
    const uint32_t low = MATCH_CARFIELD_READ(CLINT_MTIME);
    const uint32_t high = MATCH_CARFIELD_READ(CLINT_MTIME + 4u);
    const uint32_t end = low + ticks;
    MATCH_CARFIELD_WRITE(CLINT_MTIMECMP + 4u, UINT32_MAX);
    MATCH_CARFIELD_WRITE(CLINT_MTIMECMP, end);
    MATCH_CARFIELD_WRITE(CLINT_MTIMECMP + 4u, (end < low) ? high + 1u : high);
}

/* The end of a swap rings no bell, so the host looks for it instead of sleeping. */
static int wait_for_swap(void)
{
    for (uint32_t turn = 0u; turn < MATCH_CARFIELD_SLEEP_TICKS; turn++) {
        if ((match_carfield_swap_busy() == 0) || (take_interrupts() != 0u)) {
            return 0;
        }
        if (MATCH_CARFIELD_LOOK_AGAIN() != 0) {
            return 1;
        }
    }
    return 1;
}

int match_port_wait(void)
{
    if (match_carfield_swap_busy() != 0) {
        return wait_for_swap();
    }
    set_timer(MATCH_CARFIELD_SLEEP_TICKS);
    MATCH_CARFIELD_SLEEP();
    return (take_interrupts() != 0u) ? 0 : 1;
}

#endif

/* ---- hand-over ---------------------------------------------------------------------------------------------------- */

static int launch(unit_t *unit, void (*entry)(void *), void *argument)
{
    if ((unit->users == 0u) || (unit->running != 0u)) {
        return -1;
    }
    MATCH_CARFIELD_ORDERS[unit->order].entry = (uint64_t)(uintptr_t)entry;
    MATCH_CARFIELD_ORDERS[unit->order].argument = (uint64_t)(uintptr_t)argument;
    unit->running = 1u;
    match_carfield_send(unit->to, MATCH_CARFIELD_RUN);
    return 0;
}

static int join(unit_t *unit)
{
    receive(unit);
    for (uint32_t waits = 0u; (unit->running != 0u) && (waits < MATCH_CARFIELD_JOIN_WAITS); waits++) {
        (void)match_port_wait();
    }
    return (unit->running != 0u) ? -1 : 0;
}

static int call(unit_t *unit, void (*entry)(void *), void *argument)
{
    if (launch(unit, entry, argument) != 0) {
        return -1;
    }
    for (uint32_t waits = 0u; unit->running != 0u; waits++) {
        if (waits == MATCH_CARFIELD_CALL_WAITS) {
            return -1; /* the unit takes nothing more until it has been stopped and started */
        }
        MATCH_YIELD();
        (void)match_port_wait();
    }
    return 0;
}

/* ---- boot --------------------------------------------------------------------------------------------------------- */

/* Whether the unit was off. */
static int begin_use(unit_t *unit)
{
    unit->users++;
    if (unit->users > 1u) {
        return 0;
    }
    unit->running = 0u;
    listen(unit);
    return 1;
}

/* Asks the unit's main to return; one that does not is reset by the next start. */
static void end_use(unit_t *unit)
{
    if (unit->users == 0u) {
        return;
    }
    unit->users--;
    if (unit->users > 0u) {
        return;
    }
    match_carfield_send(unit->to, MATCH_CARFIELD_EXIT);
    for (uint32_t turn = 0u; turn < MATCH_CARFIELD_JOIN_WAITS; turn++) {
        if ((MATCH_CARFIELD_READ(unit->eoc) != 0u) || (MATCH_CARFIELD_LOOK_AGAIN() != 0)) {
            return;
        }
    }
}

/* A domain is gated and isolated after power-on; later it is on, with what the last program left. */
static void power(unit_t *unit, enum car_rst domain)
{
    if (unit->booted == 0u) {
        car_enable_domain(domain);
    } else {
        car_reset_domain(domain);
    }
    unit->booted = 1u;
}

int match_carfield_pulp_start(void)
{
    if (begin_use(&pulp) != 0) {
        MATCH_CARFIELD_WRITE(PULP_FETCH_ENABLE, 0u);
        MATCH_CARFIELD_WRITE(PULP_BOOT_ENABLE, 0u);
        power(&pulp, CAR_PULP_RST);
        pulp_cluster_set_bootaddress(MATCH_CARFIELD_PULP_ENTRY);
        MATCH_CARFIELD_WRITE(PULP_BOOT_ENABLE, 1u);
        MATCH_CARFIELD_WRITE(PULP_FETCH_ENABLE, 1u);
        MATCH_CARFIELD_FENCE();
    }
    return 0;
}

int match_carfield_spatz_start(void)
{
    if (begin_use(&spatz) != 0) {
        power(&spatz, CAR_SPATZ_RST);
        MATCH_CARFIELD_WRITE(SPATZ_BOOT, MATCH_CARFIELD_SPATZ_ENTRY);
        match_carfield_ring(MATCH_CARFIELD_TO_SPATZ);
        match_carfield_ring(MATCH_CARFIELD_TO_SPATZ_1);
    }
    return 0;
}

void match_carfield_pulp_stop(void)
{
    end_use(&pulp);
}

void match_carfield_spatz_stop(void)
{
    end_use(&spatz);
}

/* ---- both units --------------------------------------------------------------------------------------------------- */

int match_carfield_pulp_launch(void (*entry)(void *), void *argument)
{
    return launch(&pulp, entry, argument);
}

int match_carfield_spatz_launch(void (*entry)(void *), void *argument)
{
    return launch(&spatz, entry, argument);
}

int match_carfield_pulp_join(void)
{
    return join(&pulp);
}

int match_carfield_spatz_join(void)
{
    return join(&spatz);
}

int match_carfield_pulp_call(void (*entry)(void *), void *argument)
{
    return call(&pulp, entry, argument);
}

int match_carfield_spatz_call(void (*entry)(void *), void *argument)
{
    return call(&spatz, entry, argument);
}

void match_carfield_pulp_signal(void)
{
    match_carfield_ring(MATCH_CARFIELD_TO_PULP);
}

void match_carfield_spatz_signal(void)
{
    match_carfield_ring(MATCH_CARFIELD_TO_SPATZ);
}
