## Windows of neighbouring channels: position after position, a block of channels at a time. Taps of a window that leaves
## the image are read through a table of addresses, in which those outside point to a line of padding.
<%def name="ending(indent)">\
<% pad = " " * indent %>\
% for line in finish:
${pad}${line}
% endfor
${pad}to += ${block};
% if scaled:
${pad}m += ${block};
${pad}b += ${block};
% endif
</%def>\
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
                        const bool inside = (iy >= 0) && (iy < ${in_height}) && (ix >= 0) && (ix < ${in_width});
                        tap[ky * ${columns} + kx] = inside ? &in0[iy * ${row_bytes} + ix * ${channels}] : in${outside};
                    }
                }
                for (int32_t c = 0; c < ${channels}; c += ${block}) {
                    ${start}
% for tap in range(rows * columns):
                    ${step(f"tap[{tap}] + c")}
% endfor
${ending(20)}\
                }
                continue;
            }
% endif
            const ${ctype_in} *a = &in0[${source}];
            for (int32_t c = 0; c < ${channels}; c += ${block}) {
                ${start}
% if written:
% for ky in range(rows):
% for kx in range(columns):
                ${step(f"&a[{ky * row_bytes + kx * channels}]")}
% endfor
% endfor
% else:
                const ${ctype_in} *row = a;
                for (int32_t ky = 0; ky < ${1 if columns == in_width else rows}; ky++) {
                    for (int32_t kx = 0; kx < ${rows * columns if columns == in_width else columns}; kx++) {
                        ${step("row")}
                        row += ${channels};
                    }
% if columns != in_width:
                    row += ${row_bytes - columns * channels};
% endif
                }
% endif
                a += ${block};
${ending(16)}\
            }
        }
    }
