/* match_gap9_layout.h - layout changes inside L1, called by every core of a team.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_LAYOUT_H
#define MATCH_GAP9_LAYOUT_H

#include <stdint.h>

/* planes[c][p] = pixels[p][c] for pixel_count pixels of channels values. Ends in a barrier. */
void match_gap9_hwc_to_chw(const uint8_t *pixels, uint8_t *planes, uint32_t pixel_count, uint32_t channels);

#endif
