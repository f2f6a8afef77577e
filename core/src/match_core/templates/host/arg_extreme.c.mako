## The index of the largest or smallest value along one axis.
    for (int32_t i = 0; i < ${outer * inner}; i++) {
        const int32_t start = ${start};
        ${type} best = in0[start];
        out0[i] = 0;
        for (int32_t k = 1; k < ${size}; k++) {
            if (in0[start + ${step}] ${better} best) {
                best = in0[start + ${step}];
                out0[i] = k;
            }
        }
    }
