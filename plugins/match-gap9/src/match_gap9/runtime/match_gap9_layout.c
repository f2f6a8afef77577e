/* match_gap9_layout.c - see the header.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_layout.h"

#include "pmsis.h"

#ifndef NUM_CORES
#define NUM_CORES 8
#endif
#ifndef MATCH_GAP9_CHARGE_TRANSPOSE
#define MATCH_GAP9_CHARGE_TRANSPOSE(elements) ((void)0)
#endif

void match_gap9_hwc_to_chw(const uint8_t *pixels, uint8_t *planes, uint32_t pixel_count, uint32_t channels)
{
    const uint32_t core = (uint32_t)pi_core_id();
    const uint32_t chunk = (channels + NUM_CORES - 1u) / NUM_CORES;
    const uint32_t first = (core * chunk < channels) ? core * chunk : channels;
    const uint32_t last = (first + chunk < channels) ? first + chunk : channels;
    for (uint32_t c = first; c < last; c++) {
        for (uint32_t p = 0u; p < pixel_count; p++) {
            planes[c * pixel_count + p] = pixels[p * channels + c];
        }
    }
    MATCH_GAP9_CHARGE_TRANSPOSE(pixel_count * channels);
    pi_cl_team_barrier();
}
