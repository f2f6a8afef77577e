## The sums of windows inside the image for four channels, without weights, as a function without a prologue: all sums stay
## in registers, which compilers allocate differently in every context.
<%def name="set(register, value)">\
% for line in number(register, value):
        "${line}\n\t"
% endfor
</%def>\
/* Sums of ${rows}x${columns} values for four channels, ${ctype}, ${step} bytes apart. */
#if defined(MATCH_CORTEXM_${"THUMB2" if wide else "THUMB"})
MATCH_CORTEXM_NAKED static void ${name}(
    MATCH_CORTEXM_UNUSED const ${ctype} *values, MATCH_CORTEXM_UNUSED int32_t *sums, MATCH_CORTEXM_UNUSED int32_t row_bytes)
{
    __asm__(
% if wide:
        "push {r4-r8, lr}\n\t"
${set("r12", columns * step)}\
        "sub r2, r2, r12\n\t" /* bytes to the next row */
${set("lr", step)}\
${set("r8", rows)}\
% for register in range(4, 8):
        "mov r${register}, #0\n\t"
% endfor
        "1:\n\t"
${set("r12", columns)}\
        "2:\n\t"
% for c in range(4):
        "${load} r3, [r0, #${c * size}]\n\t"
        "add r${4 + c}, r${4 + c}, r3\n\t"
% endfor
        "add r0, r0, lr\n\t"
        "subs r12, r12, #1\n\t"
        "bne 2b\n\t"
        "add r0, r0, r2\n\t"
        "subs r8, r8, #1\n\t"
        "bne 1b\n\t"
        "stm r1, {r4-r7}\n\t"
        "pop {r4-r8, pc}");
% else:
        ".syntax unified\n\t" /* compilers write for such cores in another one */
        "push {r4-r7, lr}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "push {r1, r4-r7}\n\t"
        "movs r4, #0\n\t"
        "movs r5, #${size}\n\t"
        "movs r6, #${2 * size}\n\t"
        "movs r7, #${3 * size}\n\t"
% for register in range(8, 12):
        "mov r${register}, r4\n\t"
% endfor
${set("r3", step)}\
        "mov r12, r3\n\t"
${set("r3", columns * step)}\
        "subs r2, r2, r3\n\t"
        "mov lr, r2\n\t" /* bytes to the next row */
${set("r3", rows)}\
        "1:\n\t"
${set("r1", columns)}\
        "2:\n\t"
% for c in range(4):
        "${load} r2, [r0, r${4 + c}]\n\t"
        "add r${8 + c}, r2\n\t"
% endfor
        "add r0, r12\n\t"
        "subs r1, r1, #1\n\t"
        "bne 2b\n\t"
        "add r0, lr\n\t"
        "subs r3, r3, #1\n\t"
        "bne 1b\n\t"
        "pop {r2}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "stm r2!, {r4-r7}\n\t"
        "pop {r4-r7}\n\t"
        "mov r8, r4\n\t"
        "mov r9, r5\n\t"
        "mov r10, r6\n\t"
        "mov r11, r7\n\t"
        "pop {r4-r7, pc}");
% endif
}
#else
static inline void ${name}(const ${ctype} *values, int32_t *sums, int32_t row_bytes)
{
    for (int c = 0; c < 4; c++) {
        sums[c] = 0;
    }
    for (int32_t row = 0; row < ${rows}; row++) {
        const ${ctype} *from = &values[row * (row_bytes / ${size})];
        for (int32_t column = 0; column < ${columns}; column++) {
            for (int c = 0; c < 4; c++) {
                sums[c] += from[c];
            }
            from += ${step // size};
        }
    }
}
#endif
