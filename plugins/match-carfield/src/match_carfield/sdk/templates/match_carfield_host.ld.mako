/* match_carfield_host.ld: the host's program in DRAM, what it shares with the units in L2, and their images behind that.
 * SPDX-License-Identifier: Apache-2.0 */
ENTRY(_start)

MEMORY
{
    l2 (rw) : ORIGIN = ${f"0x{l2_data:08X}"}, LENGTH = ${f"0x{l2_data_bytes:X}"}
    dram (rwx) : ORIGIN = ${f"0x{dram:08X}"}, LENGTH = ${f"0x{dram_host_bytes:X}"}
    far (rw) : ORIGIN = ${f"0x{swap:08X}"}, LENGTH = ${f"0x{far_bytes:X}"}
% for unit, entry in entries.items():
    ${unit} (rx) : ORIGIN = ${f"0x{entry:08X}"}, LENGTH = 0x18000
% endfor
}

SECTIONS
{
    /* Constants, arenas, inputs, outputs and the state, which the units' copies reach; the host names no constants. */
    .shared : { KEEP(*${name}_weights.o(.rodata .rodata.* .srodata .srodata.*)) } > l2
    .shared_data : ALIGN(64) { *(.match_shared) } > l2
% for unit in units:
    .${unit}_image : { KEEP(*(.match_${unit}_image)) } > ${unit}
% endfor

    /* Activations that do not fit L2. */
    .far (NOLOAD) : ALIGN(64) { *(.match_far) } > far

    .text : { KEEP(*(.text._start)) *(.text .text.*) } > dram
    .rodata : ALIGN(16) { *(.rodata .rodata.* .srodata .srodata.*) } > dram
    .data : ALIGN(16) { *(.data .data.* .sdata .sdata.*) } > dram
    __global_pointer$ = ADDR(.data) + 0x800;
    .bss : ALIGN(16) { __bss_start = .; *(.bss .bss.* .sbss .sbss.* COMMON) __bss_end = .; } > dram
    __stack_pointer$ = ORIGIN(dram) + LENGTH(dram) - 16;
    PROVIDE(__dma_base_addr__ = 0x01000000);
    /DISCARD/ : { *(.comment .riscv.attributes .eh_frame .eh_frame.*) }
}
