/* driver.c - calls one kernel as core 0 of eight, which has the largest share: driver CALLS KERNEL POINTERS NUMBER...
 * A context is words: addresses first, which get memory of their own, then the numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "counted_kernels.h"
#include "match_ita_team.h"

enum { CONTEXT_WORDS = 48, BUFFERS = 6, BUFFER_BYTES = 1 << 18 };

static uint8_t memory[BUFFERS][BUFFER_BYTES] __attribute__((aligned(64)));

__attribute__((noinline)) uint32_t match_ita_core(void) { return 0u; }
__attribute__((noinline)) uint32_t match_ita_cores(void) { return 8u; }
__attribute__((noinline)) void match_ita_barrier(void) { __asm__ volatile(""); }

__attribute__((noinline)) void match_ita_team_launch(void (*entry)(void *), const void *context)
{
    entry((void *)(uintptr_t)context);
}

void *memset(void *to, int value, uint32_t bytes);
__attribute__((noinline)) void *memset(void *to, int value, uint32_t bytes)
{
    uint8_t *const y = to;
    for (uint32_t i = 0u; i < bytes; i++) {
        y[i] = (uint8_t)value;
        __asm__ volatile("");
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, uint32_t bytes);
__attribute__((noinline)) void *memcpy(void *restrict to, const void *restrict from, uint32_t bytes)
{
    uint8_t *const y = to;
    const uint8_t *const x = from;
    for (uint32_t i = 0u; i < bytes; i++) {
        y[i] = x[i];
        __asm__ volatile("");
    }
    return to;
}

static uint32_t number_of(const char *text)
{
    uint32_t value = 0u;
    for (; *text != '\0'; text++) {
        value = 10u * value + (uint32_t)(*text - '0');
    }
    return value;
}

int run(uint32_t count, char **arguments);
__attribute__((used)) int run(uint32_t count, char **arguments)
{
    uint32_t context[CONTEXT_WORDS] = {0u}, noise = 1u;
    const uint32_t pointers = number_of(arguments[3]);
    /* The first tensor holds small values that differ, so that nothing is clipped; the others are zero. */
    for (uint32_t i = 0u; i < BUFFER_BYTES; i++) {
        noise = noise * 1664525u + 1013904223u;
        memory[0][i] = (uint8_t)(noise >> 26);
    }
    for (uint32_t i = 0u; i < pointers; i++) {
        context[i] = (uint32_t)(uintptr_t)memory[i];
    }
    for (uint32_t i = 4u; i < count; i++) {
        context[pointers + i - 4u] = number_of(arguments[i]);
    }
    for (uint32_t calls = number_of(arguments[1]); calls > 0u; calls--) {
        counted_kernels[number_of(arguments[2])](context);
    }
    return 0;
}

/* The stack begins with the number of arguments and their addresses. */
__attribute__((naked, used)) void _start(void)
{
    __asm__ volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
                     "lw a0, 0(sp)\naddi a1, sp, 4\nandi sp, sp, -16\ncall run\nli a7, 93\necall");
}
