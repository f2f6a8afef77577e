/* pulp_sdk.c - empty bodies. SPDX-License-Identifier: Apache-2.0 */
#include "pulp.h"

int rt_core_id(void) { return 0; }
int get_core_num(void) { return 8; }
void synch_barrier(void) {}
unsigned int eu_evt_maskWaitAndClr(unsigned int evtMask) { return evtMask; }
int plp_dma_counter_alloc(void) { return 0; }
unsigned int plp_dma_getCmd(int ext2loc, unsigned int size, int is2D, int trigEvt, int trigIrq, int broadcast) {
  (void)ext2loc, (void)is2D, (void)trigEvt, (void)trigIrq, (void)broadcast;
  return size;
}
void plp_dma_cmd_push(unsigned int cmd, unsigned int locAddr, unsigned int extAddr) {
  (void)cmd, (void)locAddr, (void)extAddr;
}
void plp_dma_cmd_push_2d(unsigned int cmd, unsigned int locAddr, unsigned int extAddr, unsigned int stride,
                         unsigned int length) {
  (void)cmd, (void)locAddr, (void)extAddr, (void)stride, (void)length;
}
void plp_dma_wait(unsigned int counter) { (void)counter; }
