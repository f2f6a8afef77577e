## Integer normalisation of lines that are contiguous. Quotients of C round towards zero, as the mean and the scaled
## values must; the last division rounds down.
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${source} *x = &in0[i * ${size}];
        int8_t *y = &out0[i * ${size}];
% if centred:
        int64_t mean = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            mean += x[k];
        }
        mean /= ${size};
% endif
        int64_t squares = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            const int64_t t = (int64_t)x[k]${" - mean" if centred else ""};
            squares += t * t;
        }
        const int64_t root = ${root}(squares / ${size} + 1);
        for (int32_t k = 0; k < ${size}; k++) {
            const int64_t t = (int64_t)x[k]${" - mean" if centred else ""};
            const int64_t total = t * ${weight} / root${f" + {bias}" if bias else ""};
% if shift is not None:
            const int64_t value = total >> ${shift}; /* arithmetic (gcc, clang), so it rounds down */
% else:
            const int64_t value = total / ${divisor} - (total % ${divisor} < 0 ? 1 : 0);
% endif
            y[k] = (int8_t)(value < ${low} ? ${low} : value > ${high} ? ${high} : value);
        }
    }
