/* car_util.h - names of Carfield's own header, for building only. SPDX-License-Identifier: Apache-2.0 */
#ifndef CAR_UTIL_H
#define CAR_UTIL_H
#include <stdint.h>
enum car_rst { CAR_PULP_RST = 3, CAR_SPATZ_RST = 4 };
void car_enable_domain(enum car_rst rst);
void car_reset_domain(enum car_rst rst);
void pulp_cluster_set_bootaddress(uint32_t pulp_boot_addr);
#endif
