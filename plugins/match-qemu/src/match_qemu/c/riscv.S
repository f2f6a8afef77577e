/* SPDX-License-Identifier: Apache-2.0 */
/* riscv.S - start-up of one RISC-V hart that an emulator loads: stack, global pointer, floating point, exceptions. */
#define MSTATUS_FS_INITIAL 0x2000

    .section .vectors, "ax"
    .globl _start
_start:
    csrr t0, mhartid
    bnez t0, park
    .option push
    .option norelax /* gp is what relaxed accesses go by */
    la gp, __global_pointer$
    .option pop
    la sp, match_stack_top
    la tp, match_thread_data
    la t0, trap
    csrw mtvec, t0
#ifdef __riscv_flen
    li t0, MSTATUS_FS_INITIAL
    csrs mstatus, t0
    csrw fcsr, zero
#endif
    call main
    call match_board_end
park:
    wfi
    j park

    .balign 4
trap:
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    la sp, match_stack_top
    call match_board_fault
