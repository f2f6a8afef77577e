/* SPDX-License-Identifier: Apache-2.0 */
/* Four weights of float16 as float32. They are stored with the exponent's bias 25 in place of 15, so that none is
 * subnormal, which vectors would flush; multiplication makes it 127. Products of float16 numbers are multiples of 2^-48,
 * and so are sums of them: nothing is flushed, and no status tells more. */
#ifndef MATCH_CORTEXM_HALF_H
#define MATCH_CORTEXM_HALF_H

#include "match_cortexm_float.h"
#include "match_half.h"

MATCH_CORTEXM_INLINE match_cortexm_s_t match_cortexm_s_load_half(const match_half_t *from)
{
    match_cortexm_s_t result;
    for (int k = 0; k < 4; k++) {
        const match_half_float_t moved = {.bits = (uint32_t)(from[k] & 0x8000u) << 16 | (uint32_t)(from[k] & 0x7FFFu) << 13};
        result.lane[k] = moved.value * 0x1p102f;
    }
    return result;
}

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0 && !defined(MATCH_CORTEXM_PORTABLE)

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_load_half(const match_half_t *from)
{
    const int32x4_t moved = vshlq_n_s32(vldrhq_s32((const int16_t *)from), 13);
    return vmulq_n_f32(vreinterpretq_f32_s32(vbicq_n_s32(moved, 0x70000000)), 0x1p102f);
}

#else

#define match_cortexm_v_load_half match_cortexm_s_load_half

#endif

#endif
