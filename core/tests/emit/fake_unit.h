/* fake_unit.h - a unit on which copies happen as late as they may, when they are waited for; until then their
 * destinations hold poison. Kernels happen as late as they may, or as early. A program that forgets a wait, changes the
 * context of a kernel that runs, or uses a buffer too early computes something else or ends with a fault.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_UNIT_H
#define FAKE_UNIT_H

#include <stdint.h>

#include "match_add.h"
#include "match_conv2d.h"
#include "match_packed.h"
#include "match_permute.h"
#include "match_sum2d.h"
#include "match_runtime.h"

/* ---- copies between home memory and the unit's memories ------------------------------------------------------ */

void in_1d(void *near, const void *far, uint32_t bytes);
void in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
           uint32_t plane_stride);
void out_1d(void *far, const void *near, uint32_t bytes);
void out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
            uint32_t plane_stride);
void copy_wait(void);
/* Copies that have ended when they return. */
void blocking_in_1d(void *near, const void *far, uint32_t bytes);
void blocking_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void blocking_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                    uint32_t row_stride, uint32_t plane_stride);
void blocking_out_1d(void *far, const void *near, uint32_t bytes);
void blocking_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void blocking_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                     uint32_t row_stride, uint32_t plane_stride);

/* ---- copies from the store to home memory -------------------------------------------------------------------- */

void store_copy(void *home, uint32_t address, uint32_t bytes);
void store_wait(void);

/* ---- kernels: launch and wait, or run --------------------------------------------------------------------------- */

void add_launch(const match_add_t *tile);
void conv2d_launch(const match_conv2d_t *tile);
void packed_launch(const match_packed_t *tile);
void permute_launch(const match_permute_t *tile);
void sum2d_launch(const match_sum2d_t *tile);
void kernel_wait(void);
void add_run(const match_add_t *tile);
void conv2d_run(const match_conv2d_t *tile);
void packed_run(const match_packed_t *tile);
void permute_run(const match_permute_t *tile);
void sum2d_run(const match_sum2d_t *tile);

/* ---- platform: runs a task at once ------------------------------------------------------------------------------ */

/* Starts without their stop; whether the next start fails. */
extern int fake_starts, fake_failing_start;
int fake_start(void);
void fake_stop(void);
int fake_call(void (*entry)(void *argument), void *argument);
/* Fills the store; gives its address. */
uint32_t fake_load_store(const uint8_t *data, uint32_t bytes);

/* ---- for the tests ---------------------------------------------------------------------------------------------- */

/* Runs a layer with its memories filled with poison and prints the output in hexadecimal. Sizes are exact, so that the
 * address sanitizer sees what goes beyond. */
typedef struct {
    void (*layer)(void *argument);
    const void *const *in;
    void *output;
    uint32_t output_bytes;
    uint32_t near_bytes;
    uint32_t private_bytes;
    uint32_t scratch_bytes;
    const uint8_t *stored;
    uint32_t stored_bytes;
} case_t;
void run_case(const case_t *one);

/* Kernels are performed at the launch, not at the wait. */
extern int fake_unit_early;

#endif
