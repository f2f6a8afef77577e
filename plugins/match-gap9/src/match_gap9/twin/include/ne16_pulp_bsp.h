/* ne16_pulp_bsp.h - clock gate, interconnect priority and events of NE16 in a PULP cluster.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_NE16_PULP_BSP_H
#define MATCH_GAP9_TWIN_NE16_PULP_BSP_H

#include <stdint.h>

#include "ne16.h"

typedef struct ne16_pulp_conf_t {
  int max_stall;
} ne16_pulp_conf_t;

void ne16_pulp_open(ne16_pulp_conf_t *conf);
void ne16_pulp_close(void);
void ne16_pulp_event_wait_and_clear(void);
const ne16_dev_t *ne16_pulp_get_dev(void);

#endif
