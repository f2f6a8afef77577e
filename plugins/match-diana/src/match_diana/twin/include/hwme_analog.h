/* hwme_analog.h - the analog array as the published SDK and kernel library name it, on the twin: instruction words
 * (dory-hal, include/utils.h), register offsets and accesses (pulp-sdk-diana, archi/hwme and hal/hwme).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_HWME_ANALOG_H
#define MATCH_DIANA_HWME_ANALOG_H

#include <stdint.h>

#include "pulp.h"

/* An instruction: 32 words of 16 bits. Pointers count words of 16 bytes in L1. */
typedef struct Instruction_memory_object_analog {
  uint16_t skips; /* a bit that is set leaves a stage out: pool, quantisation, activation, residual, batch-norm, sums */
  uint16_t reg1;
  uint16_t input_memory_pointer;
  uint16_t output_memory_pointer;
  uint16_t partial_sum_pointer;
  uint16_t residual_sum_pointer;
  uint16_t bn_pointer;
  uint16_t c;
  uint16_t k;
  uint16_t cx;
  uint16_t cy;
  uint16_t precision;
  uint16_t pool_fy_fx;
  uint16_t ox; /* columns divided by ox_unroll */
  uint16_t oy;
  uint16_t ox_unroll;
  uint16_t stride;
  uint16_t padding; /* two bits each, from bit 0 on: bottom, top, right, left */
  uint16_t processing_blocks;
  uint16_t complicated_register;
  uint16_t use_blk_col;
  uint16_t reg21;
  uint16_t stop;
  uint16_t reg23;
  uint16_t reg24;
  uint16_t reg25;
  uint16_t reg26; /* reading of this project: shift, and log2 of the ADC's gain from bit 8 on */
  uint16_t reg27;
  uint16_t reg28;
  uint16_t reg29;
  uint16_t reg30;
  uint16_t reg31;
} Instruction_memory_object_analog;

/* The layer's instruction, and the one that stops. */
extern Instruction_memory_object_analog instruction_memory_compiled_analog[2];

#define HWME_ANA_WT_CONV_ADDR 0x40u
#define HWME_ANA_WT_SIMD_ADDR 0x44u
#define HWME_ANA_IM_ADDR 0x48u
#define HWME_ANA_IM_N 0x4Cu
#define HWME_ANA_ACT_ADDR 0x50u
#define HWME_ANA_ACT_N 0x54u
#define HWME_ANA_CONF_ADDR 0x58u
#define HWME_ANA_CONF_N 0x5Cu
#define HWME_ANA_NB_TILE 0x68u
#define HWME_ANA_MEMCPY_OP 0x6Cu
#define HWME_ANA_MEMCPY_ADDR 0x70u
#define HWME_ANA_MEMCPY_N 0x74u
#define HWME_ANA_L1ADDR 0x78u
#define HWME_ANA_MEMCPY_BANK_LENGTH 0x7Cu
#define HWME_ANA_MEMCPY_ROW_LENGTH 0x80u

#define MATCH_DIANA_SETTER(name, offset)                              \
  static inline void name(unsigned int value) {                       \
    match_diana_twin_write(ARCHI_FC_HWPE_ANA_ADDR + (offset), value); \
  }

MATCH_DIANA_SETTER(hwme_ana_wt_addr_set, HWME_ANA_WT_CONV_ADDR)
MATCH_DIANA_SETTER(hwme_ana_simd_addr_set, HWME_ANA_WT_SIMD_ADDR)
MATCH_DIANA_SETTER(hwme_ana_im_addr_set, HWME_ANA_IM_ADDR)
MATCH_DIANA_SETTER(hwme_ana_im_n_set, HWME_ANA_IM_N)
MATCH_DIANA_SETTER(hwme_ana_act_addr_set, HWME_ANA_ACT_ADDR)
MATCH_DIANA_SETTER(hwme_ana_act_n_set, HWME_ANA_ACT_N)
MATCH_DIANA_SETTER(hwme_ana_conf_addr_set, HWME_ANA_CONF_ADDR)
MATCH_DIANA_SETTER(hwme_ana_conf_n_set, HWME_ANA_CONF_N)
MATCH_DIANA_SETTER(hwme_ana_nb_tile_set, HWME_ANA_NB_TILE)
MATCH_DIANA_SETTER(hwme_ana_memcpy_op, HWME_ANA_MEMCPY_OP)
MATCH_DIANA_SETTER(hwme_ana_memcpy_addr_set, HWME_ANA_MEMCPY_ADDR)
MATCH_DIANA_SETTER(hwme_ana_memcpy_n_set, HWME_ANA_MEMCPY_N)
MATCH_DIANA_SETTER(hwme_ana_l1addr_set, HWME_ANA_L1ADDR)
MATCH_DIANA_SETTER(hwme_ana_memcpy_bank_length_set, HWME_ANA_MEMCPY_BANK_LENGTH)
MATCH_DIANA_SETTER(hwme_ana_memcpy_row_length_set, HWME_ANA_MEMCPY_ROW_LENGTH)

#undef MATCH_DIANA_SETTER

/* Trigger, status and soft clear have the same offsets in both accelerators. */
static inline void hwme_ana_trigger_job(void) { match_diana_twin_write(ARCHI_FC_HWPE_ANA_ADDR + 0x00u, 0u); }

static inline unsigned int hwme_ana_get_status(void) { return match_diana_twin_read(ARCHI_FC_HWPE_ANA_ADDR + 0x0Cu); }

#endif
