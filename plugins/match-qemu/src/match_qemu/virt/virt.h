/* virt.h - QEMU's machine `virt` without an operating system: harts, timer, doorbells, console, end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRT_H
#define VIRT_H

#include <stdint.h>

#define VIRT_TICKS_PER_SECOND 10000000u

uint32_t virt_hart(void);

/* ---- time: of all harts; each has a comparator ------------------------------------------------------------------- */

uint64_t virt_ticks(void);
void virt_set_timer(uint32_t hart, uint64_t ticks);

/* ---- doorbells: software interrupts of the CLINT ----------------------------------------------------------------- */

/* Memory that was written before is seen by the hart that wakes up. */
void virt_ring(uint32_t hart);
/* Takes the bell of this hart back; one that rings behind it stays. */
void virt_hush(void);
/* Sleeps until the bell of this hart rings or its timer is due; whether the bell rings. Nothing is lost: a bell that
 * rang before ends the sleep at once. */
int virt_sleep(void);

/* ---- booting a hart: its timer interrupt, which start.S takes as a new start ------------------------------------- */

void virt_boot(uint32_t hart);
/* The hart's own: from now on it can be booted. */
void virt_allow_boot(void);

/* ---- console and end --------------------------------------------------------------------------------------------- */

void virt_print(const char *text);
void virt_print_number(uint64_t number);
void virt_print_hex(const uint8_t *data, uint32_t bytes);
/* QEMU ends with this status. */
_Noreturn void virt_exit(int status);

/* Called by start.S: a hart other than the host; an exception. */
_Noreturn void virt_unit(uint32_t hart);
_Noreturn void virt_fault(uintptr_t cause, uintptr_t address, uintptr_t value);

#endif
