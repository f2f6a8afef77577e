## Layer normalisation of lines that are contiguous: match.arith::LayerNormRequant. Squares of a line stay below 2^28,
## ${size} times them and sum * sum below 2^40, v below 2^52, and all products below 2^62, so upper halves have 32 bits.
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${source} *x = &in0[i * ${size}];
        ${result} *y = &out0[i * ${size}];
        int32_t sum = 0;
        int32_t squares = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            sum += x[k];
            squares += x[k] * x[k];
        }
        const int64_t factor = ${factor}(${size} * ((int64_t)${size} * squares - (int64_t)sum * sum) + ${epsilon});
        for (int32_t k = 0; k < ${size}; k++) {
            /* shifts of negative values are arithmetic (gcc, clang), so they round down */
            const int32_t u = (int32_t)((x[k] * ${size} - sum) * factor >> 32);
            const int32_t scaled = (int32_t)((int64_t)u * ${weight} >> 32);
            const ${wide} value = (${'(int64_t)' if wide == 'int64_t' else ''}scaled + ${bias}) >> ${shift};
            y[k] = (${result})(value < ${low} ? ${low} : value > ${high} ? ${high} : value);
        }
    }
