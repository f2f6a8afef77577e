/* match_gap9_clip.h - results as uint8.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_CLIP_H
#define MATCH_GAP9_CLIP_H

#include <stdint.h>

/* One instruction of XpulpV2, two branches without. */
static inline uint8_t match_gap9_clip_u8(int32_t value)
{
#ifdef MATCH_GAP9_XPULP
  return (uint8_t)__builtin_pulp_clipu_r(value, 255);
#else
  return (uint8_t)((value < 0) ? 0 : ((value > 255) ? 255 : value));
#endif
}

#endif
