## Softmax in powers of two: groups of columns one after the other, the sum moves down when the maximum rises.
## A difference d of two values halves (d + 16) / 32 times; 256 is 1.
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${source} *x = &in0[i * ${size}];
        uint8_t *y = &out0[i * ${size}];
        int32_t top = x[0];
        int32_t sum = 0;
% if groups > 1:
        for (int32_t g = 0; g < ${groups}; g++) {
            const ${source} *part = &x[g * ${group}];
            int32_t next = top;
            for (int32_t k = 0; k < ${group}; k++) {
                next = part[k] > next ? part[k] : next;
            }
            sum >>= (next - top + 16) / 32;
            top = next;
            for (int32_t k = 0; k < ${group}; k++) {
                sum += 256 >> ((top - part[k] + 16) / 32);
            }
        }
% else:
        for (int32_t k = 1; k < ${size}; k++) {
            top = x[k] > top ? x[k] : top;
        }
        for (int32_t k = 0; k < ${size}; k++) {
            sum += 256 >> ((top - x[k] + 16) / 32);
        }
% endif
        const int32_t inverse = ${numerator} / sum;
        for (int32_t k = 0; k < ${size}; k++) {
            y[k] = (uint8_t)(inverse >> ((top - x[k] + 16) / 32));
        }
    }
