/* ${op} in plain loops, by match-ownconv */
static void ${function}(${arguments})
{
    for (int32_t n = 0; n < ${batch}; n++) {
        for (int32_t y = 0; y < ${rows}; y++) {
            for (int32_t x = 0; x < ${columns}; x++) {
                for (int32_t o = 0; o < ${outputs}; o++) {
                    ${sum} sum = ${start};
                    for (int32_t ky = 0; ky < ${kernel[0]}; ky++) {
                        for (int32_t kx = 0; kx < ${kernel[1]}; kx++) {
                            const int32_t iy = y * ${strides[0]} + ky * ${dilations[0]} - ${pads[0]};
                            const int32_t ix = x * ${strides[1]} + kx * ${dilations[1]} - ${pads[1]};
                            if (iy < 0 || iy >= ${height} || ix < 0 || ix >= ${width}) {
                                continue;
                            }
                            for (int32_t i = 0; i < ${inputs}; i++) {
                                const int32_t from = ((n * ${height} + iy) * ${width} + ix) * ${channels};
                                const int32_t tap = ((o * ${inputs} + i) * ${kernel[0]} + ky) * ${kernel[1]} + kx;
                                sum += in0[from + o / ${outputs // group} * ${inputs} + i] * in1[tap];
                            }
                        }
                    }
                    out0[((n * ${rows} + y) * ${columns} + x) * ${outputs} + o] = sum;
                }
            }
        }
    }
}
