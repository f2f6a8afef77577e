## The largest values of a window for all channels, as a function without a prologue: compilers keep values of such a loop in
## registers that Thumb cannot compare. A window inside the image is read row by row, others (edge) through a table.
<%
walks = columns > 3
across = (columns - 1) * step if walks else 0
%>\
<%def name="set(register, value)">\
% for line in number(register, value):
        "${line}\n\t"
% endfor
</%def>\
<%def name="tap(place, offset)">\
% if edge:
        "ldr r0, [r6, #${4 * place}]\n\t"
% endif
% if place == 0:
        "${load} r2, [r0, ${offset}]\n\t"
% else:
        "${load} r3, [r0, ${offset}]\n\t"
        "cmp r3, r2\n\t"
        "ble 2f\n\t"
        "mov r2, r3\n\t"
        "2:\n\t"
% endif
</%def>\
/* The largest of ${rows}x${columns} values for ${channels} channels, ${ctype}, ${"at addresses" if edge else f"{step} bytes apart"}. */
#if defined(MATCH_CORTEXM_THUMB)
MATCH_CORTEXM_NAKED static void ${name}(
% if edge:
    MATCH_CORTEXM_UNUSED const ${ctype} *const *taps, MATCH_CORTEXM_UNUSED ${ctype} *results)
% else:
    MATCH_CORTEXM_UNUSED const ${ctype} *values, MATCH_CORTEXM_UNUSED ${ctype} *results, MATCH_CORTEXM_UNUSED int32_t row_bytes)
% endif
{
    __asm__(
        ".syntax unified\n\t" /* compilers write for such cores in another one */
        "push {r4-r7, lr}\n\t"
        "movs r4, #0\n\t"
${set("r7", step)}\
        "adds r7, r7, r1\n\t" /* where the results end */
% if edge:
        "mov r6, r0\n\t"
% else:
        "movs r3, #${size}\n\t"
% for row in range(1, rows):
        "subs r3, r3, r2\n\t"
% endfor
% if walks:
${set("r5", across)}\
        "subs r3, r3, r5\n\t"
        "subs r6, r2, r5\n\t" /* from the last value of a row to the next row */
${set("r5", step)}\
% else:
% for column in range(1, columns):
${set(f"r{4 + column}", column * step)}\
% endfor
        "mov r12, r2\n\t"
% endif
        "mov lr, r3\n\t" /* to the next channel's first value */
% endif
        "1:\n\t"
% for row in range(rows):
% for column in range(columns):
% if not edge and (row or column) and (walks or not column):
        "${"add r0, r12" if not walks else "adds r0, r0, r5" if column else "adds r0, r0, r6"}\n\t"
% endif
${tap(row * columns + column, "r4" if edge or walks else f"r{4 + column}")}\
% endfor
% endfor
        "str${load[3:].removeprefix("s")} r2, [r1]\n\t"
        "adds r1, r1, #${size}\n\t"
% if edge:
        "adds r4, r4, #${size}\n\t"
% else:
        "add r0, lr\n\t"
% endif
        "cmp r1, r7\n\t"
        "bne 1b\n\t"
        "pop {r4-r7, pc}");
}
#else
% if edge:
static inline void ${name}(const ${ctype} *const *taps, ${ctype} *results)
% else:
static inline void ${name}(const ${ctype} *values, ${ctype} *results, int32_t row_bytes)
% endif
{
    for (int32_t c = 0; c < ${channels}; c++) {
        ${ctype} largest = ${"taps[0][c]" if edge else "values[c]"};
        for (int32_t tap = 1; tap < ${rows * columns}; tap++) {
% if edge:
            const ${ctype} value = taps[tap][c];
% elif columns == 1:
            const ${ctype} value = values[tap * (row_bytes / ${size}) + c];
% else:
            const ${ctype} value = values[(tap / ${columns}) * (row_bytes / ${size}) + (tap % ${columns}) * ${channels} + c];
% endif
            largest = value > largest ? value : largest;
        }
        results[c] = largest;
    }
}
#endif
