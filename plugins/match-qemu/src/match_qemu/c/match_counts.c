/* SPDX-License-Identifier: Apache-2.0 */
/* match_counts.c - with MATCH_COUNTED_OUTSIDE, a plug-in of the emulator (count.c) sees the writes to match_marks and
 * notes how many instructions ran before; else the board's own counter is read. */
#include "match_counts.h"

#include <stdint.h>

#include "match_board.h"

#ifdef MATCH_COUNTED_OUTSIDE

volatile uint8_t match_marks[2u * MATCH_MARKS];

void match_profile_begin(unsigned int node)
{
    match_marks[2u * node] = 1u;
}

void match_profile_end(unsigned int node)
{
    match_marks[2u * node + 1u] = 1u;
}

void match_counts_freeze(void)
{
}

void match_counts_send(void)
{
}

#else

static uint64_t counts[MATCH_MARKS];
static int is_frozen;

void match_profile_begin(unsigned int node)
{
    if (is_frozen == 0) {
        counts[node] -= match_board_count();
    }
}

void match_profile_end(unsigned int node)
{
    if (is_frozen == 0) {
        counts[node] += match_board_count();
    }
}

void match_counts_freeze(void)
{
    is_frozen = 1;
}

void match_counts_send(void)
{
    match_board_send(counts, (uint32_t)sizeof counts);
}

#endif
