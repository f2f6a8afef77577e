## Normalisation of lines that are contiguous: two passes for mean and variance, a third for the result. Values that
## must be converted are read into a variable.
<%
    x = "value" if converts else "x[k]"
    moved = f"({x} - mean)" if centred else x
    scaled = f"{moved} * inverse * {scale}"
    summand = f" + {bias}" if bias else ""
%>\
<%def name="read()">\
% if converts:
            const ${type} value = ${load("x[k]")};
% endif
</%def>\
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${memory} *x = &in0[i * ${size}];
        ${memory} *y = &out0[i * ${size}];
% if centred:
% if lanes:
        const ${type} mean = ${lane_sum} / ${count};
% else:
        ${type} mean = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
            mean += ${load("x[k]")};
        }
        mean /= ${count};
% endif
% endif
% if lanes:
        const ${type} variance = ${lane_square_sum};
% else:
        ${type} variance = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
${read()}\
            variance += ${moved} * ${moved};
        }
% endif
        const ${type} inverse = ${one} / ${sqrt}(variance / ${count} + ${epsilon});
        for (int32_t k = 0; k < ${size}; k++) {
${read()}\
% if converts:
            const ${type} scaled = ${scaled};
% endif
            y[k] = ${store(("scaled" if converts else scaled) + summand)};
        }
    }
