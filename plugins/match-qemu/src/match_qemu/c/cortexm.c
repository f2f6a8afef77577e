/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm.c - start-up of a Cortex-M that an emulator loads: vectors, floating-point unit, exceptions. The emulator has
 * written .data and cleared .bss. Registers: Armv7-M and Armv8-M Architecture Reference Manuals, "System Control
 * Block". */
#include "match_board.h"

#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define CPACR_CP10_CP11 (0xFu << 20)
#define CFSR (*(volatile uint32_t *)0xE000ED28u)
#define BFAR (*(volatile uint32_t *)0xE000ED38u)
#define ICSR (*(volatile uint32_t *)0xE000ED04u)

extern uint32_t match_stack_top[];
int main(void);

/* Which exception it was, the address of the instruction, and the data address or the cause. */
__attribute__((used)) _Noreturn static void report(const uint32_t *frame)
{
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
    match_board_fault(ICSR & 0x1FFu, frame[6], 0u);
#else
    const uint32_t cause = CFSR;
    const uint32_t is_address = cause & 0x8080u; /* BFARVALID, MMARVALID */
    match_board_fault(ICSR & 0x1FFu, frame[6], (is_address != 0u) ? BFAR : cause);
#endif
}

/* The processor has pushed the frame on the only stack there is. */
__attribute__((naked)) static void fault(void)
{
    __asm__ volatile("mov r0, sp\nb report");
}

_Noreturn static void start(void)
{
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    CPACR |= CPACR_CP10_CP11;
    __asm__ volatile("dsb\nisb" ::: "memory");
#endif
    match_board_end(main());
}

#define NONE fault, fault, fault, fault, fault, fault, fault

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors = {match_stack_top, {start, NONE, NONE}};
