/* start.S - what every hart does first, after power-on and when the host boots a unit again.
 * SPDX-License-Identifier: Apache-2.0 */
#define HARTS 3
#define STACK_BYTES 0x10000 /* as in virt.ld */
#define ERRNO_BYTES 64
#define MSTATUS_MIE 8
#define MSTATUS_FS_INITIAL 0x2000

    .section .text.start, "ax"
    .globl _start
_start:
    csrci mstatus, MSTATUS_MIE
    csrw mie, zero
    .option push
    .option norelax /* gp is what relaxed accesses go by */
    la gp, __global_pointer$
    .option pop
    la t0, trap
    csrw mtvec, t0
    li t0, MSTATUS_FS_INITIAL
    csrs mstatus, t0
    csrw fcsr, zero
    csrr a0, mhartid
    li t0, HARTS
    bgeu a0, t0, park
    la sp, __stacks
    li t0, STACK_BYTES
    addi t1, a0, 1
    mul t1, t1, t0
    add sp, sp, t1
    addi sp, sp, -ERRNO_BYTES
    mv tp, sp
    bnez a0, unit

    la t0, __bss_start
    la t1, __bss_end
clear:
    bgeu t0, t1, host
    sw zero, 0(t0)
    addi t0, t0, 4
    j clear
host:
    call main
    call virt_exit

unit:
    call virt_unit

park:
    wfi
    j park

/* The only interrupt that is taken is the timer of a unit: the host boots it again, wherever it is. */
    .balign 4
trap:
    csrr t0, mcause
    bltz t0, _start
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call virt_fault
