/* match_diana_twin.h - what the twin puts in the place of DIANA's memories and of its peripheral bus.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_BUS_H
#define MATCH_DIANA_TWIN_BUS_H

#include <stdint.h>

/* The first bytes of L1. The low 32 bits of the pointer are 0, the first address that the arrays have. */
uint8_t *match_diana_twin_l1(uint32_t bytes);
/* Further bytes of L2, at 0x1c000000 and up; at most as many as there are. */
uint8_t *match_diana_twin_l2(uint32_t bytes);

/* One word of the peripheral bus. */
void match_diana_twin_write(uint32_t address, uint32_t value);
uint32_t match_diana_twin_read(uint32_t address);

#endif
