/* match_diana_platform.c - start and stop of the accelerators. SPDX-License-Identifier: Apache-2.0 */
#include "match_diana_api.h"

#include "utils.h"

/* The published library boots the analog core before anything else. */
int match_diana_start(void)
{
    plp_hwme_enable();
    boot_diana();
    return 0;
}

void match_diana_stop(void)
{
    plp_hwme_disable();
}

int match_diana_call(void (*entry)(void *), void *argument)
{
    entry(argument);
    return 0;
}
