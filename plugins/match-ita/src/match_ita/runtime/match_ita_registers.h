/* match_ita_registers.h - ITA's registers (pulp-platform/ITA, ita_hwpe_package.sv), offsets in bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_REGISTERS_H
#define MATCH_ITA_REGISTERS_H

#include <stdint.h>

#include "match_ita_config.h"
#include "snrt.h"

/* Where ITA is in the cluster's address space is not public: the port says it. */
#ifndef MATCH_ITA_WRITE
#ifndef MATCH_ITA_BASE
#error "MATCH_ITA_BASE must be the address of ITA's registers"
#endif
#define MATCH_ITA_WRITE(offset, value) (*(volatile uint32_t *)(uintptr_t)(MATCH_ITA_BASE + (offset)) = (value))
#define MATCH_ITA_READ(offset) (*(volatile const uint32_t *)(uintptr_t)(MATCH_ITA_BASE + (offset)))
#endif

/* Control. */
#define MATCH_ITA_TRIGGER 0x00u
#define MATCH_ITA_ACQUIRE 0x04u
#define MATCH_ITA_STATUS 0x0Cu

/* Words of a job. */
#define MATCH_ITA_WORD(index) (0x20u + 4u * (index))
#define MATCH_ITA_INPUT MATCH_ITA_WORD(0u)
#define MATCH_ITA_WEIGHT MATCH_ITA_WORD(1u)
#define MATCH_ITA_NEXT_WEIGHT MATCH_ITA_WORD(2u)
#define MATCH_ITA_BIAS MATCH_ITA_WORD(3u)
#define MATCH_ITA_OUTPUT MATCH_ITA_WORD(4u)
#define MATCH_ITA_TILES MATCH_ITA_WORD(6u)
#define MATCH_ITA_MULTIPLIERS MATCH_ITA_WORD(7u)
#define MATCH_ITA_SHIFTS MATCH_ITA_WORD(9u)
#define MATCH_ITA_ADDS MATCH_ITA_WORD(11u)
#define MATCH_ITA_ENGINE MATCH_ITA_WORD(13u)
#define MATCH_ITA_STREAM MATCH_ITA_WORD(14u)
#define MATCH_ITA_GELU MATCH_ITA_WORD(15u)
#define MATCH_ITA_ACTIVATION_REQUANT MATCH_ITA_WORD(16u)

/* MATCH_ITA_ENGINE: what kind of layer the steps are of, and the activation from bit 2 on. */
#define MATCH_ITA_LAYER_LINEAR 2u
#define MATCH_ITA_LAYER_SINGLE_ATTENTION 3u
#define MATCH_ITA_ACTIVATION_BIT 2u

/* MATCH_ITA_STREAM. */
#define MATCH_ITA_PRELOAD 0x01u
#define MATCH_ITA_NEXTLOAD 0x02u
#define MATCH_ITA_NO_BIAS 0x04u
#define MATCH_ITA_BIAS_BY_ROW 0x08u
#define MATCH_ITA_NO_OUTPUT 0x10u

/* Requantisation slots of the steps; a linear layer has that of the first step. */
#define MATCH_ITA_SLOT_LINEAR 0u
#define MATCH_ITA_SLOT_QK 3u
#define MATCH_ITA_SLOT_AV 4u
#define MATCH_ITA_SLOTS 8u

#endif
