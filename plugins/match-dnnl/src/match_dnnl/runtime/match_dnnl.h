/* SPDX-License-Identifier: Apache-2.0 */
/* Regions on oneDNN: the three functions of match_region.h. A handle holds primitives, weights in the layouts that they
 * want, and one block of memory for tensors inside of the region. Handles share nothing; one handle runs in one thread
 * at a time. oneDNN itself spreads each primitive over OpenMP's threads (OMP_NUM_THREADS). */
#ifndef MATCH_DNNL_H
#define MATCH_DNNL_H

#include "match_region.h"

/* Builds the primitives of a region whose code is JSON (match_regions/graph.py) with operators of domain dnnl.
 * Not 0: the code is not of this form, a primitive does not exist, or memory is short; then nothing is kept. */
int match_dnnl_load(const match_region_t *region, void **handle);

/* Runs them. `scratch` is not used. */
int match_dnnl_run(void *handle, const void *const *in, void *const *out, void *scratch);

/* Frees everything that load made; NULL is fine. */
void match_dnnl_unload(void *handle);

#endif
