/* ${name}.c - in place of an installed library. */
#include "${name}.h"

#include <math.h>

void ${name}_gemm(const float *x, const float *weight, const float *bias, float *y, uint32_t rows, uint32_t outputs,
                  uint32_t inputs)
{
    for (uint32_t n = 0u; n < rows; n++) {
        for (uint32_t k = 0u; k < outputs; k++) {
            float sum = bias[k];
            for (uint32_t c = 0u; c < inputs; c++) {
                sum += x[n * inputs + c] * weight[c * outputs + k];
            }
            y[n * outputs + k] = sum;
        }
    }
}

void ${name}_relu(const float *x, float *y, uint32_t count)
{
    for (uint32_t i = 0u; i < count; i++) {
        y[i] = (x[i] > 0.0f) ? x[i] : 0.0f;
    }
}

void ${name}_sigmoid(const float *x, float *y, uint32_t count)
{
    for (uint32_t i = 0u; i < count; i++) {
        y[i] = 1.0f / (1.0f + expf(-x[i]));
    }
}

void ${name}_tanh(const float *x, float *y, uint32_t count)
{
    for (uint32_t i = 0u; i < count; i++) {
        y[i] = tanhf(x[i]);
    }
}
