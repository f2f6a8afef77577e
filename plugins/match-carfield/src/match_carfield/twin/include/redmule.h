/* redmule.h - RedMulE as the twin has it: what the PULP cluster's register window does.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REDMULE_H
#define REDMULE_H

#include <stdint.h>

/* Offsets as in match_carfield_redmule.h. A trigger computes the whole job at once. */
uint32_t carfield_redmule_read(uint32_t offset);
void carfield_redmule_write(uint32_t offset, uint32_t value);

#endif
