## Convolutions and products: tiles of one or two neighbouring positions by four outputs. A tile whose window leaves the
## image reads a copy of the window with padding.
<%def name="block(outputs, indent)">\
<% pad = " " * indent %>\
% if block_call:
${pad}int32_t s[${4 * positions}];
${pad}w = ${block_call};
% else:
${pad}int32_t s[${4 * positions}] = {0};
% endif
% if block_call:
<% pass %>\
% elif rows > 1:
${pad}const int8_t *row = from;
${pad}for (int32_t ky = 0; ky < ${rows}; ky++) {
${pad}    const int8_t *a = row;
${steps(indent + 4)}\
${pad}    row += row_bytes;
${pad}}
% else:
${pad}const int8_t *a = from;
${steps(indent)}\
% endif
% for line in finish(outputs):
${pad}${line}
% endfor
</%def>\
<%def name="steps(indent)">\
<% pad = " " * indent %>\
% if words > unroll:
${pad}for (int32_t i = 0; i < ${words // unroll}; i++) {
% for line in turn:
${pad}    ${line}
% endfor
${pad}}
% else:
% for line in turn:
${pad}${line}
% endfor
% endif
</%def>\
<%def name="rows_of_window(indent)">\
<% pad = " " * indent %>\
${pad}const int8_t *row = ${source};
${pad}for (int32_t ky = 0; ky < ${window_rows}; ky++) {
${pad}    memcpy(&window[ky * ${window_row_bytes}], &row[ky * ${row_bytes}], ${window_row_bytes});
${pad}}
</%def>\
% if height > 1:
    for (int32_t y = 0; y < ${height}; y++) {
% else:
    {
% endif
% if overlaps:
        for (int32_t x0 = 0; x0 < ${width}; x0 += ${positions}) {
            const int32_t x = x0 < ${width - positions} ? x0 : ${width - positions};
% elif width > positions:
        for (int32_t x = 0; x < ${width}; x += ${positions}) {
% else:
        {
% endif
% if compact:
            int8_t window[${window_bytes}];
% if border == "true":
            ${copy}
% elif border:
            if (${border}) {
                ${copy}
            } else {
${rows_of_window(16)}\
            }
% else:
${rows_of_window(12)}\
% endif
% if slack:
            memset(&window[${window_bytes - slack}], 0, ${slack});
% endif
            const int8_t *const from = window;
% elif border:
            const int8_t *from;
% if rows > 1:
            int32_t row_bytes;
% endif
            int8_t window[${window_bytes}];
            if (${border}) {
                ${copy}
% if slack:
                memset(&window[${window_bytes - slack}], 0, ${slack});
% endif
                from = window;
% if rows > 1:
                row_bytes = ${window_row_bytes};
% endif
            } else {
                from = ${source};
% if rows > 1:
                row_bytes = ${row_bytes};
% endif
            }
% else:
            const int8_t *const from = ${source};
% if rows > 1:
            const int32_t row_bytes = ${row_bytes};
% endif
% endif
            const ${wtype} *w = in1;
            const int32_t *m = in2;
            const ${btype} *b = in3;
            ${ctype} *to = &out0[${target}];
% if blocks > 1:
            for (int32_t o = 0; o < ${blocks}; o++) {
${block(4, 16)}\
                to += 4;
                m += 4;
                b += 4;
            }
% elif blocks:
            {
${block(4, 16)}\
                to += 4;
                m += 4;
                b += 4;
            }
% endif
% if rest:
            {
${block(rest, 16)}\
            }
% endif
        }
    }
