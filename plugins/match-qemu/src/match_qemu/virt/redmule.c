/* redmule.c - the matrix engine of the PULP cluster. There is none here: its registers are functions, and a job is what
 * the twin computes (carfield_redmule.c of the target package, which is built with the two headers of this folder).
 * SPDX-License-Identifier: Apache-2.0 */
#include "redmule.h"

#include "carfield_twin.h"
#include "match_carfield_redmule.h"
#include "match_twin.h"
#include "pulp.h"
#include "virt.h"

/* The cluster's own registers, the clock of the engine among them, have nothing to do. */
uint32_t port_read(uintptr_t address)
{
    return (address >= MATCH_CARFIELD_REDMULE_BASE)
               ? carfield_redmule_read((uint32_t)(address - MATCH_CARFIELD_REDMULE_BASE))
               : 0u;
}

void port_write(uintptr_t address, uint32_t value)
{
    if (address >= MATCH_CARFIELD_REDMULE_BASE) {
        carfield_redmule_write((uint32_t)(address - MATCH_CARFIELD_REDMULE_BASE), value);
    }
}

/* The RAM ends below 2^32, so that 32 bits are a whole address. */
uint8_t *carfield_l1_pointer(carfield_unit_t unit, uint32_t address, size_t bytes, const char *what)
{
    (void)unit;
    (void)bytes;
    (void)what;
    return (uint8_t *)(uintptr_t)address;
}

_Noreturn void match_twin_fault(const char *message)
{
    virt_print("fault: ");
    virt_print(message);
    virt_print("\n");
    virt_exit(255);
}

_Noreturn void match_twin_faultf(const char *format, ...)
{
    match_twin_fault(format);
}
