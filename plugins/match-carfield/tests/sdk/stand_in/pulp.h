/* pulp.h - names of pulp-runtime, for building only. SPDX-License-Identifier: Apache-2.0 */
#ifndef PULP_H
#define PULP_H
int rt_core_id(void);
int get_core_num(void);
void synch_barrier(void);
unsigned int eu_evt_maskWaitAndClr(unsigned int evtMask);
int plp_dma_counter_alloc(void);
unsigned int plp_dma_getCmd(int ext2loc, unsigned int size, int is2D, int trigEvt, int trigIrq, int broadcast);
void plp_dma_cmd_push(unsigned int cmd, unsigned int locAddr, unsigned int extAddr);
void plp_dma_cmd_push_2d(unsigned int cmd, unsigned int locAddr, unsigned int extAddr, unsigned int stride,
                         unsigned int length);
void plp_dma_wait(unsigned int counter);
#endif
