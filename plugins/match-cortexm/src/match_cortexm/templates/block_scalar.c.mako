## The sums of one or two positions and four outputs, as a function without a prologue: all sums stay in registers, which
## compilers allocate differently in every context.
<%def name="set(register, value)">\
% for line in number(register, value):
        "${line}\n\t"
% endfor
</%def>\
/* Sums of ${"two positions, %d bytes apart," % step if positions == 2 else "a position"} for four outputs: ${rows} rows of ${words} values, ${ctype}. Returns the address
 * after the weights; sums: four of each position. */
#if defined(MATCH_CORTEXM_${"THUMB2" if wide else "THUMB"})
MATCH_CORTEXM_NAKED static const int8_t *${name}(
    MATCH_CORTEXM_UNUSED const int8_t *values,
    MATCH_CORTEXM_UNUSED const int8_t *weights,
    MATCH_CORTEXM_UNUSED int32_t *sums,
    MATCH_CORTEXM_UNUSED int32_t row_bytes)
{
    __asm__(
% if wide:
        "push {r4-r11, lr}\n\t"
${set("r12", words * size)}\
        "sub r3, r3, r12\n\t"
        "mov r12, #${rows}\n\t"
        "push {r2, r3, r12}\n\t" /* sums, bytes to the next row, rows */
% for register in range(4, 4 + 4 * positions):
        "mov r${register}, #0\n\t"
% endfor
        "1:\n\t"
${set("lr", words * size)}\
        "add lr, lr, r0\n\t"
        "2:\n\t"
% for _ in range(unroll):
% if positions == 2:
        "${load} r3, [r0, #${step}]\n\t"
% endif
        "${load} r2, [r0], #${size}\n\t"
% for o in range(4):
        "ldrsb r12, [r1], #1\n\t"
        "mla r${4 + o}, r2, r12, r${4 + o}\n\t"
% if positions == 2:
        "mla r${8 + o}, r3, r12, r${8 + o}\n\t"
% endif
% endfor
% endfor
% if words > unroll:
        "cmp r0, lr\n\t"
        "bne 2b\n\t"
% endif
% if rows > 1:
        "ldrd r2, r3, [sp, #4]\n\t"
        "add r0, r0, r2\n\t"
        "subs r3, r3, #1\n\t"
        "str r3, [sp, #8]\n\t"
        "bne 1b\n\t"
% endif
        "ldr r2, [sp]\n\t"
        "stm r2, {r4-r${3 + 4 * positions}}\n\t"
        "add sp, sp, #12\n\t"
        "mov r0, r1\n\t"
        "pop {r4-r11, pc}");
% else:
        ".syntax unified\n\t" /* compilers write for such cores in another one */
        "push {r4-r7, lr}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "push {r4-r7}\n\t"
${set("r4", words * size)}\
        "subs r3, r3, r4\n\t"
        "push {r2, r3}\n\t" /* sums, bytes to the next row */
        "movs r4, #${rows}\n\t"
        "mov lr, r4\n\t"
        "movs r4, #0\n\t"
        "movs r5, #1\n\t"
        "movs r6, #2\n\t"
        "movs r7, #3\n\t"
% for register in range(8, 12):
        "mov r${register}, r4\n\t"
% endfor
        "1:\n\t"
${set("r2", words * size)}\
        "adds r2, r2, r0\n\t"
        "mov r12, r2\n\t"
        "2:\n\t"
<% at = 0 %>\
% for turn in range(unroll):
        "${load} r2, [r0, r${4 + at}]\n\t"
<% at += size %>\
% for o in range(4):
        "ldrsb r3, [r1, r${4 + o}]\n\t"
        "muls r3, r2, r3\n\t"
        "add r${8 + o}, r3\n\t"
% endfor
        "adds r1, r1, #4\n\t"
% if at == 4 or turn == unroll - 1:
        "adds r0, r0, #${at}\n\t"
<% at = 0 %>\
% endif
% endfor
% if words > unroll:
        "cmp r0, r12\n\t"
        "bne 2b\n\t"
% endif
% if rows > 1:
        "ldr r2, [sp, #4]\n\t"
        "adds r0, r0, r2\n\t"
        "mov r2, lr\n\t"
        "subs r2, r2, #1\n\t"
        "mov lr, r2\n\t"
        "bne 1b\n\t"
% endif
        "pop {r2, r3}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "stm r2!, {r4-r7}\n\t"
        "mov r0, r1\n\t"
        "pop {r4-r7}\n\t"
        "mov r8, r4\n\t"
        "mov r9, r5\n\t"
        "mov r10, r6\n\t"
        "mov r11, r7\n\t"
        "pop {r4-r7, pc}");
% endif
}
#else
static inline const int8_t *${name}(
    const int8_t *values, const int8_t *weights, int32_t *sums, int32_t row_bytes)
{
    for (int k = 0; k < ${4 * positions}; k++) {
        sums[k] = 0;
    }
    for (int32_t row = 0; row < ${rows}; row++) {
        const int8_t *from = &values[row * row_bytes];
        for (int32_t i = 0; i < ${words}; i++) {
            for (int o = 0; o < 4; o++) {
% for p in range(positions):
                sums[${f"{4 * p} + o" if p else "o"}] += ${value(f"from + {p * step}" if p else "from")} * weights[o];
% endfor
            }
            from += ${size};
            weights += 4;
        }
    }
    return weights;
}
#endif
