/* diana_dory.c - copies as DORY publishes them for DIANA (dory, Hardware_targets/Diana/Diana_TVM/Utils_files/dory.c).
 * The analog array's memcpy_analog is with its other functions. SPDX-License-Identifier: Apache-2.0 */
#include "diana_twin.h"
#include "dory.h"

#define L1_WORD_BYTES 16u

enum { TO_L1 = 0, TO_L2 = 1 };
enum { OUT = 1, IN = 2, OUT_BANKS = 3, IN_BANKS = 4 };

typedef void (*copy_t)(unsigned int *, unsigned int, unsigned int, unsigned int, unsigned int);

void memcpy_dig(unsigned int *L2_Addr_Byte, unsigned int L1_Addr, unsigned int Length, unsigned int direction_L1_L2,
                unsigned int BankNum) {
  const uint32_t bytes = padding(Length, DMA_PARALLELISM);
  const bool one_bank = BankNum == 1u;
  if (L1_Addr % L1_WORD_BYTES != 0u || direction_L1_L2 > TO_L2) {
    match_twin_faultf("memcpy_dig: 0x%x of L1 is not a multiple of 16 and would be rounded down, or direction %u",
                      L1_Addr, direction_L1_L2);
  }
  hwme_memcpy_op(direction_L1_L2 == TO_L1 ? (one_bank ? IN : IN_BANKS) : (one_bank ? OUT : OUT_BANKS));
  hwme_memcpy_addr_set((uint32_t)(uintptr_t)L2_Addr_Byte);
  hwme_l1addr_set(L1_Addr / L1_WORD_BYTES);
  if (one_bank) {
    hwme_memcpy_n_set(bytes / 4u);
  } else {
    hwme_memcpy_bank_length_set(BankNum);
    hwme_memcpy_row_length_set(BankNum == 0u ? 0u : bytes / (BankNum * L1_WORD_BYTES));
  }
  hwme_trigger_job();
}

uint32_t dory_dma_allocate(void) {
  plp_hwme_enable();
  return 1u;
}

void dory_dma_deallocate(uint32_t dma_channel) {
  (void)dma_channel;
  plp_hwme_disable();
}

/* As many parts as the strides make necessary; L1 is filled densely. */
static void copy_parts(const DMA_copy *whole, copy_t copy, void (*wait)(void)) {
  const uint32_t row = whole->length_1d_copy, plane = row * whole->number_of_1d_copies;
  const bool one_part = plane == whole->stride_2d, one_per_plane = row == whole->stride_1d;
  const uint32_t planes = one_part ? 1u : whole->number_of_2d_copies;
  const uint32_t rows = one_part || one_per_plane ? 1u : whole->number_of_1d_copies;
  const uint32_t bytes = one_part ? plane * whole->number_of_2d_copies : one_per_plane ? plane : row;
  uint32_t near = whole->loc;
  if (whole->hwc_to_chw == 1u) {
    match_twin_fault("dory_dma_memcpy_async: the published function moves nothing where hwc_to_chw is 1");
  }
  for (uint32_t i = 0u; i < planes; i++) {
    for (uint32_t j = 0u; j < rows; j++) {
      const uint32_t far = whole->ext + i * whole->stride_2d + j * whole->stride_1d;
      copy((unsigned int *)(uintptr_t)far, near, bytes, whole->dir, 1u);
      wait();
      near += bytes;
    }
  }
}

void dory_dma_memcpy_async_digital(DMA_copy DMA_copy_current) {
  copy_parts(&DMA_copy_current, memcpy_dig, global_sync_digital);
}

void dory_dma_memcpy_async_analog(DMA_copy DMA_copy_current) {
  copy_parts(&DMA_copy_current, memcpy_analog, global_sync_analog);
}

void dory_dma_barrier_digital(DMA_copy DMA_copy_current) {
  (void)DMA_copy_current;
  global_sync_digital();
}

void dory_dma_barrier_analog(DMA_copy DMA_copy_current) {
  (void)DMA_copy_current;
  global_sync_analog();
}

void dory_cores_barrier_digital(void) { global_sync_digital(); }

void dory_cores_barrier_analog(void) { global_sync_analog(); }
