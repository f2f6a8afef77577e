## Layer normalisation of lines that are contiguous: match.arith::LayerNormRequant. ${size} * squares and sum * sum stay
## below 2^40, v below 2^52, and all products below 2^62.
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${source} *x = &in0[i * ${size}];
        ${result} *y = &out0[i * ${size}];
        int64_t sum = 0;
        int64_t squares = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            sum += x[k];
            squares += (int32_t)x[k] * x[k];
        }
        int64_t v = ${size} * (${size} * squares - sum * sum) + ${epsilon};
        int64_t scale = 32;
        while (v < ((int64_t)1 << 50)) {
            v *= 4;
            scale *= 2;
        }
        const int64_t inverse = (((int64_t)1 << 56) - 1) / ${root}(v);
        for (int32_t k = 0; k < ${size}; k++) {
            /* shifts of negative values are arithmetic (gcc, clang), so they round down */
            const int64_t u = ((x[k] * (int64_t)${size} - sum) * scale * inverse) >> 32;
            const int64_t value = (((u * ${weight}) >> 32) + ${bias}) >> ${shift};
            y[k] = (${result})(value < ${low} ? ${low} : value > ${high} ? ${high} : value);
        }
    }
