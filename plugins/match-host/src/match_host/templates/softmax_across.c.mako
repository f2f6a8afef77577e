## Softmax and LogSoftmax over an axis that is not the innermost one: a block of neighbouring lines at a time, each
## computed in the order and with the roundings of a single line.
<%
    x, y = load("in0[start + k * %d + c]" % inner), load("out0[start + k * %d + c]" % inner)
    out = "out0[start + k * %d + c]" % inner
    head = "for (int32_t c = 0; c < %d; c++) {" % block
%>\
    for (int32_t i = 0; i < ${outer * (inner // block)}; i++) {
        const int32_t start = ${start};
        ${type} top[${block}], sum[${block}];
        ${head}
            top[c] = ${load("in0[start + c]")};
            sum[c] = ${zero};
        }
        for (int32_t k = 1; k < ${size}; k++) {
            ${head}
                const ${type} x = ${x};
                top[c] = x > top[c] ? x : top[c];
            }
        }
        for (int32_t k = 0; k < ${size}; k++) {
            ${head}
% if log:
                sum[c] += ${exp}(${x} - top[c]);
% else:
                ${out} = ${store(f"{exp}({x} - top[c])")};
                sum[c] += ${y};
% endif
            }
        }
% if log or rounded:
        ${head}
% if log:
            sum[c] = ${log}(sum[c]);
% else:
            sum[c] = ${rounded};
% endif
        }
% endif
        for (int32_t k = 0; k < ${size}; k++) {
            ${head}
                ${out} = ${store(f"{x} - top[c] - sum[c]" if log else f"{y} / sum[c]")};
            }
        }
    }
