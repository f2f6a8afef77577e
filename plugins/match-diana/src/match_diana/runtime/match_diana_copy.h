/* match_diana_copy.h - pieces of copies between L2 and L1, for both arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_COPY_H
#define MATCH_DIANA_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "utils.h"

/* What pointers into L1 begin with: any multiple of 16 that is not 0, since L1 has no address of its own. */
#ifndef MATCH_DIANA_L1_BASE
#define MATCH_DIANA_L1_BASE ((uintptr_t)0x20000000u)
#endif
#define MATCH_DIANA_L1_BYTES 0x40000u

/* The published functions for copies: memcpy_dig or memcpy_analog, and the wait that belongs to it. */
typedef struct {
    void (*start)(unsigned int *far, unsigned int near, unsigned int bytes, unsigned int direction, unsigned int banks);
    void (*wait)(void);
} match_diana_mover_t;

/* Bytes from one piece to the next in L2; in L1 they lie one behind the other. */
typedef struct {
    uint32_t count, stride;
} match_diana_level_t;

/* Whether a pointer leads into L1, and to which byte of it. */
bool match_diana_in_l1(const void *near);
uint32_t match_diana_l1_offset(const void *near);

void match_diana_copy_in(const match_diana_mover_t *mover, const void *near, const void *far, match_diana_level_t planes,
                         match_diana_level_t rows, uint32_t row_bytes);
void match_diana_copy_out(const match_diana_mover_t *mover, void *far, const void *near, match_diana_level_t planes,
                          match_diana_level_t rows, uint32_t row_bytes);

#endif
