## Softmax on 8-bit values from a table of exponentials: N * t / sum, rounded half up, moved and clipped.
    for (int32_t i = 0; i < ${outer * inner}; i++) {
        const int32_t start = ${start};
        int32_t top = in0[start];
        for (int32_t k = 1; k < ${size}; k++) {
            top = in0[start + ${step}] > top ? in0[start + ${step}] : top;
        }
        int64_t sum = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            sum += in1[top - in0[start + ${step}]];
        }
        for (int32_t k = 0; k < ${size}; k++) {
            const int64_t numerator = (int64_t)in1[top - in0[start + ${step}]] * ${double_n} + sum;
            const int64_t value = numerator / (2 * sum) + ${zero};
            out0[start + ${step}] = (${type})(value < ${low} ? ${low} : value > ${high} ? ${high} : value);
        }
    }
