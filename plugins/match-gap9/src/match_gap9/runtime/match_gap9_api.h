/* match_gap9_api.h - how emitted programs call GAP9: platform, copies, cluster kernels, NE16.
 *
 * The fabric controller runs the program; a layer runs on the cluster controller core, which moves tiles between L2
 * and L1 and starts kernels on the eight workers or on NE16. One program at a time uses the cluster.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_API_H
#define MATCH_GAP9_API_H

#include <stdint.h>

#include "match_add.h"
#include "match_clip.h"
#include "match_conv2d.h"
#include "match_depthwise2d.h"
#include "match_flip.h"
#include "match_linear.h"
#include "match_pool2d.h"
#include "match_quantize.h"
#include "match_transpose.h"

/* ---- platform: 0 on success ------------------------------------------------------------------------------ */

/* The cluster; calls are counted, the last stop switches it off. */
int match_gap9_start(void);
void match_gap9_stop(void);
/* NE16, and the cluster that drives it. */
int match_gap9_ne16_start(void);
void match_gap9_ne16_stop(void);
/* Runs entry(argument) on the cluster controller core and returns when it is done. */
int match_gap9_call(void (*entry)(void *), void *argument);
/* On the controller: runs entry(argument) on all workers, beside the controller, until the wait. One at a time. */
void match_gap9_team_launch(void (*entry)(void *), const void *argument);
void match_gap9_team_wait(void);

/* ---- copies between L2 (far, strided) and L1 (near, dense); asynchronous until match_gap9_copy_wait ------- */

void match_gap9_copy_in_1d(void *near, const void *far, uint32_t bytes);
void match_gap9_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void match_gap9_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                           uint32_t row_stride, uint32_t plane_stride);
void match_gap9_copy_out_1d(void *far, const void *near, uint32_t bytes);
void match_gap9_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void match_gap9_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                            uint32_t row_stride, uint32_t plane_stride);
void match_gap9_copy_wait(void);

/* ---- external RAM (L3): holds constants that do not fit L2 ------------------------------------------------- */

/* On the fabric controller, before a program that streams constants runs: 0 on success. */
int match_gap9_store_open(void);
void match_gap9_store_close(void);
/* Opens the RAM if need be, copies constants into it and returns their address; UINT32_MAX if they do not fit. */
uint32_t match_gap9_store_load(const void *data, uint32_t bytes);
/* The same in pieces, with the RAM open. */
uint32_t match_gap9_store_alloc(uint32_t bytes);
void match_gap9_store_write(uint32_t address, const void *data, uint32_t bytes);
/* On the controller: constants to L2, asynchronous until the wait. */
void match_gap9_store_copy_1d(void *home, uint32_t address, uint32_t bytes);
void match_gap9_store_wait(void);

/* ---- cluster kernels: launch returns at once, match_gap9_team_wait returns when all cores are done ---------- */

void match_gap9_conv2d(const match_conv2d_t *tile);
void match_gap9_pointwise(const match_conv2d_t *tile);
void match_gap9_depthwise(const match_depthwise2d_t *tile);
void match_gap9_linear(const match_linear_t *tile);
void match_gap9_add(const match_add_t *tile);
void match_gap9_avgpool(const match_pool2d_t *tile);
void match_gap9_maxpool2d(const match_pool2d_t *tile);
void match_gap9_transpose(const match_transpose_t *tile);
void match_gap9_flip(const match_flip_t *tile);
void match_gap9_clip(const match_clip_t *tile);
void match_gap9_quantize_tensor(const match_quantize_t *tile);

/* ---- NE16: launch returns at once, match_gap9_ne16_wait returns when the last job is done ------------------ */

void match_gap9_ne16_conv3x3(const match_conv2d_t *tile);
void match_gap9_ne16_conv1x1(const match_conv2d_t *tile);
void match_gap9_ne16_depthwise(const match_depthwise2d_t *tile);
void match_gap9_ne16_linear(const match_linear_t *tile);
void match_gap9_ne16_wait(void);

#endif
