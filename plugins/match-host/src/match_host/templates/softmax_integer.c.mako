## Softmax on 8-bit values from a table of exponentials: N * t / sum, rounded half up, moved and clipped. In long lines
## the results of all distances from the largest value are computed once, up to the first one that rounds to 0.
    for (int32_t i = 0; i < ${outer * inner}; i++) {
        const int32_t start = ${start};
        int32_t top = in0[start];
        for (int32_t k = 1; k < ${size}; k++) {
            top = in0[start + ${step}] > top ? in0[start + ${step}] : top;
        }
        ${sum_type} sum = 0;
        for (int32_t k = 0; k < ${size}; k++) {
            sum += ${"(uint32_t)" if sum_type == "uint32_t" else ""}in1[top - in0[start + ${step}]];
        }
% if long_lines:
        ${type} results[256];
        int32_t distance = 0;
        for (; distance < 256; distance++) {
            const int64_t quotient = ((int64_t)in1[distance] * ${double_n} + sum) / (2 * (int64_t)sum);
            if (quotient == 0) {
                break;
            }
            const int64_t value = quotient + ${zero};
            results[distance] = (${type})(value < ${low} ? ${low} : value > ${high} ? ${high} : value);
        }
        for (; distance < 256; distance++) {
            results[distance] = ${min(max(zero, low), high)};
        }
        for (int32_t k = 0; k < ${size}; k++) {
            out0[start + ${step}] = results[top - in0[start + ${step}]];
        }
% else:
        for (int32_t k = 0; k < ${size}; k++) {
            const int64_t numerator = (int64_t)in1[top - in0[start + ${step}]] * ${double_n} + sum;
            const int64_t value = numerator / (2 * (int64_t)sum) + ${zero};
            out0[start + ${step}] = (${type})(value < ${low} ? ${low} : value > ${high} ? ${high} : value);
        }
% endif
    }
