/* SPDX-License-Identifier: Apache-2.0 */
/* support.c - Arm MPS2 with the image AN386 (a Cortex-M4): vectors, start-up, UART 0 (CMSDK APB UART, Arm DDI 0479),
 * and SysTick, which counts processor cycles. */
#include <stdint.h>

#include "match_board.h"
#include "match_serial.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define UART_DATA REGISTER(0x40004000u)
#define UART_STATE REGISTER(0x40004004u)
#define UART_CONTROL REGISTER(0x40004008u)
#define UART_DIVIDER REGISTER(0x40004010u)
#define UART_SEND_FULL 1u
#define UART_RECEIVED 2u
#define UART_ENABLE 3u /* both directions */
#define UART_CYCLES_PER_BIT 651u /* 25 MHz / 38400 baud */

#define SYSTICK_CONTROL REGISTER(0xE000E010u)
#define SYSTICK_RELOAD REGISTER(0xE000E014u)
#define SYSTICK_VALUE REGISTER(0xE000E018u)
#define SYSTICK_RUN 7u /* processor clock, interrupt, enable */
#define SYSTICK_MAX 0xFFFFFFu
#define CYCLES_PER_SECOND 25000000u

#define CPACR REGISTER(0xE000ED88u)
#define CFSR REGISTER(0xE000ED28u)
#define BFAR REGISTER(0xE000ED38u)
#define ICSR REGISTER(0xE000ED04u)

extern uint32_t match_stack_top[], support_data[], support_data_end[], support_data_load[], support_bss[],
    support_bss_end[];
int main(void);

static volatile uint32_t rounds;

static void tick(void)
{
    rounds++;
}

__attribute__((used)) _Noreturn static void report(const uint32_t *frame)
{
    const uint32_t cause = CFSR;
    match_board_fault(ICSR & 0x1FFu, frame[6], ((cause & 0x8080u) != 0u) ? BFAR : cause);
}

__attribute__((naked)) static void fault(void)
{
    __asm__ volatile("mov r0, sp\nb report");
}

_Noreturn static void start(void)
{
    const uint32_t *from = support_data_load;
    for (volatile uint32_t *to = support_data; to < support_data_end; to++) {
        *to = *from++;
    }
    for (volatile uint32_t *to = support_bss; to < support_bss_end; to++) {
        *to = 0u;
    }
    CPACR |= 0xFu << 20; /* floating point */
    __asm__ volatile("dsb\nisb" ::: "memory");
    match_board_end(main());
}

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors = {match_stack_top, {[0] = start, [1] = fault, [2] = fault, [3] = fault, [4] = fault, [5] = fault, [14] = tick}};

void match_serial_start(void)
{
    UART_DIVIDER = UART_CYCLES_PER_BIT;
    UART_CONTROL = UART_ENABLE;
    SYSTICK_RELOAD = SYSTICK_MAX;
    SYSTICK_VALUE = 0u;
    SYSTICK_CONTROL = SYSTICK_RUN;
}

void match_serial_put(uint8_t byte)
{
    while ((UART_STATE & UART_SEND_FULL) != 0u) {
    }
    UART_DATA = byte;
}

int match_serial_get(void)
{
    const uint64_t end = match_board_count() + CYCLES_PER_SECOND;
    while ((UART_STATE & UART_RECEIVED) == 0u) {
        if (match_board_count() > end) {
            return -1;
        }
    }
    return (int)(UART_DATA & 0xFFu);
}

uint64_t match_board_count(void)
{
    uint32_t before, value;
    do {
        before = rounds;
        value = SYSTICK_VALUE;
    } while (before != rounds);
    /* The interrupt comes with value 0, a cycle before the counter begins again from the top. */
    return (uint64_t)before * (SYSTICK_MAX + 1u) + ((value == 0u) ? 0u : (SYSTICK_MAX + 1u) - value);
}
