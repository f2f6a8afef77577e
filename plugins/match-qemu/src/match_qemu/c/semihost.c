/* SPDX-License-Identifier: Apache-2.0 */
/* semihost.c - a board whose debugger or emulator offers semihosting (Arm, "Semihosting for AArch32 and AArch64";
 * RISC-V uses the same calls): samples come from the file inputs.bin, outputs go to outputs.bin. */
#include "match_board.h"

#include <stddef.h>

#define SYS_OPEN 0x01u
#define SYS_CLOSE 0x02u
#define SYS_WRITE0 0x04u
#define SYS_WRITE 0x05u
#define SYS_READ 0x06u
#define SYS_FLEN 0x0Cu
#define SYS_EXIT_EXTENDED 0x20u
#define APPLICATION_EXIT 0x20026u
#define OPEN_READ_BINARY 1u
#define OPEN_WRITE_BINARY 5u

#define LINE_BROKEN 90

static uintptr_t input_file, output_file, input_left;

#if defined(__riscv)
/* The debugger knows the call by these three instructions, which must not be compressed. */
__attribute__((noinline, aligned(16))) static uintptr_t call(uintptr_t operation, const void *argument)
{
    register uintptr_t a0 __asm__("a0") = operation;
    register uintptr_t a1 __asm__("a1") = (uintptr_t)argument;
    __asm__ volatile(".option push\n.option norvc\n.balign 16\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}
#else
static uintptr_t call(uintptr_t operation, const void *argument)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register uintptr_t r1 __asm__("r1") = (uintptr_t)argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
#endif

static uintptr_t file(const char *name, uintptr_t length, uintptr_t mode)
{
    const uintptr_t arguments[3] = {(uintptr_t)name, mode, length};
    return call(SYS_OPEN, arguments);
}

void match_board_start(void)
{
    input_file = file("inputs.bin", 10u, OPEN_READ_BINARY);
    output_file = file("outputs.bin", 11u, OPEN_WRITE_BINARY);
    const uintptr_t arguments[1] = {input_file};
    input_left = call(SYS_FLEN, arguments);
    if ((input_file == UINTPTR_MAX) || (output_file == UINTPTR_MAX) || (input_left == UINTPTR_MAX)) {
        match_board_end(LINE_BROKEN);
    }
}

int match_board_next(void)
{
    return (input_left != 0u) ? 1 : 0;
}

int match_board_receive(void *data, uint32_t bytes)
{
    const uintptr_t arguments[3] = {input_file, (uintptr_t)data, bytes};
    if ((bytes > input_left) || (call(SYS_READ, arguments) != 0u)) {
        match_board_end(LINE_BROKEN);
    }
    input_left -= bytes;
    return 0;
}

void match_board_send(const void *data, uint32_t bytes)
{
    const uintptr_t arguments[3] = {output_file, (uintptr_t)data, bytes};
    if (call(SYS_WRITE, arguments) != 0u) {
        match_board_end(LINE_BROKEN);
    }
}

void match_board_say(const char *text)
{
    (void)call(SYS_WRITE0, text);
    (void)call(SYS_WRITE0, "\n");
}

_Noreturn void match_board_end(int status)
{
    const uintptr_t closed[1] = {output_file};
    (void)call(SYS_CLOSE, closed);
    const uintptr_t arguments[2] = {APPLICATION_EXIT, (uintptr_t)(unsigned int)status};
    (void)call(SYS_EXIT_EXTENDED, arguments);
    for (;;) {
    }
}

uint64_t match_board_count(void)
{
    return 0u;
}

_Noreturn void match_board_fault(uint32_t kind, uintptr_t address, uintptr_t value)
{
    static const char digits[] = "0123456789abcdef";
    static char line[] = "fault: kind 00000000 at 00000000 value 00000000";
    const uint32_t words[3] = {kind, (uint32_t)address, (uint32_t)value};
    for (uint32_t word = 0u; word < 3u; word++) {
        static const uint8_t places[3] = {12u, 24u, 39u};
        for (uint32_t digit = 0u; digit < 8u; digit++) {
            line[places[word] + digit] = digits[(words[word] >> (28u - 4u * digit)) & 15u];
        }
    }
    match_board_say(line);
    match_board_end(91);
}
