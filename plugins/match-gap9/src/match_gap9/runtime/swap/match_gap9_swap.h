/* match_gap9_swap.h - activations and constants in the external RAM, copied there and back by the fabric controller.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_SWAP_H
#define MATCH_GAP9_SWAP_H

#include <stdint.h>

/* On the fabric controller, while the cluster works: copies that run one after another. Addresses of the RAM are those of
 * match_gap9_store_alloc, which has opened it. */
void match_gap9_swap_out(uint32_t store, const void *home, uint32_t bytes);
void match_gap9_swap_in(void *home, uint32_t store, uint32_t bytes);
/* Returns when at most `left` of these copies have not ended. */
void match_gap9_swap_wait(uint32_t left);

#endif
