/* encoders_instruction_memory.h - of the kernel library, under its published names (dory-hal), as the twin has it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_ENCODERS_H
#define MATCH_DIANA_TWIN_ENCODERS_H

#include <stdint.h>

#include "utils.h"

typedef enum Instruction_type { FC, CONV, DWCONV, TO_DO, EWS } Instruction_type;

/* Each fills instruction_memory_compiled_analog or _digital. */
void analog_encoder_instruction_memory(uint32_t pointer_input, uint32_t pointer_weights, uint32_t pointer_output,
                                       Layer_parameters *layer);
void digital_encoder_instruction_memory(Instruction_type mode, uint32_t pointer_input, uint32_t pointer_weights,
                                        uint32_t pointer_output, Layer_parameters *layer);

#endif
