## Normalisation of lines that are contiguous: two passes for mean and variance, a third for the result.
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${type} *x = &in0[i * ${size}];
        ${type} *y = &out0[i * ${size}];
% if centred:
        ${type} mean = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
            mean += x[k];
        }
        mean /= ${count};
% endif
        ${type} variance = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
% if centred:
            variance += (x[k] - mean) * (x[k] - mean);
% else:
            variance += x[k] * x[k];
% endif
        }
        const ${type} root = ${sqrt}(variance / ${count} + ${epsilon});
        for (int32_t k = 0; k < ${size}; k++) {
            y[k] = ${"(x[k] - mean)" if centred else "x[k]"} / root * ${scale}${f" + {bias}" if bias else ""};
        }
    }
