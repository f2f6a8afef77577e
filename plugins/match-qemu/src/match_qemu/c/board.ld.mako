/* SPDX-License-Identifier: Apache-2.0 */
/* ${machine.name}: the emulator loads all sections where they are used. */
ENTRY(${entry})

MEMORY
{
% for area in machine.areas:
    ${area.name} (rwx) : ORIGIN = ${f"{area.origin:#010x}"}, LENGTH = ${area.size_bytes}
% endfor
}

SECTIONS
{
    .vectors : { KEEP(*(.vectors)) } > ${machine.vectors}
    .text : ALIGN(16) { *(.text .text.*) } > code
    .rodata : ALIGN(64) { *(.rodata .rodata.* .srodata .srodata.*) } > code
    .ARM.exidx : { *(.ARM.exidx* .ARM.extab*) } > code
    .data : ALIGN(64) { *(.data .data.* .sdata .sdata.*) } > ram
    __global_pointer$ = ADDR(.data) + 0x800;
    /* The C library's errno. */
    .thread : ALIGN(64) { match_thread_data = .; *(.tdata .tdata.* .tbss .tbss.*) . += 64; } > ram
    .bss (NOLOAD) : ALIGN(64) { *(.bss .bss.* .sbss .sbss.* COMMON) } > ram
    .stack (NOLOAD) : ALIGN(64) { match_stack_bottom = .; . += ${stack_bytes}; match_stack_top = .; } > ram
    .arenas (NOLOAD) : ALIGN(64) { *(.arenas) } > ${machine.arenas}
    end = .;
    /DISCARD/ : { *(.comment .riscv.attributes .ARM.attributes .eh_frame .eh_frame.*) }
}
