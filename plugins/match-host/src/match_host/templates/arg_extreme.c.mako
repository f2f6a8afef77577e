## The index of the largest or smallest value along one axis.
    for (int32_t i = 0; i < ${outer * inner}; i++) {
        const int32_t start = ${start};
        ${type} best = ${load("in0[start]")};
        out0[i] = 0;
        for (int32_t k = 1; k < ${size}; k++) {
            const ${type} x = ${load(f"in0[start + {step}]")};
            if (x ${better} best) {
                best = x;
                out0[i] = k;
            }
        }
    }
