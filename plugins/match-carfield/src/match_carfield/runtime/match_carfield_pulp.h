/* match_carfield_pulp.h - what code of the PULP cluster has: its SDK, its main, kernels on all cores.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_PULP_H
#define MATCH_CARFIELD_PULP_H

#include <stdint.h>

#include "pulp.h"

#include "match_carfield_api.h"
#include "match_carfield_io.h"

/* Cycles of a kernel on the twin; nothing on silicon. */
#ifndef MATCH_CARFIELD_CHARGE
#define MATCH_CARFIELD_CHARGE(kernel, tile) ((void)(tile))
#endif

/* ---- main --------------------------------------------------------------------------------------------------------- */

/* All cores call it once; returns when the host has stopped the unit. */
void match_carfield_pulp_run(void);
/* Its parts. Core 0: takes a letter of the host and does what it says; 0 when main is to return. */
int match_carfield_pulp_serve(void);
/* All other cores: runs the kernels that core 0 starts until main is to return. */
void match_carfield_pulp_follow(void);

/* ---- kernels: core 0 runs entry(tile) on all cores, itself included, and goes on when all are done ----------------- */

void match_carfield_pulp_team(void (*entry)(void *), const void *tile);

#endif
