/* match_carfield_protocol.h - mailboxes and what host and units write into them (hardware sheet, section 5.1).
 *
 * A doorbell is SET and EN of a mailbox. A letter (LETTER0 other than 0) tells what the doorbell is for: the host hands
 * over a function, a unit says that it has returned. A doorbell without a letter means: look at the counters.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_PROTOCOL_H
#define MATCH_CARFIELD_PROTOCOL_H

#include <stdint.h>

#include "match_carfield_io.h"

/* ---- mailboxes --------------------------------------------------------------------------------------------------- */

#define MATCH_CARFIELD_MAILBOX(id) (0x40000000u + 0x100u * (id))
#define MATCH_CARFIELD_SET 0x04u
#define MATCH_CARFIELD_CLR 0x08u
#define MATCH_CARFIELD_EN 0x0Cu
#define MATCH_CARFIELD_LETTER0 0x80u
#define MATCH_CARFIELD_LETTER1 0x84u

/* Towards the units as MATCHA's firmware and Carfield's own tests use them; towards the host as the wiring says. */
#define MATCH_CARFIELD_TO_SPATZ 0u
#define MATCH_CARFIELD_TO_SPATZ_1 1u /* wakes the second core out of reset, nothing else */
#define MATCH_CARFIELD_TO_PULP 6u
#define MATCH_CARFIELD_FROM_SPATZ 12u
#define MATCH_CARFIELD_FROM_PULP 15u

/* Letters. */
#define MATCH_CARFIELD_RUN 1u   /* to a unit: call the function in its order */
#define MATCH_CARFIELD_EXIT 2u  /* to a unit: return from main */
#define MATCH_CARFIELD_ENDED 3u /* to the host: the function has returned */

/* What a unit is to call; written by the host before the letter. As wide on both sides. */
typedef struct match_carfield_order {
    uint64_t entry;
    uint64_t argument;
} match_carfield_order_t;

/* The last 256 bytes of L2: MATCHA's linker scripts leave them to such blocks. A twin has its own. */
#ifndef MATCH_CARFIELD_ORDERS
#define MATCH_CARFIELD_ORDERS ((volatile match_carfield_order_t *)(uintptr_t)0x780FFF00u)
#endif
#define MATCH_CARFIELD_ORDER_PULP 0u
#define MATCH_CARFIELD_ORDER_SPATZ 1u

static inline void match_carfield_ring(uint32_t mailbox)
{
    MATCH_CARFIELD_FENCE();
    MATCH_CARFIELD_WRITE(MATCH_CARFIELD_MAILBOX(mailbox) + MATCH_CARFIELD_SET, 1u);
    MATCH_CARFIELD_WRITE(MATCH_CARFIELD_MAILBOX(mailbox) + MATCH_CARFIELD_EN, 1u);
    MATCH_CARFIELD_FENCE();
}

static inline void match_carfield_send(uint32_t mailbox, uint32_t letter)
{
    MATCH_CARFIELD_FENCE();
    MATCH_CARFIELD_WRITE(MATCH_CARFIELD_MAILBOX(mailbox) + MATCH_CARFIELD_LETTER1, 0u);
    MATCH_CARFIELD_WRITE(MATCH_CARFIELD_MAILBOX(mailbox) + MATCH_CARFIELD_LETTER0, letter);
    match_carfield_ring(mailbox);
}

/* Takes a doorbell back; one that comes in behind it stays. EN stays 1: cleared behind CLR, as public firmware does, it
 * would take back a doorbell in between. */
static inline void match_carfield_hush(uint32_t mailbox)
{
    MATCH_CARFIELD_WRITE(MATCH_CARFIELD_MAILBOX(mailbox) + MATCH_CARFIELD_CLR, 1u);
    MATCH_CARFIELD_FENCE();
}

/* The same, and the letter that came with it; 0 if there is none. */
static inline uint32_t match_carfield_receive(uint32_t mailbox)
{
    match_carfield_hush(mailbox);
    const uint32_t letter = MATCH_CARFIELD_READ(MATCH_CARFIELD_MAILBOX(mailbox) + MATCH_CARFIELD_LETTER0);
    if (letter != 0u) {
        MATCH_CARFIELD_WRITE(MATCH_CARFIELD_MAILBOX(mailbox) + MATCH_CARFIELD_LETTER0, 0u);
        MATCH_CARFIELD_FENCE();
    }
    return letter;
}

#endif
