/* car_util.h - domains of Carfield, as the twin has them. SPDX-License-Identifier: Apache-2.0 */
#ifndef CAR_UTIL_H
#define CAR_UTIL_H

#include <stdint.h>

#include "match_carfield_twin_io.h"

enum car_rst {
  CAR_PERIPH_RST = 0,
  CAR_SAFETY_RST = 1,
  CAR_SECURITY_RST = 2,
  CAR_PULP_RST = 3,
  CAR_SPATZ_RST = 4,
  CAR_L2_RST = 5
};

void car_enable_domain(enum car_rst rst);
void car_reset_domain(enum car_rst rst);
void pulp_cluster_set_bootaddress(uint32_t pulp_boot_addr);

#endif
