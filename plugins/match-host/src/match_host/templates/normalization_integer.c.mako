## Integer normalisation of lines that are contiguous. Quotients of C round towards zero, as the mean and the scaled
## values must; the last division rounds down.
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${source} *x = &in0[i * ${size}];
        int8_t *y = &out0[i * ${size}];
% if centred:
        ${type} mean = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            mean += x[k];
        }
        mean /= ${size};
% endif
        ${type} squares = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            const ${type} t = (${type})x[k]${" - mean" if centred else ""};
            squares += t * t;
        }
        const ${type} root = ${root}(squares / ${size} + 1);
        for (int32_t k = 0; k < ${size}; k++) {
            const ${type} t = (${type})x[k]${" - mean" if centred else ""};
            const ${type} total = t * ${weight} / root${f" + {bias}" if bias else ""};
% if shift is not None:
            const ${type} value = total >> ${shift}; /* arithmetic (gcc, clang), so it rounds down */
% else:
            const int64_t value = total / ${divisor} - (total % ${divisor} < 0 ? 1 : 0);
% endif
            y[k] = (int8_t)(value < ${low} ? ${low} : value > ${high} ? ${high} : value);
        }
    }
