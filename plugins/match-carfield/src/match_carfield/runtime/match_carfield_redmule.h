/* match_carfield_redmule.h - registers of RedMulE (pulp-platform/redmule, rtl/redmule_pkg.sv, sw/archi_redmule.h).
 *
 * A job computes Z = Z + X * W in binary16: X is [M][N], W is [N][K], Z is [M][K], all dense. Each element of Z passes
 * a chain of fused multiply-adds in the order of N, rounded to binary16 after each (rtl/redmule_row.sv: an element
 * takes the result of the one before; rtl/redmule_engine.sv: the last result comes back as the next start). N is filled
 * up with zeros to a multiple of the array's height.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_REDMULE_H
#define MATCH_CARFIELD_REDMULE_H

#include <stdint.h>

#ifndef MATCH_CARFIELD_REDMULE_BASE
#define MATCH_CARFIELD_REDMULE_BASE 0x50201000u
#define MATCH_CARFIELD_CLUSTER_CONTROL_BASE 0x50200000u
#endif

#define MATCH_CARFIELD_CLUSTER_CLOCK 0x18u
#define MATCH_CARFIELD_CLUSTER_CLOCK_HWPE 0x800u

#define MATCH_CARFIELD_REDMULE_TRIGGER 0x00u
#define MATCH_CARFIELD_REDMULE_ACQUIRE 0x04u /* a job's number; negative while all contexts are taken */
#define MATCH_CARFIELD_REDMULE_STATUS 0x0Cu  /* 0 when no job is left */
#define MATCH_CARFIELD_REDMULE_JOB 0x40u     /* the first of the words below */

enum {
    MATCH_CARFIELD_REDMULE_X,
    MATCH_CARFIELD_REDMULE_W,
    MATCH_CARFIELD_REDMULE_Z,
    MATCH_CARFIELD_REDMULE_K_M, /* K in the upper half */
    MATCH_CARFIELD_REDMULE_N,
    MATCH_CARFIELD_REDMULE_ARITHMETIC,
    MATCH_CARFIELD_REDMULE_WORDS
};

#define MATCH_CARFIELD_REDMULE_CHAIN 4u /* N is a multiple, or filled up */
#define MATCH_CARFIELD_REDMULE_GEMM (1u << 10)
#define MATCH_CARFIELD_REDMULE_BINARY16 (1u << 7)

#endif
