## Softmax and LogSoftmax over one axis: the largest value is subtracted before the exponential. Where the output
## cannot hold the exponential unrounded it is computed twice.
<% x = load(f"in0[start + {step}]") %>\
    for (int32_t i = 0; i < ${outer * inner}; i++) {
        const int32_t start = ${start};
        ${type} top = ${load("in0[start]")};
        for (int32_t k = 1; k < ${size}; k++) {
            const ${type} x = ${x};
            top = x > top ? x : top;
        }
        ${type} sum = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
% if log or not keeps:
            sum += ${exp}(${x} - top);
% else:
            const ${type} e = ${exp}(${x} - top);
            out0[start + ${step}] = e;
            sum += e;
% endif
        }
% if log:
        const ${type} shift = top + ${log}(sum);
% endif
        for (int32_t k = 0; k < ${size}; k++) {
% if log:
            out0[start + ${step}] = ${store(f"{x} - shift")};
% elif keeps:
            out0[start + ${step}] /= sum;
% else:
            out0[start + ${step}] = ${store(f"{exp}({x} - top) / sum")};
% endif
        }
    }
