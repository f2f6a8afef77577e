/* spatz_sdk.c - empty bodies. SPDX-License-Identifier: Apache-2.0 */
#include "snrt.h"

uint32_t snrt_cluster_core_idx(void) { return 0u; }
uint32_t snrt_cluster_core_num(void) { return 2u; }
void snrt_cluster_hw_barrier(void) {}
snrt_dma_txid_t snrt_dma_start_1d(void *dst, const void *src, size_t size) {
  (void)dst, (void)src, (void)size;
  return 0u;
}
snrt_dma_txid_t snrt_dma_start_2d(void *dst, const void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat) {
  (void)dst, (void)src, (void)size, (void)dst_stride, (void)src_stride, (void)repeat;
  return 0u;
}
void snrt_dma_wait_all(void) {}
