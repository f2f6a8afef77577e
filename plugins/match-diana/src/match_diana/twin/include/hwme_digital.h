/* hwme_digital.h - registers of the digital array under the names of the SDK (pulp-sdk-diana, archi/hwme and hal/hwme).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_HWME_DIGITAL_H
#define MATCH_DIANA_TWIN_HWME_DIGITAL_H

#include <stdint.h>

#include "pulp.h"

#define HWME_TRIGGER 0x00u
#define HWME_STATUS 0x0Cu
#define HWME_WT_CONV_ADDR 0x40u
#define HWME_WT_CONV_N 0x44u
#define HWME_WT_FC_ADDR 0x48u
#define HWME_WT_FC_N 0x4Cu
#define HWME_IM_ADDR 0x50u
#define HWME_IM_N 0x54u
#define HWME_ACT_ADDR 0x58u
#define HWME_ACT_N 0x5Cu
#define HWME_CONF_ADDR 0x60u
#define HWME_CONF_N 0x64u
#define HWME_MEMCPY_OP 0xA0u
#define HWME_MEMCPY_ADDR 0xA4u
#define HWME_MEMCPY_N 0xA8u
#define HWME_L1ADDR 0xACu
#define HWME_MEMCPY_BANK_LENGTH 0xB0u
#define HWME_MEMCPY_ROW_LENGTH 0xB4u
#define HWME_WT_MEM_ADDR 0xB8u

#define MATCH_DIANA_SETTER(name, offset)                              \
  static inline void name(unsigned int value) {                       \
    match_diana_twin_write(ARCHI_FC_HWPE_DIG_ADDR + (offset), value); \
  }

MATCH_DIANA_SETTER(hwme_wt_conv_addr_set, HWME_WT_CONV_ADDR)
MATCH_DIANA_SETTER(hwme_wt_conv_n_set, HWME_WT_CONV_N)
MATCH_DIANA_SETTER(hwme_wt_fc_addr_set, HWME_WT_FC_ADDR)
MATCH_DIANA_SETTER(hwme_wt_fc_n_set, HWME_WT_FC_N)
MATCH_DIANA_SETTER(hwme_im_addr_set, HWME_IM_ADDR)
MATCH_DIANA_SETTER(hwme_im_n_set, HWME_IM_N)
MATCH_DIANA_SETTER(hwme_act_addr_set, HWME_ACT_ADDR)
MATCH_DIANA_SETTER(hwme_act_n_set, HWME_ACT_N)
MATCH_DIANA_SETTER(hwme_conf_addr_set, HWME_CONF_ADDR)
MATCH_DIANA_SETTER(hwme_conf_n_set, HWME_CONF_N)
MATCH_DIANA_SETTER(hwme_memcpy_op, HWME_MEMCPY_OP)
MATCH_DIANA_SETTER(hwme_memcpy_addr_set, HWME_MEMCPY_ADDR)
MATCH_DIANA_SETTER(hwme_memcpy_n_set, HWME_MEMCPY_N)
MATCH_DIANA_SETTER(hwme_l1addr_set, HWME_L1ADDR)
MATCH_DIANA_SETTER(hwme_memcpy_bank_length_set, HWME_MEMCPY_BANK_LENGTH)
MATCH_DIANA_SETTER(hwme_memcpy_row_length_set, HWME_MEMCPY_ROW_LENGTH)

#undef MATCH_DIANA_SETTER

static inline void hwme_trigger_job(void) { match_diana_twin_write(ARCHI_FC_HWPE_DIG_ADDR + HWME_TRIGGER, 0u); }

static inline unsigned int hwme_get_status(void) { return match_diana_twin_read(ARCHI_FC_HWPE_DIG_ADDR + HWME_STATUS); }

/* Events of both accelerators. */
#define HWME_EVENT_WORD (ARCHI_SOC_EU_ADDR + (3u << 3))

static inline void plp_hwme_enable(void) {
  match_diana_twin_write(HWME_EVENT_WORD, match_diana_twin_read(HWME_EVENT_WORD) | 0xC00u);
}

static inline void plp_hwme_disable(void) {
  match_diana_twin_write(HWME_EVENT_WORD, match_diana_twin_read(HWME_EVENT_WORD) & ~0xC00u);
}

#endif
