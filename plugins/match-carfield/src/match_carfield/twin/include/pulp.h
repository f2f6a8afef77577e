/* pulp.h - pulp-runtime on the PULP cluster, as the twin has it. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_TWIN_PULP_H
#define MATCH_CARFIELD_TWIN_PULP_H

#include <stddef.h>
#include <stdint.h>

#include "match_carfield_charge.h"
#include "match_carfield_charge_int8.h"
#include "match_carfield_twin_io.h"

int rt_core_id(void);
int get_core_num(void);
void synch_barrier(void);
/* Event 22 only: the host's mailbox. */
unsigned int eu_evt_maskWaitAndClr(unsigned int evtMask);

int plp_dma_counter_alloc(void);
void plp_dma_counter_free(int counter);
unsigned int plp_dma_getCmd(int ext2loc, unsigned int size, int is2D, int trigEvt, int trigIrq, int broadcast);
void plp_dma_cmd_push(unsigned int cmd, unsigned int locAddr, unsigned int extAddr);
void plp_dma_cmd_push_2d(unsigned int cmd, unsigned int locAddr, unsigned int extAddr, unsigned int stride,
                         unsigned int length);
void plp_dma_wait(unsigned int counter);

#endif
