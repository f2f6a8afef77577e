/* match_ita_hooks.h - what the twin puts into kernels. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_HOOKS_H
#define MATCH_ITA_HOOKS_H

#include "snrt.h"

/* Work of the calling core on the twin: cycles, and in the upper word uses of the unit that multiplies and divides for
 * all cores. Nothing on silicon, where MATCH_ITA_WORK is not evaluated. */
#ifdef MATCH_ITA_CHARGE_H
#include <stdint.h>

#include "match_ita_timing.h"
#define MATCH_ITA_WORK(name) ((uint64_t)MATCH_ITA_##name##_CYCLES + ((uint64_t)MATCH_ITA_##name##_USES << 32))
#else
#define match_ita_charge(work) ((void)0)
#endif

#endif
