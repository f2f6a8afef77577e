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
<%def name="repeated(names, indent)">\
<% pad = " " * indent %>\
% if back:
${pad}if (c == ${channels + back - form.block}) {
% for name in (*names, "c"):
${pad}    ${name} -= ${back};
% endfor
${pad}}
% endif
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
${pad}for (int32_t ky = 0; ky < ${1 if columns == in_width else rows}; ky++) {
${pad}    for (int32_t kx = 0; kx < ${rows * columns if columns == in_width else columns}; kx++) {
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
        for (int32_t x = 0; x < ${width}; x++) {
% if wtype:
            const ${wtype} *w = in1;
% endif
% if scaled:
            const int32_t *m = in${scaled};
            const ${btype} *b = in${scaled + 1};
% endif
            ${ctype} *to = &out0[${target}];
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
                for (int32_t c = 0; c < ${channels}; c += ${form.block}) {
${repeated(("to",), 20)}\
${edge(form, 20)}\
${stored(form, edge, 20)}\
                }
                continue;
            }
% endif
            const ${ctype_in} *a = &in0[${source}];
            for (int32_t c = 0; c < ${channels}; c += ${form.block}) {
${repeated(("a", "to"), 16)}\
${middle(form, 16)}\
${stored(form, middle, 16)}\
                a += ${form.block};
            }
        }
    }
% if form.again:
    match_cortexm_set_status(match_cortexm_status() | status);
% endif
