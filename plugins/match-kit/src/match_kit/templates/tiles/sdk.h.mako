/* ${name}_sdk.h - functions of the chip's SDK. Copies and kernels run while the host continues, until it waits. */
#ifndef ${guard}_SDK_H
#define ${guard}_SDK_H

#include "match_${name}_dense.h"

/* Between l2 (far: rows and planes so many bytes apart) and l1 (near: dense). */
void ${name}_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t bytes,
                        uint32_t row_stride, uint32_t plane_stride);
void ${name}_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t bytes,
                         uint32_t row_stride, uint32_t plane_stride);
#define ${name}_copy_in_1d(near, far, bytes) ${name}_copy_in_3d(near, far, 1u, 1u, bytes, 0u, 0u)
#define ${name}_copy_in_2d(near, far, rows, bytes, stride) ${name}_copy_in_3d(near, far, 1u, rows, bytes, stride, 0u)
#define ${name}_copy_out_1d(far, near, bytes) ${name}_copy_out_3d(far, near, 1u, 1u, bytes, 0u, 0u)
#define ${name}_copy_out_2d(far, near, rows, bytes, stride) ${name}_copy_out_3d(far, near, 1u, rows, bytes, stride, 0u)
void ${name}_copy_wait(void);

/* output[n][k] = clip((sum over c of input[n][c] * weight[k][c]) * multiplier[k] + addend[k]) >> shift, low, high). */
void ${name}_dense(const match_${name}_dense_t *ctx);
void ${name}_wait(void);

#endif
