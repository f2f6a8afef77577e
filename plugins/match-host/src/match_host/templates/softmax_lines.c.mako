## Softmax and LogSoftmax of contiguous lines in floating point: each step is a loop over the line without anything that
## is carried from one element to the next.
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${type} *x = &in0[i * ${size}];
        ${type} *y = &out0[i * ${size}];
        const ${type} top = ${maximum};
        for (int32_t k = 0; k < ${size}; k++) {
            y[k] = ${exp}(x[k] - top);
        }
% if log:
        const ${type} shift = ${log}(${sum});
% else:
        const ${type} inverse = ${one} / ${sum};
% endif
        for (int32_t k = 0; k < ${size}; k++) {
% if log:
            y[k] = x[k] - top - shift;
% else:
            y[k] = y[k] * inverse;
% endif
        }
    }
