## The sums of a window for four channels, as functions without a prologue: all sums stay in registers, which compilers
## allocate differently in every context. A window inside the image is read row by row, others (edge) through a table.
<%def name="function()">\
MATCH_CORTEXM_NAKED static const ${wtype} *${name}(
    MATCH_CORTEXM_UNUSED const ${ctype} *${"const *taps" if edge else "values"},
    MATCH_CORTEXM_UNUSED const ${wtype} *weights,
    MATCH_CORTEXM_UNUSED int32_t *sums,
    MATCH_CORTEXM_UNUSED int32_t ${"channel" if edge else "row_bytes"})
{
    __asm__(
% if wide:
        "push {r4-r8, lr}\n\t"
        "mov r8, r2\n\t" /* sums */
% for register in range(4, 8):
        "mov r${register}, #0\n\t"
% endfor
% else:
        ".syntax unified\n\t" /* compilers write for such cores in another one */
        "push {r4-r7, lr}\n\t"
        "mov r4, r8\n\t"
        "mov r5, r9\n\t"
        "mov r6, r10\n\t"
        "mov r7, r11\n\t"
        "push {r2, r4-r7}\n\t"
        "movs r4, #0\n\t"
        "movs r5, #${size}\n\t"
        "movs r6, #${2 * size}\n\t"
        "movs r7, #${3 * size}\n\t"
% for register in range(8, 12):
        "mov r${register}, r4\n\t"
% endfor
% if edge:
        "mov r12, r0\n\t" /* the table */
% else:
% for line in number("r2", step):
        "${line}\n\t"
% endfor
        "mov r12, r2\n\t" /* bytes to the next tap, then to the next row */
% for line in number("r2", (columns - 1) * step):
        "${line}\n\t"
% endfor
        "subs r3, r3, r2\n\t"
        "mov lr, r3\n\t"
% endif
% endif
${taps()}\
% if wide:
        "stm r8, {r4-r7}\n\t"
        "mov r0, r1\n\t"
        "pop {r4-r8, pc}");
% else:
        "pop {r2}\n\t"
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
</%def>\
<%def name="taps()">\
% if edge and size == 2:
        "lsls r3, r3, #1\n\t"
% endif
% if edge and not wide:
        "mov lr, r3\n\t"
% endif
% for tap in range(rows * columns):
<% first, ends = tap % columns * step, (tap + 1) % columns == 0 and tap + 1 < rows * columns %>\
% if edge and wide:
        "ldr lr, [r0, #${4 * tap}]\n\t"
        "add lr, lr, r3\n\t"
% elif edge:
        "mov r2, r12\n\t"
        "ldr r0, [r2, #${4 * tap}]\n\t"
        "add r0, lr\n\t"
% endif
% for c in range(4):
% if wide:
        "${load} r2, [${"lr" if edge else "r0"}, #${c * size + (0 if edge else first)}]\n\t"
        "${load_weight} r12, [r1], #${size}\n\t"
        "mla r${4 + c}, r2, r12, r${4 + c}\n\t"
% else:
        "${load} r2, [r0, r${4 + c}]\n\t"
        "${load_weight} r3, [r1, r${4 + c}]\n\t"
        "muls r3, r2, r3\n\t"
        "add r${8 + c}, r3\n\t"
% endif
% endfor
% if not wide:
        "adds r1, r1, #${4 * size}\n\t"
% endif
% if not edge and ends:
        "add r0, ${"r3" if wide else "lr"}\n\t"
% elif not edge and not wide and tap + 1 < rows * columns:
        "add r0, r12\n\t"
% endif
% endfor
</%def>\
/* Sums of a window for four channels: ${rows}x${columns} taps ${"at addresses" if edge else "%d bytes apart" % step}, of values and weights of ${8 * size} bits. Returns the
 * address after the weights. */
#if defined(MATCH_CORTEXM_${"THUMB2" if wide else "THUMB"})
${function()}\
#else
<%def name="portable()">\
static inline const ${wtype} *${name}(
    const ${ctype} *${"const *taps" if edge else "values"}, const ${wtype} *weights, int32_t *sums, int32_t ${"channel" if edge else "row_bytes"})
{
    for (int c = 0; c < 4; c++) {
        sums[c] = 0;
    }
    for (int tap = 0; tap < ${rows * columns}; tap++) {
% if edge:
        const ${ctype} *from = &taps[tap][channel];
% elif columns == 1:
        const ${ctype} *from = &values[tap * (row_bytes / ${size})];
% else:
        const ${ctype} *from = &values[(tap / ${columns}) * (row_bytes / ${size}) + (tap % ${columns}) * ${step // size}];
% endif
        for (int c = 0; c < 4; c++) {
            sums[c] += from[c] * weights[c];
        }
        weights += 4;
    }
    return weights;
}
</%def>\
${portable()}\
#endif
