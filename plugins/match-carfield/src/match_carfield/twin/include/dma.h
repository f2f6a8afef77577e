/* dma.h - the system DMA of Cheshire, as the twin has it. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_TWIN_DMA_H
#define MATCH_CARFIELD_TWIN_DMA_H

#include <stdint.h>

#include "match_carfield_twin_io.h"

#define DMA_CONF_DECOUPLE_NONE (0)

/* Number of the copy, as the done register will say it. */
uint64_t sys_dma_memcpy(uint64_t dst, uint64_t src, uint64_t size, uint64_t conf);
volatile uint64_t *sys_dma_done_ptr(void);

#endif
