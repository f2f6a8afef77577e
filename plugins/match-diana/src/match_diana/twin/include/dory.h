/* dory.h - copies, under the names that DORY publishes (dory, Hardware_targets/Diana/Diana_TVM/Utils_files/dory.h), as
 * the twin has it. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_DORY_H
#define MATCH_DIANA_TWIN_DORY_H

#include "utils.h"

#define DMA_PARALLELISM 32

/* Both return while the copy runs. The length is rounded up to 32 bytes, which are all moved. */
void memcpy_dig(unsigned int *L2_Addr_Byte, unsigned int L1_Addr, unsigned int Length, unsigned int direction_L1_L2,
                unsigned int BankNum);
void memcpy_analog(unsigned int *L2_Addr_Byte, unsigned int L1_Addr, unsigned int Length, unsigned int direction_L1_L2,
                   unsigned int BankNum);

#endif
