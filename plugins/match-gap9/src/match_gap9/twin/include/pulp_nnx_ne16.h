/* pulp_nnx_ne16.h - dispatching NE16 jobs, as in pulp-nnx. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_PULP_NNX_NE16_H
#define MATCH_GAP9_TWIN_PULP_NNX_NE16_H

#include <stdint.h>

#include "ne16.h"
#include "ne16_pulp_bsp.h"
#include "ne16_task.h"

void ne16_nnx_init(const ne16_dev_t *dev, ne16_pulp_conf_t *conf);
void ne16_nnx_term(const ne16_dev_t *dev);
int ne16_nnx_dispatch_check(const ne16_dev_t *dev);
void ne16_nnx_dispatch_wait(const ne16_dev_t *dev);
/* 0: accepted, 1: both job contexts are taken. */
int ne16_nnx_dispatch(const ne16_dev_t *dev, ne16_task_t *task);
int ne16_nnx_resolve_check(const ne16_dev_t *dev, ne16_task_t *task);
void ne16_nnx_resolve_wait(const ne16_dev_t *dev, ne16_task_t *task);

#endif
