/* pulp.h - the SDK of the chip, as far as the kernel library and programs need it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_PULP_H
#define MATCH_DIANA_TWIN_PULP_H

#include <stdint.h>

#include "match_diana_twin.h"

/* On the chip: the section for data in L2. */
#define L2_DATA

/* The runtime tells pointers into L1 from others by it. */
#define MATCH_DIANA_L1_BASE ((uintptr_t)match_diana_twin_l1(0u))

#define ARCHI_SOC_EU_ADDR 0x1A106000u
#define ARCHI_FC_HWPE_DIG_ADDR 0x1A10C000u
#define ARCHI_FC_HWPE_ANA_ADDR 0x1A10D000u

#endif
