/* ${name}.h - the library's functions. */
#ifndef ${guard}_H
#define ${guard}_H

#include "match_region.h"

/* y[n][k] = bias[k] + sum over c of x[n][c] * weight[c][k]. */
void ${name}_gemm(const float *x, const float *weight, const float *bias, float *y, uint32_t rows, uint32_t outputs,
                  uint32_t inputs);
void ${name}_relu(const float *x, float *y, uint32_t count);
void ${name}_sigmoid(const float *x, float *y, uint32_t count);
void ${name}_tanh(const float *x, float *y, uint32_t count);

#endif
