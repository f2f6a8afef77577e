/* match_carfield_dma.h - copies between L2 and DRAM by the system DMA. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_DMA_H
#define MATCH_CARFIELD_DMA_H

#include <stdint.h>

/* ---- the host's copies of buffers: one at a time, store is an address ---------------------------------------------- */

void match_carfield_swap_out(uint32_t store, const void *home, uint32_t bytes);
void match_carfield_swap_in(void *home, uint32_t store, uint32_t bytes);
int match_carfield_swap_busy(void);

/* ---- streamed constants, copied by the unit that runs the layer; asynchronous until the wait ----------------------- */

void match_carfield_store_copy_1d(void *home, uint32_t address, uint32_t bytes);
void match_carfield_store_wait(void);

#endif
