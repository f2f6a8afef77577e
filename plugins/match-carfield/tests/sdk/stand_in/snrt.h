/* snrt.h - names of snRuntime, for building only. SPDX-License-Identifier: Apache-2.0 */
#ifndef SNRT_H
#define SNRT_H
#include <stddef.h>
#include <stdint.h>
typedef uint32_t snrt_dma_txid_t;
uint32_t snrt_cluster_core_idx(void);
uint32_t snrt_cluster_core_num(void);
void snrt_cluster_hw_barrier(void);
snrt_dma_txid_t snrt_dma_start_1d(void *dst, const void *src, size_t size);
snrt_dma_txid_t snrt_dma_start_2d(void *dst, const void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat);
void snrt_dma_wait_all(void);
#endif
