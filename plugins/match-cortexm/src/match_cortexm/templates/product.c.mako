## Convolutions and products: tiles of one or two neighbouring positions by four outputs. A tile whose window leaves the
## image reads a copy of the window with padding.
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
${outputs}
        }
    }
