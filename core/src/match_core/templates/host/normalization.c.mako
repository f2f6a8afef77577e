## Normalisation of lines that are contiguous: two passes for mean and variance, a third for the result.
<% x = load("x[k]") %>\
    for (int32_t i = 0; i < ${outer}; i++) {
        const ${memory} *x = &in0[i * ${size}];
        ${memory} *y = &out0[i * ${size}];
% if centred:
        ${type} mean = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
            mean += ${x};
        }
        mean /= ${count};
% endif
        ${type} variance = ${zero};
        for (int32_t k = 0; k < ${size}; k++) {
% if centred:
            variance += (${x} - mean) * (${x} - mean);
% else:
            variance += ${x} * ${x};
% endif
        }
        const ${type} root = ${sqrt}(variance / ${count} + ${epsilon});
        for (int32_t k = 0; k < ${size}; k++) {
            y[k] = ${store((f"({x} - mean)" if centred else x) + f" / root * {scale}" + (f" + {bias}" if bias else ""))};
        }
    }
