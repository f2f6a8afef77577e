/* alone.c - for programs without units: other harts have nothing to do. SPDX-License-Identifier: Apache-2.0 */
#include "virt.h"

_Noreturn void virt_unit(uint32_t hart)
{
    (void)hart;
    for (;;) {
        __asm__ volatile("wfi");
    }
}
