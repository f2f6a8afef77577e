/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers one at a time: Helium's vectors of them flush subnormal numbers to zero whatever the mode, so
 * results would not have the bits of the scalar unit. */
#ifndef MATCH_CORTEXM_FLOAT_H
#define MATCH_CORTEXM_FLOAT_H

#if !defined(__ARM_FEATURE_MVE) || defined(MATCH_CORTEXM_SCALAR_FLOATS)
#define MATCH_CORTEXM_SCALAR
#elif defined(__GNUC__) && !defined(__clang__)
#define MATCH_CORTEXM_SCALAR __attribute__((optimize("no-tree-vectorize")))
#elif (__ARM_FEATURE_MVE & 2) == 0
#define MATCH_CORTEXM_SCALAR
#else
#error "compile this file without vectors, and with -DMATCH_CORTEXM_SCALAR_FLOATS: -fno-vectorize -fno-slp-vectorize"
#endif

#endif
