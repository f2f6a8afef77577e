/* pulp_nn_utils.h - present so that includes resolve; emitted code calls none of the helpers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_PULP_NN_UTILS_H
#define MATCH_GAP9_TWIN_PULP_NN_UTILS_H
#include "pmsis.h"
#endif
