/* match_carfield_${unit}.ld: the image of ${unit} in L2. SPDX-License-Identifier: Apache-2.0 */
ENTRY(_start)

MEMORY
{
    image (rwx) : ORIGIN = ${f"0x{entry:08X}"}, LENGTH = ${f"0x{image_bytes:X}"}
}

SECTIONS
{
    /* The host boots the first address. */
    .text : { KEEP(*(.vectors)) KEEP(*(.text._start .init .start)) *(.text .text.*) } > image
    .rodata : ALIGN(16) { *(.rodata .rodata.* .srodata .srodata.*) } > image
    .data : ALIGN(16) { *(.data .data.* .sdata .sdata.*) } > image
    __global_pointer$ = ADDR(.data) + 0x800;
    /* Zeros are part of the image, so that nobody has to clear them. */
    .zeros : ALIGN(16) { __bss_start = .; *(.bss .bss.* .sbss .sbss.* COMMON) __bss_end = .; BYTE(0) } > image
    _end = .;
    /DISCARD/ : { *(.comment .riscv.attributes .eh_frame .eh_frame.*) }
}
