/* match_twin_sync.h - the MATCH_SYNC_HEADER of programs built for the twin (docs/programs.md).
 *
 * In the timeline every load and store of a counter is a point at which contexts change. With MATCH_TWIN_THREADS the
 * program keeps its own atomics: they are what is tested. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_TWIN_SYNC_H
#define MATCH_TWIN_SYNC_H

#include "match_twin_context.h"

#ifndef MATCH_TWIN_CONCURRENT
#define MATCH_LOAD(counter) match_twin_load(counter)
#define MATCH_STORE(counter, value) match_twin_store((counter), (value))
#endif
#define MATCH_RELAX() match_twin_relax()

#endif
