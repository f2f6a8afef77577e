/* match_ita_api.h - how emitted programs call the cluster with ITA: platform, copies, ITA's kernels.
 *
 * The host core runs the program; in a sequential one a layer runs on the cluster's DM core, which moves tiles
 * between L2 and L1, programs ITA and hands kernels to the eight compute cores. One program at a time uses the
 * cluster.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_API_H
#define MATCH_ITA_API_H

#include <stdint.h>

#include "match_ita_attention.h"
#include "match_ita_linear.h"
#include "match_ita_linear_turned.h"
#include "match_ita_matmul.h"

/* ---- host: 0 on success ----------------------------------------------------------------------------------------- */

int match_ita_start(void);
void match_ita_stop(void);
/* Runs entry(argument) on the DM core and returns when it is done. */
int match_ita_call(void (*entry)(void *), void *argument);

/* ---- copies by the DM core between L2 (far, strided) and L1 (near, dense); asynchronous until the wait ---------- */

void match_ita_copy_in_1d(void *near, const void *far, uint32_t bytes);
void match_ita_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void match_ita_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                          uint32_t row_stride, uint32_t plane_stride);
void match_ita_copy_out_1d(void *far, const void *near, uint32_t bytes);
void match_ita_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void match_ita_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                           uint32_t row_stride, uint32_t plane_stride);
void match_ita_copy_wait(void);

/* ---- ITA, by the DM core: they return when the last job is done ------------------------------------------------- */

void match_ita_linear(const match_ita_linear_t *tile);
void match_ita_linear_turned(const match_ita_linear_turned_t *tile);
void match_ita_attention(const match_ita_attention_t *tile);
void match_ita_matmul(const match_ita_matmul_t *tile);

#endif
