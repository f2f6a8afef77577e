/* match_gap9_load.h - the function of the program's runtime with which the harness fills the external RAM; declared in
 * match_gap9_api.h too, which the harness does not include. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_LOAD_H
#define MATCH_GAP9_TWIN_LOAD_H

#include <stdint.h>

uint32_t match_gap9_store_load(const void *data, uint32_t bytes);

#endif
