/* match_ita_ring.h - copies of core 0, which cannot start the DMA: it writes them as requests into a ring, and the DM
 * core serves them in every loop in which it waits. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_RING_H
#define MATCH_ITA_RING_H

#include <stdint.h>

/* ---- by core 0; asynchronous until match_snitch_copy_wait ------------------------------------------------------- */

void match_snitch_copy_in_1d(void *near, const void *far, uint32_t bytes);
void match_snitch_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void match_snitch_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                             uint32_t row_stride, uint32_t plane_stride);
void match_snitch_copy_out_1d(void *far, const void *near, uint32_t bytes);
void match_snitch_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void match_snitch_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                              uint32_t row_stride, uint32_t plane_stride);
void match_snitch_copy_wait(void);

/* ---- by the DM core --------------------------------------------------------------------------------------------- */

/* While core 0 may ask for copies. */
void match_ita_ring_open(void);
void match_ita_ring_close(void);
/* Starts the copies that were asked for and waits for them. */
void match_ita_ring_serve(void);
/* Its parts, for who waits for the DMA anyway: starts them; tells core 0 that those that were started have ended. */
void match_ita_ring_start(void);
void match_ita_ring_publish(void);

#endif
