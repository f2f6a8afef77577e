## The outputs of a tile, four at a time: the last ones of a position may be fewer.
<%def name="block(outputs, indent)">\
<% pad = " " * indent %>\
% if block_call:
${pad}int32_t s[${4 * positions}];
${pad}w = ${block_call};
% else:
${pad}int32_t s[${4 * positions}] = {0};
% if rows > 1:
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
% if apart:
    int32_t blocks = ${blocks}; /* unknown to compilers, which unroll loops over few */
    MATCH_CORTEXM_OPAQUE(blocks);
% endif
% if blocks > 1:
    for (int32_t o = 0; o < ${"blocks" if apart else blocks}; o++) {
${block(4, 8)}\
        to += 4;
        m += 4;
        b += 4;
    }
% elif blocks:
    {
${block(4, 8)}\
        to += 4;
        m += 4;
        b += 4;
    }
% endif
% if rest:
    {
${block(rest, 8)}\
    }
% endif
