## Softmax from a table of integer exponentials, along lines that are contiguous: floor(levels * t / sum).
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${source} *x = &in0[i * ${size}];
        uint8_t *y = &out0[i * ${size}];
        ${source} top = x[0];
        for (int32_t k = 1; k < ${size}; k++) {
            top = x[k] > top ? x[k] : top;
        }
        ${type} sum = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            sum += in1[${place}];
        }
        for (int32_t k = 0; k < ${size}; k++) {
            y[k] = (uint8_t)(in1[${place}] * (${type})${levels} / sum);
        }
    }
