/* match_gap9_count.h - what a core executes, for the twin's clock; nothing on silicon.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_COUNT_H
#define MATCH_GAP9_COUNT_H

#include "pmsis.h"

/* This core has executed a term of the cost model `times` times: the twin's pmsis.h defines it. */
#ifndef MATCH_GAP9_COUNT
#define MATCH_GAP9_COUNT(term, times) ((void)(times))
#endif

#endif
