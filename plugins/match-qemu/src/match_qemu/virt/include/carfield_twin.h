/* carfield_twin.h - what the twin's RedMulE asks of the twin. SPDX-License-Identifier: Apache-2.0 */
#ifndef CARFIELD_TWIN_H
#define CARFIELD_TWIN_H

#include <stddef.h>
#include <stdint.h>

typedef enum { CARFIELD_PULP = 0 } carfield_unit_t;

uint8_t *carfield_l1_pointer(carfield_unit_t unit, uint32_t address, size_t bytes, const char *what);

#endif
