/* SPDX-License-Identifier: Apache-2.0 */
/* What copies of windows need whose taps are no neighbours. */
#ifndef MATCH_CORTEXM_APART_H
#define MATCH_CORTEXM_APART_H

#include <stdint.h>
#include <string.h>

/* A function that is the same whoever calls it: compilers would make other code of it for each program. */
#if defined(__GNUC__) && !defined(__clang__)
#define MATCH_CORTEXM_ALONE __attribute__((noipa, unused))
#elif defined(__GNUC__)
#define MATCH_CORTEXM_ALONE __attribute__((noinline, unused))
#else
#define MATCH_CORTEXM_ALONE
#endif

#endif
