/* SPDX-License-Identifier: Apache-2.0 */
/* match_serial.h - what a board's support file (support.c) gives, besides its start-up code, which calls main and
 * match_board_end with its result, and calls match_board_fault on an exception:
 * - these functions;
 * - match_board_count (match_board.h): a counter of processor cycles that does not overflow within a node. */
#ifndef MATCH_SERIAL_H
#define MATCH_SERIAL_H

#include <stdint.h>

/* Sets the line and the counter up. */
void match_serial_start(void);
void match_serial_put(uint8_t byte);
/* The next byte; -1 if none comes for about a second. */
int match_serial_get(void);

#endif
