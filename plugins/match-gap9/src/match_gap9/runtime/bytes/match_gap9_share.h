/* match_gap9_share.h - what of n items a core works on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_SHARE_H
#define MATCH_GAP9_SHARE_H

#include <stdint.h>

#include "pmsis.h"

#ifndef NUM_CORES
#define NUM_CORES 8
#endif

typedef struct {
    uint32_t start, stop;
} match_gap9_share_t;

/* This core's share of n items, in equal chunks of whole blocks. */
static inline match_gap9_share_t match_gap9_share(uint32_t n, uint32_t block)
{
    const uint32_t every = (uint32_t)NUM_CORES * block;
    const uint32_t chunk = (n + every - 1u) / every * block;
    const uint32_t start = chunk * (uint32_t)pi_core_id();
    match_gap9_share_t share;
    share.start = (start < n) ? start : n;
    share.stop = (n - share.start < chunk) ? n : share.start + chunk;
    return share;
}

#endif
