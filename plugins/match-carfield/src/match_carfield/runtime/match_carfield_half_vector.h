/* match_carfield_half_vector.h - the vectors of channels that the kernels compute with.
 *
 * A unit says before how many numbers a vector holds (MATCH_CARFIELD_LANES). Three forms give the same bits: pairs of
 * binary16 numbers in the registers of a RI5CY core (MATCH_CARFIELD_XPULP), RISC-V vectors (__riscv_vector; Spatz,
 * which has no masks: lengths are set by vsetvl alone), and portable C. `n` is the number of lanes in use.
 *
 * MATCH_CARFIELD_FLOAT32 makes all numbers binary32: emulators without vectors of binary16 run the same source so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_VECTOR_H
#define MATCH_CARFIELD_HALF_VECTOR_H

#include "match_float.h"
#include <stdint.h>

#include "match_half.h"

#define MATCH_CARFIELD_INLINE static inline __attribute__((always_inline))

#ifdef MATCH_CARFIELD_FLOAT32
typedef float element_t;
#else
typedef match_half_t element_t;
#endif

#if defined(MATCH_CARFIELD_XPULP)
#include "match_carfield_half_vector_pulp.h"
#elif defined(__riscv_vector)
#include "match_carfield_half_vector_rvv.h"
#else
#include "match_carfield_half_vector_portable.h"
#endif

#endif
