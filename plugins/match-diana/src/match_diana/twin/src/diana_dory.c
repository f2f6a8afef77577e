/* diana_dory.c - copies as DORY publishes them for DIANA (dory, Hardware_targets/Diana/Diana_TVM/Utils_files/dory.c).
 * The analog array's memcpy_analog is with its other functions. SPDX-License-Identifier: Apache-2.0 */
#include "diana_twin.h"
#include "dory.h"

#define L1_WORD_BYTES 16u

enum { TO_L1 = 0, TO_L2 = 1 };
enum { OUT = 1, IN = 2, OUT_BANKS = 3, IN_BANKS = 4 };

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
