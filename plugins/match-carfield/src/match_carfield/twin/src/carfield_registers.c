/* carfield_registers.c - mailboxes, interrupts, platform control, and sleep. Signalling costs of a session are those of
 * the Soc's `signalling`, which the twin's counters charge; letters are charged here. SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "car_util.h"
#include "carfield_twin.h"
#include "dif_rv_plic.h"
#include "match_carfield_protocol.h"
#include "match_carfield_pulp.h"
#include "match_carfield_spatz.h"
#include "redmule.h"

/* A program may have no code for one of the units. */
#pragma weak match_carfield_pulp_serve
#pragma weak match_carfield_spatz_serve

#define MAILBOXES 25u
#define FIRST_IRQ 57u
#define IRQS 5u
#define PULP_IRQ 58u
#define SPATZ_IRQ 60u
#define REDMULE 0x50201000u
#define CLUSTER_CLOCKS 0x50200018u /* bit 11: RedMulE's */
#define REDMULE_CLOCK 0x800u

/* Letters are ordered as the fences around them order memory; doorbells order nothing. */
static struct {
  _Atomic uint32_t pending, enabled, letter[2];
} mailbox[MAILBOXES];

static match_carfield_order_t orders[2];

volatile struct match_carfield_order *match_carfield_twin_orders(void) { return orders; }

static struct {
  bool domain[CARFIELD_UNITS], booted[CARFIELD_UNITS];
  uint32_t boot_address[CARFIELD_UNITS];
  uint32_t boot_enable;
} platform;

static uint32_t cluster_clocks; /* PULP's own */

static struct {
  bool initialised, enabled[IRQS];
  uint32_t priority[IRQS], claimed;
} plic;

/* Of the host and of Spatz; PULP sleeps in its event unit. */
static uint32_t wake_mask[2];
static bool timer_is_set;

/* ---- mailboxes ----------------------------------------------------------------------------------------------------- */

static bool is_requested(uint32_t id) {
  return atomic_load_explicit(&mailbox[id].pending, memory_order_relaxed) != 0u &&
         atomic_load_explicit(&mailbox[id].enabled, memory_order_relaxed) != 0u;
}

static bool has_letter(uint32_t id) { return atomic_load_explicit(&mailbox[id].letter[0], memory_order_relaxed) != 0u; }

/* A unit that sleeps in its main is no context: a letter makes it one. */
static void ring_unit(carfield_unit_t unit, uint32_t id) {
  if (!platform.booted[unit]) {
    match_twin_faultf("mailbox %u rings for %s, which was not booted", (unsigned)id, carfield_name(unit));
  }
  if (!carfield_is_running(unit) && has_letter(id)) {
    carfield_begin(unit, unit == CARFIELD_PULP ? match_carfield_pulp_serve : match_carfield_spatz_serve);
  } else {
    match_twin_ring(unit == CARFIELD_PULP ? CARFIELD_BELL_PULP : CARFIELD_BELL_SPATZ);
  }
}

/* Spatz starts at its boot address when its first mailboxes ring. */
static void ring_spatz(uint32_t id) {
  if (platform.boot_address[CARFIELD_SPATZ] == 0u || !platform.domain[CARFIELD_SPATZ]) {
    match_twin_fault("Spatz was woken without a boot address or with its domain off");
  }
  if (!platform.booted[CARFIELD_SPATZ]) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_SPATZ, MATCH_CARFIELD_BOOT_CYCLES, "boot");
    platform.booted[CARFIELD_SPATZ] = true;
  } else if (id == MATCH_CARFIELD_TO_SPATZ) {
    ring_unit(CARFIELD_SPATZ, id);
  }
}

static void ring(uint32_t id) {
  switch (id) {
  case MATCH_CARFIELD_TO_PULP:
    ring_unit(CARFIELD_PULP, id);
    break;
  case MATCH_CARFIELD_TO_SPATZ:
  case MATCH_CARFIELD_TO_SPATZ_1:
    ring_spatz(id);
    break;
  case MATCH_CARFIELD_FROM_PULP:
  case MATCH_CARFIELD_FROM_SPATZ:
    match_twin_ring(CARFIELD_BELL_HOST);
    match_twin_changed();
    break;
  default:
    match_twin_faultf("mailbox %u has nobody at its other end", (unsigned)id);
  }
}

static void write_mailbox(uint32_t id, uint32_t offset, uint32_t value) {
  const unsigned clock = match_twin_context_clock();
  switch (offset) {
  case MATCH_CARFIELD_SET:
    atomic_store_explicit(&mailbox[id].pending, value, memory_order_relaxed);
    break;
  case MATCH_CARFIELD_CLR:
    atomic_store_explicit(&mailbox[id].pending, 0u, memory_order_relaxed);
    break;
  case MATCH_CARFIELD_EN:
    atomic_store_explicit(&mailbox[id].enabled, value, memory_order_relaxed);
    if (is_requested(id)) {
      ring(id);
    }
    break;
  case MATCH_CARFIELD_LETTER0:
    if (value != 0u) {
      match_twin_spend_kind(clock, MATCH_CARFIELD_MAILBOX_SEND_CYCLES, "letter");
      match_twin_yield(); /* who reads before this time finds no letter */
    }
    atomic_store_explicit(&mailbox[id].letter[0], value, memory_order_release);
    break;
  case MATCH_CARFIELD_LETTER1:
    atomic_store_explicit(&mailbox[id].letter[1], value, memory_order_relaxed);
    break;
  default:
    match_twin_faultf("mailbox register 0x%x is not modelled", (unsigned)offset);
  }
}

static uint32_t take_letter(uint32_t id) {
  match_twin_yield();
  const uint32_t letter = atomic_load_explicit(&mailbox[id].letter[0], memory_order_acquire);
  if (letter != 0u) {
    const uint32_t woken = match_twin_context() == 0u ? MATCH_CARFIELD_IRQ_ENTRY_CYCLES : MATCH_CARFIELD_UNIT_WAKE_CYCLES;
    match_twin_spend_kind(match_twin_context_clock(), MATCH_CARFIELD_MAILBOX_RECEIVE_CYCLES + woken, "letter");
  }
  if (letter == MATCH_CARFIELD_ENDED) {
    carfield_settle(id == MATCH_CARFIELD_FROM_PULP ? CARFIELD_PULP : CARFIELD_SPATZ);
  }
  return letter;
}

static uint32_t read_mailbox(uint32_t id, uint32_t offset) {
  if (offset == MATCH_CARFIELD_LETTER0) {
    return take_letter(id);
  }
  if (offset == MATCH_CARFIELD_LETTER1) {
    return atomic_load_explicit(&mailbox[id].letter[1], memory_order_relaxed);
  }
  match_twin_faultf("mailbox register 0x%x cannot be read", (unsigned)offset);
}

/* ---- domains and boot ---------------------------------------------------------------------------------------------- */

static carfield_unit_t unit_of(enum car_rst rst) {
  if (rst != CAR_PULP_RST && rst != CAR_SPATZ_RST) {
    match_twin_faultf("domain %d is not modelled", (int)rst);
  }
  return rst == CAR_PULP_RST ? CARFIELD_PULP : CARFIELD_SPATZ;
}

void car_enable_domain(enum car_rst rst) { platform.domain[unit_of(rst)] = true; }

/* A unit that hangs is lost: its context cannot be ended from outside. */
void car_reset_domain(enum car_rst rst) {
  const carfield_unit_t unit = unit_of(rst);
  if (carfield_is_running(unit)) {
    match_twin_faultf("%s was reset while it runs: the twin cannot do this", carfield_name(unit));
  }
  platform.domain[unit] = true;
  platform.booted[unit] = false;
}

void pulp_cluster_set_bootaddress(uint32_t pulp_boot_addr) {
  if (!platform.domain[CARFIELD_PULP]) {
    match_twin_fault("PULP's boot address was written while its domain was off");
  }
  platform.boot_address[CARFIELD_PULP] = pulp_boot_addr;
}

static void fetch(uint32_t enable) {
  if (enable == 0u) {
    return;
  }
  if (!platform.domain[CARFIELD_PULP] || platform.boot_enable == 0u || platform.boot_address[CARFIELD_PULP] == 0u) {
    match_twin_fault("PULP was told to fetch before its domain, boot address and boot enable were set");
  }
  match_twin_spend_kind(MATCH_TWIN_CLOCK_PULP, MATCH_CARFIELD_BOOT_CYCLES, "boot");
  platform.booted[CARFIELD_PULP] = true;
}

/* ---- all registers ------------------------------------------------------------------------------------------------- */

static bool is_mailbox(uint32_t address) { return address - 0x40000000u < 0x100u * MAILBOXES; }

/* RedMulE answers core 0 of its cluster, and only with its clock. */
static bool is_redmule(uint32_t address) {
  if (address - REDMULE >= 0x400u) {
    return false;
  }
  carfield_check_core(CARFIELD_PULP, "RedMulE");
  if ((cluster_clocks & REDMULE_CLOCK) == 0u) {
    match_twin_fault("RedMulE was accessed while its clock was gated");
  }
  return true;
}

void match_carfield_twin_write(uint32_t address, uint32_t value) {
  if (is_mailbox(address)) {
    write_mailbox((address - 0x40000000u) / 0x100u, address % 0x100u, value);
  } else if (is_redmule(address)) {
    carfield_redmule_write(address - REDMULE, value);
  } else if (address == CLUSTER_CLOCKS) {
    carfield_check_core(CARFIELD_PULP, "the cluster's clocks");
    cluster_clocks = value;
  } else if (address == 0x200100C0u) {
    fetch(value);
  } else if (address == 0x200100DCu) {
    platform.boot_enable = value;
  } else if (address == 0x51020058u) {
    platform.boot_address[CARFIELD_SPATZ] = value;
  } else if (address == 0x02044000u || address == 0x02044004u) {
    timer_is_set = true;
  } else {
    match_twin_faultf("register 0x%08x is not modelled", (unsigned)address);
  }
}

uint32_t match_carfield_twin_read(uint32_t address) {
  if (is_mailbox(address)) {
    return read_mailbox((address - 0x40000000u) / 0x100u, address % 0x100u);
  }
  if (is_redmule(address)) {
    return carfield_redmule_read(address - REDMULE);
  }
  switch (address) {
  case CLUSTER_CLOCKS:
    return cluster_clocks;
  case 0x200100E8u:
    return carfield_has_exited(CARFIELD_PULP) ? 1u : 0u;
  case 0x51020060u:
    return carfield_has_exited(CARFIELD_SPATZ) ? 1u : 0u;
  case 0x0204BFF8u:
    return (uint32_t)match_twin_now(MATCH_TWIN_CLOCK_HOST);
  case 0x0204BFFCu:
    return (uint32_t)(match_twin_now(MATCH_TWIN_CLOCK_HOST) >> 32);
  default:
    match_twin_faultf("register 0x%08x is not modelled", (unsigned)address);
  }
}

/* ---- interrupt controller ------------------------------------------------------------------------------------------- */

mmio_region_t mmio_region_from_addr(uintptr_t address) { return (mmio_region_t){(uint32_t)address}; }

dif_result_t dif_rv_plic_init(mmio_region_t base_addr, dif_rv_plic_t *interrupts) {
  if (base_addr.base != 0x04000000u) {
    match_twin_faultf("the PLIC is not at 0x%08x", (unsigned)base_addr.base);
  }
  interrupts->base_addr = base_addr;
  plic.initialised = true;
  return kDifOk;
}

static uint32_t line_of(dif_rv_plic_irq_id_t irq) {
  if (!plic.initialised || irq - FIRST_IRQ >= IRQS) {
    match_twin_faultf("interrupt %u is no line of the clusters, or the PLIC was not initialised", (unsigned)irq);
  }
  return irq - FIRST_IRQ;
}

dif_result_t dif_rv_plic_irq_set_priority(const dif_rv_plic_t *interrupts, dif_rv_plic_irq_id_t irq,
                                          uint32_t priority) {
  (void)interrupts;
  plic.priority[line_of(irq)] = priority;
  return kDifOk;
}

dif_result_t dif_rv_plic_irq_set_enabled(const dif_rv_plic_t *interrupts, dif_rv_plic_irq_id_t irq,
                                         dif_rv_plic_target_t target, dif_toggle_t state) {
  (void)interrupts;
  (void)target;
  plic.enabled[line_of(irq)] = state == kDifToggleEnabled;
  return kDifOk;
}

static uint32_t pending_irq(void) {
  static const uint32_t lines[][2] = {{PULP_IRQ, MATCH_CARFIELD_FROM_PULP}, {SPATZ_IRQ, MATCH_CARFIELD_FROM_SPATZ}};
  for (uint32_t i = 0u; i < 2u; i++) {
    const uint32_t line = line_of(lines[i][0]);
    if (plic.enabled[line] && plic.priority[line] > 0u && is_requested(lines[i][1])) {
      return lines[i][0];
    }
  }
  return 0u;
}

dif_result_t dif_rv_plic_irq_claim(const dif_rv_plic_t *interrupts, dif_rv_plic_target_t target,
                                   dif_rv_plic_irq_id_t *claim_data) {
  (void)interrupts;
  (void)target;
  if (plic.claimed != 0u) {
    match_twin_faultf("an interrupt was claimed before %u was completed", (unsigned)plic.claimed);
  }
  plic.claimed = pending_irq();
  *claim_data = plic.claimed;
  return kDifOk;
}

dif_result_t dif_rv_plic_irq_complete(const dif_rv_plic_t *interrupts, dif_rv_plic_target_t target,
                                      dif_rv_plic_irq_id_t complete_data) {
  (void)interrupts;
  (void)target;
  if (complete_data != plic.claimed) {
    match_twin_faultf("interrupt %u was completed, but %u was claimed", (unsigned)complete_data,
                      (unsigned)plic.claimed);
  }
  plic.claimed = 0u;
  return kDifOk;
}

/* ---- sleep ---------------------------------------------------------------------------------------------------------- */

void match_carfield_twin_wake_by(uint32_t mask) { wake_mask[carfield_on(CARFIELD_SPATZ) ? 1 : 0] = mask; }

static void sleep_of_host(void) {
  if ((wake_mask[0] & MATCH_CARFIELD_MIE_TIMER) == 0u || !timer_is_set) {
    match_twin_fault("the host sleeps without a timer that ends it");
  }
  timer_is_set = false;
  while (pending_irq() == 0u) {
    if (match_twin_sleep_bounded(CARFIELD_BELL_HOST) != 0) {
      return;
    }
  }
}

void match_carfield_twin_sleep(void) {
  const bool spatz = carfield_on(CARFIELD_SPATZ);
  if ((wake_mask[spatz ? 1 : 0] & MATCH_CARFIELD_MIE_EXTERNAL) == 0u) {
    match_twin_fault("a core sleeps and no interrupt can wake it");
  }
  if (carfield_on(CARFIELD_PULP)) {
    match_twin_fault("PULP's cores sleep in their event unit");
  }
  if (!spatz) {
    sleep_of_host();
  } else if (!is_requested(MATCH_CARFIELD_TO_SPATZ)) {
    match_twin_sleep(CARFIELD_BELL_SPATZ);
  }
}

unsigned int eu_evt_maskWaitAndClr(unsigned int evtMask) {
  carfield_check_core(CARFIELD_PULP, "eu_evt_maskWaitAndClr");
  if (evtMask != 1u << 22) {
    match_twin_faultf("event mask 0x%08x is not modelled", evtMask);
  }
  match_twin_sleep(CARFIELD_BELL_PULP);
  return evtMask;
}

int match_carfield_twin_look_again(void) { return match_twin_relax_bounded(); }
