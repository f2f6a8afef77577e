/* snrt.h - snRuntime on the cluster with ITA, as the twin has it. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_TWIN_SNRT_H
#define MATCH_ITA_TWIN_SNRT_H

#include <stddef.h>
#include <stdint.h>

#include "match_ita_charge.h"

/* Another package's twin may have a runtime of this name in the same program: these are this one's. */
#define snrt_cluster_core_idx match_ita_twin_core_idx
#define snrt_cluster_compute_core_num match_ita_twin_compute_core_num
#define snrt_is_dm_core match_ita_twin_is_dm_core
#define snrt_partial_barrier match_ita_twin_partial_barrier
#define snrt_dma_start_1d match_ita_twin_dma_start_1d
#define snrt_dma_start_2d match_ita_twin_dma_start_2d
#define snrt_dma_wait_all match_ita_twin_dma_wait_all

typedef uint32_t snrt_dma_txid_t;

typedef struct {
  uint32_t cnt, iteration;
} snrt_barrier_t;

uint32_t snrt_cluster_core_idx(void);
uint32_t snrt_cluster_compute_core_num(void);
int snrt_is_dm_core(void);
/* The first n cores wait for each other. */
void snrt_partial_barrier(snrt_barrier_t *barrier, uint32_t n);

snrt_dma_txid_t snrt_dma_start_1d(void *dst, const void *src, size_t size);
snrt_dma_txid_t snrt_dma_start_2d(void *dst, const void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat);
void snrt_dma_wait_all(void);

#endif
