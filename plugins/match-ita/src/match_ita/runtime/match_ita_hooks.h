/* match_ita_hooks.h - hooks with which a port measures kernels. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_HOOKS_H
#define MATCH_ITA_HOOKS_H

#include "snrt.h"

/* Work of the calling core: cycles, and in the upper word uses of the unit that multiplies and divides for
 * all cores. By default nothing, and MATCH_ITA_WORK is not evaluated. */
#ifdef MATCH_ITA_CHARGE_H
#include <stdint.h>

#include "match_ita_timing.h"
#define MATCH_ITA_WORK(name) ((uint64_t)MATCH_ITA_##name##_CYCLES + ((uint64_t)MATCH_ITA_##name##_USES << 32))
#else
#define match_ita_charge(work) ((void)0)
#endif

#endif
