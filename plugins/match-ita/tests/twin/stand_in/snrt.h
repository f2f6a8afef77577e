/* snrt.h - declarations of the Snitch runtime (pulp-platform/snitch_cluster, sw/snRuntime) that the package's C uses,
 * for compilers without that runtime. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_STAND_IN_SNRT_H
#define MATCH_ITA_STAND_IN_SNRT_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t snrt_dma_txid_t;
typedef struct {
  uint32_t cnt, iteration;
} snrt_barrier_t;

uint32_t snrt_cluster_core_idx(void);
uint32_t snrt_cluster_compute_core_num(void);
int snrt_is_dm_core(void);
void snrt_partial_barrier(snrt_barrier_t *barr, uint32_t n);
snrt_dma_txid_t snrt_dma_start_1d(void *dst, const void *src, size_t size);
snrt_dma_txid_t snrt_dma_start_2d(void *dst, const void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat);
void snrt_dma_wait_all(void);

#endif
