/* match_ita_hooks.h - what the twin puts into kernels. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_HOOKS_H
#define MATCH_ITA_HOOKS_H

#include "snrt.h"

/* Cycles of the calling core's work on the twin; nothing on silicon. */
#ifndef match_ita_charge
#define match_ita_charge(cycles) ((void)(cycles))
#endif

#endif
