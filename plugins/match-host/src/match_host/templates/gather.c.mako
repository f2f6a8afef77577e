## Copies the rows that an index list names.
    for (int32_t i = 0; i < ${outer}; i++) {
        for (int32_t j = 0; j < ${count}; j++) {
            ${index_type} index = in1[j];
            if (index < 0) {
                index = index < -${size} ? 0 : index + ${size};
            }
            if (index >= ${size}) {
                index = ${size - 1};
            }
% if inner > 1:
            memcpy(&out0[(i * ${count} + j) * ${inner}], &in0[(i * ${size} + (int32_t)index) * ${inner}],
                   ${inner} * sizeof(${type}));
% else:
            out0[i * ${count} + j] = in0[i * ${size} + (int32_t)index];
% endif
        }
    }
