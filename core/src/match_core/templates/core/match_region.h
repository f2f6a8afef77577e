/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: parts of the network that an engine computes as a whole. The program loads each region once, when it is
 * initialised, and stores the handle for its runs. */
#ifndef MATCH_REGION_H
#define MATCH_REGION_H

#include <stdint.h>

/* A tensor at a region's border, or one of its constants. */
typedef struct {
    uint32_t type; /* number of the element type in ONNX (TensorProto.DataType): 1 float32, 2 uint8, 3 int8, ... */
    uint32_t rank;
    const uint32_t *dims; /* first axis outermost, dense */
    const void *data;     /* of constants, else NULL */
} match_region_tensor_t;

/* A region as compiled. */
typedef struct {
    const char *name;
    const uint8_t *code; /* JSON text or the vendor's bytes; NULL if the code is C */
    uint32_t code_bytes;
    uint32_t inputs_count;
    uint32_t outputs_count;
    uint32_t constants_count;
    const match_region_tensor_t *inputs;
    const match_region_tensor_t *outputs;
    const match_region_tensor_t *constants;
} match_region_t;

/* A unit that takes regions supplies three functions; load and run return 0 on success:
 *     int load(const match_region_t *region, void **handle);
 *     int run(void *handle, const void *const *in, void *const *out, void *scratch);
 *     void unload(void *handle);
 * Constants do not move until unload. */

#endif
