## Windows of neighbouring channels: position after position, a block of channels at a time. Taps of a window that leaves
## the image are read through a table of addresses, in which those outside point to a line of padding.
<%def name="stored(form, window, indent)">\
<% pad = " " * indent %>\
% if form.again:
${pad}match_cortexm_v_computed(&s);
${pad}if (match_cortexm_raised(MATCH_CORTEXM_${form.flags})) {
${window(form.again, indent + 4)}\
% for line in form.again.finish:
${pad}    ${line}
% endfor
${pad}}
${pad}else {
% for line in form.finish:
${pad}    ${line}
% endfor
${pad}}
% else:
% for line in form.finish:
${pad}${line}
% endfor
% endif
${pad}to += ${form.block};
% if scaled:
${pad}m += ${form.block};
${pad}b += ${form.block};
% endif
</%def>\
## A window, block after block; the last one ends with the last channel.
<%def name="blocks(form, window, moved, indent)">\
<%
pad = " " * indent
back = -channels % form.block if form.repeats else 0
%>\
% if form.largest:
${pad}${f"{context['window']}(a, to, {window_row})" if moved else f"{edge_window}(tap, to)"};
<% return STOP_RENDERING %>\
% endif
${pad}for (int32_t c = 0; c < ${channels - channels % form.block if form.reach else channels}; c += ${form.block}) {
% if form.parts:
${pad}    const int32_t left = ${form.block};
% endif
${window(form, indent + 4)}\
${stored(form, window, indent + 4)}\
% if moved:
${pad}    a += ${form.block};
% endif
${pad}}
% if form.reach and channels % form.block:
${pad}{
% if not moved:
${pad}    const int32_t c = ${channels - form.block if form.repeats else channels - channels % form.block};
% endif
% if form.parts:
${pad}    const int32_t left = ${channels % form.block};
% endif
% if back:
${pad}    to -= ${back};
% endif
% if moved and back:
${pad}    a -= ${back};
% endif
${window(form, indent + 4)}\
${stored(form, window, indent + 4)}\
${pad}}
% endif
</%def>\
## A block of a window whose taps have pointers, and the pointers behind it.
<%def name="block(form, indent, taps)">\
<% pad = " " * indent %>\
% for step, address in taps:
% if held.walks:
${pad}${f"tap += {step}" if loop.index else f"const {ctype_in} *tap = {address}"};
${pad}MATCH_CORTEXM_OPAQUE(tap);
% endif
${pad}${(form.step if loop.index else form.first)("tap" if held.walks else address)}
% endfor
% for line in form.finish:
${pad}${line}
% endfor
</%def>\
## The pointers to the taps of a position.
<%def name="pointers(place, indent)">\
<% pad = " " * indent %>\
% for number, start in enumerate(held.starts):
${pad}const ${ctype_in} *a${number} = &in0[${place}${f" + {start}" if start else ""}];
${pad}MATCH_CORTEXM_OPAQUE(a${number});
% endfor
</%def>\
## A position whose taps have pointers: whole blocks in a loop or one after another, and the last channels.
<%def name="position(form, indent)">\
<%
pad = " " * indent
whole, rest = divmod(channels, form.block)
last = channels - form.block if form.repeats else channels - rest
gone = held.loop * form.block
%>\
% if held.loop:
${pad}int32_t c = ${gone};
${pad}do {
% if form.parts:
${pad}    const int32_t left = ${form.block};
% endif
${block(form, indent + 4, held.steps())}\
${pad}    to += ${form.block};
${pad}    c -= ${form.block};
${pad}    MATCH_CORTEXM_OPAQUE(c);
% for number in range(len(held.starts)):
${pad}    a${number} += ${form.block};
${pad}    MATCH_CORTEXM_OPAQUE(a${number});
% endfor
${pad}} while (c != 0);
% endif
% for at in [*([] if held.loop else range(0, whole * form.block, form.block)), *([last] if rest else [])]:
${pad}{
% if form.parts:
${pad}    const int32_t left = ${min(form.block, channels - at)};
% endif
% if form.repeats and at == last:
${pad}    to -= ${form.block - rest};
% endif
${block(form, indent + 4, held.steps(at, gone))}\
${pad}    to += ${min(form.block, channels - at)};
${pad}}
% endfor
</%def>\
<%def name="edge(form, indent)">\
<% pad = " " * indent %>\
% if window:
${pad}int32_t s[4];
${pad}w = ${edge_window}(tap, w, s, c);
<% return STOP_RENDERING %>\
% endif
${pad}${form.start}
% if written:
% for tap in range(rows * columns):
${pad}${form.step(f"tap[{tap}] + c")}
% endfor
% else:
${pad}for (int32_t k = 0; k < ${rows * columns}; k++) {
${pad}    ${form.step("tap[k] + c")}
${pad}}
% endif
</%def>\
<%def name="middle(form, indent)">\
<% pad = " " * indent %>\
% if window:
${pad}int32_t s[4];
${pad}${f"w = {window}(a, w, s" if wtype else f"{window}(a, s"}, ${window_row});
<% return STOP_RENDERING %>\
% endif
${pad}${form.start}
% if written:
% for ky in range(rows):
% for kx in range(columns):
${pad}${form.step(f"&a[{ky * row_bytes + kx * channels}]")}
% endfor
% endfor
% else:
${pad}const ${ctype_in} *${form.row} = a;
% if rolled:
${pad}int32_t taps = ${rows * columns}; /* unrolled, the addresses would not fit the registers */
${pad}MATCH_CORTEXM_OPAQUE(taps);
% endif
${pad}for (int32_t ky = 0; ky < ${1 if columns == in_width else rows}; ky++) {
${pad}    for (int32_t kx = 0; kx < ${"taps" if rolled else rows * columns if columns == in_width else columns}; kx++) {
${pad}        ${form.step(form.row)}
${pad}        ${form.row} += ${channels};
${pad}    }
% if columns != in_width:
${pad}    ${form.row} += ${row_bytes - columns * channels};
% endif
${pad}}
% endif
</%def>\
% if form.again:
    const uint32_t status = match_cortexm_status();
    match_cortexm_set_status(status & ~MATCH_CORTEXM_${form.flags});
% endif
    for (int32_t y = 0; y < ${height}; y++) {
% if held and not border:
        ${ctype} *to = &out0[${row_target}];
        const ${ctype} *const end = to + ${width * channels};
${pointers(row_source, 8)}\
        do {
${position(form, 12)}\
% for number in range(len(held.starts)):
            a${number} += ${step - held.loop * form.block};
            MATCH_CORTEXM_OPAQUE(a${number});
% endfor
            MATCH_CORTEXM_OPAQUE(to);
        } while (to != end);
    }
<% return STOP_RENDERING %>\
% endif
% if held:
        int32_t next = ${row_source};
        ${ctype} *result = &out0[${row_target}];
% endif
        for (int32_t x = 0; x < ${width}; x++) {
% if held:
            MATCH_CORTEXM_OPAQUE(x);
% endif
% if wtype:
            const ${wtype} *w = in1;
% endif
% if scaled:
            const int32_t *m = in${scaled};
            const ${btype} *b = in${scaled + 1};
% endif
% if held:
            const int32_t place = next;
            ${ctype} *to = result;
            next += ${step};
            result += ${channels};
            MATCH_CORTEXM_OPAQUE(next);
            MATCH_CORTEXM_OPAQUE(result);
% else:
            ${ctype} *to = &out0[${target}];
% endif
% if border:
            if (${border}) {
                const ${ctype_in} *tap[${rows * columns}];
                for (int32_t ky = 0; ky < ${rows}; ky++) {
                    const int32_t iy = ${row_place};
                    for (int32_t kx = 0; kx < ${columns}; kx++) {
                        const int32_t ix = ${column_place};
% if nearest:
                        const int32_t ny = iy < 0 ? 0 : iy < ${in_height} ? iy : ${in_height - 1};
                        const int32_t nx = ix < 0 ? 0 : ix < ${in_width} ? ix : ${in_width - 1};
                        tap[ky * ${columns} + kx] = &in0[ny * ${row_bytes} + nx * ${channels}];
% else:
                        const bool inside = (iy >= 0) && (iy < ${in_height}) && (ix >= 0) && (ix < ${in_width});
                        tap[ky * ${columns} + kx] = inside ? &in0[iy * ${row_bytes} + ix * ${channels}] : in${outside};
% endif
                    }
                }
${blocks(form, edge, False, 16)}\
                continue;
            }
% endif
% if held:
${pointers("place", 12)}\
${position(form, 12)}\
% else:
            const ${ctype_in} *a = &in0[${source}];
${blocks(form, middle, True, 12)}\
% endif
        }
    }
% if form.again:
    match_cortexm_set_status(match_cortexm_status() | status);
% endif
