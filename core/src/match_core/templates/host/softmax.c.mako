## Softmax and LogSoftmax over one axis: the largest value is subtracted before the exponential.
    for (int32_t i = 0; i < ${outer * inner}; i++) {
        const int32_t start = ${start};
        ${type} top = in0[start];
        for (int32_t k = 1; k < ${size}; k++) {
            const ${type} x = in0[start + ${step}];
            top = x > top ? x : top;
        }
        ${type} sum = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
% if log:
            sum += ${exp}(in0[start + ${step}] - top);
% else:
            const ${type} e = ${exp}(in0[start + ${step}] - top);
            out0[start + ${step}] = e;
            sum += e;
% endif
        }
% if log:
        const ${type} shift = top + ${log}(sum);
% endif
        for (int32_t k = 0; k < ${size}; k++) {
% if log:
            out0[start + ${step}] = in0[start + ${step}] - shift;
% else:
            out0[start + ${step}] /= sum;
% endif
        }
    }
