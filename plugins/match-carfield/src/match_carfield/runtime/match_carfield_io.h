/* match_carfield_io.h - registers, fences and sleep of all three processors. A header included before may define them
 * otherwise. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_IO_H
#define MATCH_CARFIELD_IO_H

#include <stdint.h>

#ifndef MATCH_CARFIELD_READ
#define MATCH_CARFIELD_READ(address) (*(const volatile uint32_t *)(uintptr_t)(address))
#define MATCH_CARFIELD_WRITE(address, value) (*(volatile uint32_t *)(uintptr_t)(address) = (value))
/* Orders accesses to memory and registers before and behind it. */
#define MATCH_CARFIELD_FENCE() __asm__ volatile("fence iorw, iorw" ::: "memory")
/* Which interrupts end a sleep (mie); traps stay off, so that code behind the sleep asks for the reason itself. */
#define MATCH_CARFIELD_WAKE_BY(mask) __asm__ volatile("csrw mie, %0" ::"r"((uintptr_t)(mask)))
#define MATCH_CARFIELD_SLEEP() __asm__ volatile("wfi" ::: "memory")
/* In a loop that looks at a register: returns other than 0 when looking on is of no use (never, on silicon). */
#define MATCH_CARFIELD_LOOK_AGAIN() (0)
#endif

#define MATCH_CARFIELD_MIE_TIMER 0x80u
#define MATCH_CARFIELD_MIE_EXTERNAL 0x800u

#endif
