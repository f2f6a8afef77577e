## The sums of two positions and four outputs, as a function without a prologue: it uses all 14 registers of the core,
## which compilers cannot allocate in every context.
<%def name="pairs(a0, b0, a1, b1)">\
        "ldr r12, [r1], #4\n\t"
        "sxtb16 lr, r12\n\t"
        "smlad ${a0}, r2, lr, ${a0}\n\t"
        "smlad ${a1}, r3, lr, ${a1}\n\t"
        "sxtb16 r12, r12, ror #8\n\t"
        "smlad ${b0}, r2, r12, ${b0}\n\t"
        "smlad ${b1}, r3, r12, ${b1}\n\t"
</%def>\
<%def name="set(register, value)">\
% for line in number(register, value):
        "${line}\n\t"
% endfor
</%def>\
<%
    # Bytes of a row, and the largest number that an addition takes as it is.
    row_size, MOST = 4 * words * size, 4095
%>\
/* Sums of two positions, ${step} bytes apart, for four outputs: ${rows} rows of ${4 * words} values, ${"int16" if size == 2 else "int8" if extend[0] == "s" else "uint8"}. Returns the address
 * after the weights; sums: four of the first position, then four of the second. */
#if defined(MATCH_CORTEXM_DSP)
MATCH_CORTEXM_NAKED static const int32_t *${name}(
    MATCH_CORTEXM_UNUSED const int8_t *values,
    MATCH_CORTEXM_UNUSED const int32_t *weights,
    MATCH_CORTEXM_UNUSED int32_t *sums,
    MATCH_CORTEXM_UNUSED int32_t row_bytes)
{
    __asm__(
        "push {r4-r11, lr}\n\t"
% if row_size > MOST:
${set("r12", row_size)}\
        "sub r3, r3, r12\n\t"
% else:
        "sub r3, r3, #${row_size}\n\t"
% endif
        "mov r12, #${rows}\n\t"
        "push {r2, r3, r12, lr}\n\t" /* sums, bytes to the next row, rows, end of a row */
% for register in range(4, 12):
        "mov r${register}, #0\n\t"
% endfor
        "1:\n\t"
% if row_size > MOST:
${set("r2", row_size)}\
        "add r2, r2, r0\n\t"
% else:
        "add r2, r0, #${row_size}\n\t"
% endif
        "str r2, [sp, #12]\n\t"
        "2:\n\t"
% for _ in range(unroll):
% if size == 2:
% for _ in range(2):
        "ldr r3, [r0, #${step}]\n\t"
        "ldr r2, [r0], #4\n\t"
${pairs("r4", "r5", "r8", "r9")}\
${pairs("r6", "r7", "r10", "r11")}\
% endfor
% else:
        "ldr r2, [r0]\n\t"
        "ldr r3, [r0, #${step}]\n\t"
        "${extend} r2, r2\n\t"
        "${extend} r3, r3\n\t"
${pairs("r4", "r5", "r8", "r9")}\
${pairs("r6", "r7", "r10", "r11")}\
        "ldr r3, [r0, #${step}]\n\t"
        "ldr r2, [r0], #4\n\t"
        "${extend} r3, r3, ror #8\n\t"
        "${extend} r2, r2, ror #8\n\t"
${pairs("r4", "r5", "r8", "r9")}\
${pairs("r6", "r7", "r10", "r11")}\
% endif
% endfor
% if words > unroll:
        "ldr r2, [sp, #12]\n\t"
        "cmp r0, r2\n\t"
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
        "stm r2, {r4-r11}\n\t"
        "add sp, sp, #16\n\t"
        "mov r0, r1\n\t"
        "pop {r4-r11, pc}");
}
#else
static inline const int32_t *${name}(
    const int8_t *values, const int32_t *weights, int32_t *sums, int32_t row_bytes)
{
    for (int k = 0; k < 8; k++) {
        sums[k] = 0;
    }
    for (int32_t row = 0; row < ${rows}; row++) {
        const int8_t *from = &values[row * row_bytes];
        for (int32_t i = 0; i < ${words}; i++) {
% if size == 2:
            MATCH_CORTEXM_SUMS_16(&sums[0], from, weights, 0)
            MATCH_CORTEXM_SUMS_16(&sums[4], from, weights, ${step})
% else:
            MATCH_CORTEXM_SUMS(&sums[0], from, weights, 0, ${"1" if extend[0] == "s" else "0"})
            MATCH_CORTEXM_SUMS(&sums[4], from, weights, ${step}, ${"1" if extend[0] == "s" else "0"})
% endif
            from += ${4 * size};
            weights += 4;
        }
    }
    return weights;
}
#endif
