/* dory.h - copies, under the names that DORY publishes (dory, Hardware_targets/Diana/Diana_TVM/Utils_files/dory.h), as
 * the twin has it. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_DORY_H
#define MATCH_DIANA_TWIN_DORY_H

#include <stdint.h>

#include "utils.h"

#define DMA_PARALLELISM 32

typedef struct {
  unsigned int ext; /* in L2 */
  unsigned int loc; /* in L1 */
  unsigned int hwc_to_chw;
  unsigned short stride_2d;
  unsigned short number_of_2d_copies;
  unsigned short stride_1d;
  unsigned short number_of_1d_copies;
  unsigned short length_1d_copy;
  unsigned int dir; /* 0: to L1, 1: to L2 */
  unsigned int dma_channel;
} DMA_copy;

uint32_t dory_dma_allocate(void);
void dory_dma_deallocate(uint32_t dma_channel);
/* In spite of the name the host waits for every one-dimensional part. */
void dory_dma_memcpy_async_digital(DMA_copy DMA_copy_current);
void dory_dma_memcpy_async_analog(DMA_copy DMA_copy_current);
void dory_dma_barrier_digital(DMA_copy DMA_copy_current);
void dory_dma_barrier_analog(DMA_copy DMA_copy_current);
void dory_cores_barrier_digital(void);
void dory_cores_barrier_analog(void);

/* Both return while the copy runs. The length is rounded up to 32 bytes, which are all moved. */
void memcpy_dig(unsigned int *L2_Addr_Byte, unsigned int L1_Addr, unsigned int Length, unsigned int direction_L1_L2,
                unsigned int BankNum);
void memcpy_analog(unsigned int *L2_Addr_Byte, unsigned int L1_Addr, unsigned int Length, unsigned int direction_L1_L2,
                   unsigned int BankNum);

#endif
