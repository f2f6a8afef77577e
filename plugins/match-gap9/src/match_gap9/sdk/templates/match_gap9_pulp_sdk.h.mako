/* SPDX-License-Identifier: Apache-2.0 */
/* match_gap9_pulp_sdk.h - what the open pulp-sdk (d4b5bcd) lacks of GAP9's interface.
 *
 * pulp_sdk.mk includes it before every source. Without a core for the controller alone, the controller is one of the
 * team: a launch then returns when all are done. */
#if !defined(MATCH_GAP9_PULP_SDK_H) && !defined(__ASSEMBLER__)
#define MATCH_GAP9_PULP_SDK_H

#include "pmsis.h"

/* Then cluster and NE16 cannot run side by side. */
#ifndef ARCHI_CC_CORE_ID
#define MATCH_GAP9_ONE_LOOP
#endif

static inline void pi_team_config_offload(int nb_cores)
{
#ifdef ARCHI_CC_CORE_ID
    pos_team_config_offload(nb_cores);
#else
    (void)nb_cores;
#endif
}

static inline void pi_team_offload_preset(void (*entry)(void *), void *arg)
{
#ifdef ARCHI_CC_CORE_ID
    pos_team_offload(0, entry, arg);
#else
    pi_cl_team_fork(NUM_CORES, entry, arg);
#endif
}

static inline void pi_team_offload_wait(void)
{
#ifdef ARCHI_CC_CORE_ID
    pos_team_offload_wait();
#endif
}
% if stores or areas:

/* Its boards have HyperRAM and HyperFlash and no other default. */
#include "bsp/flash/hyperflash.h"
#include "bsp/ram/hyperram.h"

#define pi_default_ram_conf pi_hyperram_conf
#define pi_default_ram_conf_init pi_hyperram_conf_init
#define pi_default_flash_conf pi_hyperflash_conf
#define pi_default_flash_conf_init pi_hyperflash_conf_init
% endif

#endif
