/* pulp.h - what kernels of the PULP cluster use of its SDK. SPDX-License-Identifier: Apache-2.0 */
#ifndef PULP_H
#define PULP_H

#include <stdint.h>

int rt_core_id(void);
int get_core_num(void);

/* Registers, which are RedMulE's (redmule.c). */
uint32_t port_read(uintptr_t address);
void port_write(uintptr_t address, uint32_t value);

#define MATCH_CARFIELD_READ(address) port_read(address)
#define MATCH_CARFIELD_WRITE(address, value) port_write((address), (value))
#define MATCH_CARFIELD_LOOK_AGAIN() (0)

#endif
