/* snrt.h - what kernels of the Spatz cluster use of its SDK. SPDX-License-Identifier: Apache-2.0 */
#ifndef SNRT_H
#define SNRT_H

#include <stdint.h>

uint32_t snrt_cluster_core_idx(void);
uint32_t snrt_cluster_core_num(void);

#endif
