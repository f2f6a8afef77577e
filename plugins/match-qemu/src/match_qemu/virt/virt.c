/* virt.c - registers of QEMU's machine `virt` (QEMU, hw/riscv/virt.c) and the control registers of a hart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "virt.h"

#define TEST_DEVICE 0x00100000u
#define CLINT_MSIP 0x02000000u
#define CLINT_MTIMECMP 0x02004000u
#define CLINT_MTIME 0x0200BFF8u
#define UART 0x10000000u

#define TEST_PASS 0x5555u
#define TEST_FAIL 0x3333u
#define UART_STATUS 5u
#define UART_STATUS_EMPTY 0x20u

#define MSTATUS_MIE 0x8u
#define MIE_SOFTWARE 0x8u
#define MIE_TIMER 0x80u

#define FENCE() __asm__ volatile("fence iorw, iorw" ::: "memory")

static void write32(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
}

static uint32_t read32(uint32_t address)
{
    return *(const volatile uint32_t *)(uintptr_t)address;
}

uint32_t virt_hart(void)
{
    uintptr_t hart;
    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    return (uint32_t)hart;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

uint64_t virt_ticks(void)
{
    uint32_t high, low;
    do {
        high = read32(CLINT_MTIME + 4u);
        low = read32(CLINT_MTIME);
    } while (high != read32(CLINT_MTIME + 4u));
    return ((uint64_t)high << 32) | low;
}

/* In between the comparator may only be late. */
void virt_set_timer(uint32_t hart, uint64_t ticks)
{
    const uint32_t comparator = CLINT_MTIMECMP + 8u * hart;
    write32(comparator + 4u, UINT32_MAX);
    write32(comparator, (uint32_t)ticks);
    write32(comparator + 4u, (uint32_t)(ticks >> 32));
    FENCE();
}

/* ---- doorbells --------------------------------------------------------------------------------------------------- */

void virt_ring(uint32_t hart)
{
    FENCE();
    write32(CLINT_MSIP + 4u * hart, 1u);
}

void virt_hush(void)
{
    write32(CLINT_MSIP + 4u * virt_hart(), 0u);
    FENCE();
}

/* Interrupts that are enabled end the sleep, but none is taken in it: a timer that boots the hart is taken behind. */
int virt_sleep(void)
{
    uintptr_t before, pending;
    __asm__ volatile("csrrc %0, mstatus, %1" : "=r"(before) : "r"((uintptr_t)MSTATUS_MIE) : "memory");
    __asm__ volatile("csrs mie, %0" ::"r"((uintptr_t)(MIE_SOFTWARE | MIE_TIMER)));
    __asm__ volatile("wfi" ::: "memory");
    __asm__ volatile("csrr %0, mip" : "=r"(pending));
    __asm__ volatile("csrc mie, %0" ::"r"((uintptr_t)MIE_SOFTWARE));
    __asm__ volatile("csrs mstatus, %0" ::"r"(before & MSTATUS_MIE) : "memory");
    return ((pending & MIE_SOFTWARE) != 0u) ? 1 : 0;
}

/* ---- boot -------------------------------------------------------------------------------------------------------- */

void virt_boot(uint32_t hart)
{
    FENCE();
    virt_set_timer(hart, 0u);
}

void virt_allow_boot(void)
{
    virt_set_timer(virt_hart(), UINT64_MAX);
    __asm__ volatile("csrs mie, %0" ::"r"((uintptr_t)MIE_TIMER));
    __asm__ volatile("csrs mstatus, %0" ::"r"((uintptr_t)MSTATUS_MIE) : "memory");
}

/* ---- console and end --------------------------------------------------------------------------------------------- */

static void put(char letter)
{
    const volatile uint8_t *const status = (const volatile uint8_t *)(uintptr_t)(UART + UART_STATUS);
    while ((*status & UART_STATUS_EMPTY) == 0u) {
    }
    *(volatile uint8_t *)(uintptr_t)UART = (uint8_t)letter;
}

void virt_print(const char *text)
{
    for (; *text != '\0'; text++) {
        put(*text);
    }
}

void virt_print_number(uint64_t number)
{
    char digits[20];
    uint32_t count = 0u;
    do {
        digits[count++] = (char)('0' + (char)(number % 10u));
        number /= 10u;
    } while (number != 0u);
    while (count > 0u) {
        put(digits[--count]);
    }
}

void virt_print_hex(const uint8_t *data, uint32_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0u; i < bytes; i++) {
        put(digits[data[i] >> 4]);
        put(digits[data[i] & 15u]);
    }
}

_Noreturn void virt_exit(int status)
{
    const uint32_t code = (uint32_t)status & 0xFFu;
    write32(TEST_DEVICE, (code == 0u) ? TEST_PASS : ((code << 16) | TEST_FAIL));
    for (;;) {
        __asm__ volatile("wfi");
    }
}

_Noreturn void virt_fault(uintptr_t cause, uintptr_t address, uintptr_t value)
{
    virt_print("fault: hart ");
    virt_print_number(virt_hart());
    virt_print(", cause ");
    virt_print_number(cause);
    virt_print(", at ");
    virt_print_number(address);
    virt_print(", value ");
    virt_print_number(value);
    virt_print("\n");
    virt_exit(255);
}
