/* match_diana_arenas.h - the arenas of the arrays' memories on the chip.
 *
 * None of these memories is in the host's address space, so no arena has bytes: each is a range of numbers that nobody
 * follows. Pointers into L1 are told from others by where they begin.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_ARENAS_H
#define MATCH_DIANA_ARENAS_H

#include "match_diana_copy.h"

#define MATCH_DIANA_ARENA(number) ((uint8_t *)(MATCH_DIANA_L1_BASE + (number) * MATCH_DIANA_L1_BYTES))
#define MATCH_DIANA_L1 MATCH_DIANA_ARENA(0u)
#define MATCH_DIANA_DIGITAL_WEIGHTS MATCH_DIANA_ARENA(1u)
#define MATCH_DIANA_ANALOG_CELLS MATCH_DIANA_ARENA(2u)
#define MATCH_DIANA_ANALOG_NORM MATCH_DIANA_ARENA(3u)

#endif
