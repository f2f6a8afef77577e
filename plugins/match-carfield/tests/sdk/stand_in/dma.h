/* dma.h - names of Cheshire's own header, for building only. SPDX-License-Identifier: Apache-2.0 */
#ifndef DMA_H
#define DMA_H
#include <stdint.h>
#define DMA_CONF_DECOUPLE_NONE (0)
uint64_t sys_dma_memcpy(uint64_t dst, uint64_t src, uint64_t size, uint64_t conf);
volatile uint64_t *sys_dma_done_ptr(void);
#endif
