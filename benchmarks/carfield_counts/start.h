/* start.h - the entry of a program that counts: run() gets the command line's words, which are numbers but for one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

static uint32_t number_of(const char *text)
{
    uint32_t value = 0u;
    for (; *text != '\0'; text++) {
        value = 10u * value + (uint32_t)(*text - '0');
    }
    return value;
}

int run(char **arguments);

/* The stack begins with the number of arguments and their addresses. */
__attribute__((naked, used)) void _start(void)
{
#ifdef COUNTED_VECTORS
    __asm__ volatile("addi a0, sp, 8\n\tcall run\n\tli a7, 93\n\tecall");
#else
    __asm__ volatile("addi a0, sp, 4\n\tcall run\n\tli a7, 93\n\tecall");
#endif
}
