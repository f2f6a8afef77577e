## Softmax and LogSoftmax over one axis: the largest value is subtracted before the exponential. The output
## holds the exponentials, and they and their sum are rounded to its type, as the operator's body in the standard does.
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
% if log:
            sum += ${exp}(${x} - top);
% else:
            out0[start + ${step}] = ${store(f"{exp}({x} - top)")};
            sum += ${load(f"out0[start + {step}]")};
% endif
        }
% if log:
        const ${type} shift = ${log}(sum);
% elif rounded:
        sum = ${rounded};
% endif
        for (int32_t k = 0; k < ${size}; k++) {
% if log:
            out0[start + ${step}] = ${store(f"{x} - top - shift")};
% else:
            out0[start + ${step}] = ${store(f"{load(f'out0[start + {step}]')} / sum")};
% endif
        }
    }
