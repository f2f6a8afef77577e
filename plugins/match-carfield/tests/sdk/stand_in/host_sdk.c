/* host_sdk.c - empty bodies. SPDX-License-Identifier: Apache-2.0 */
#include "car_util.h"
#include "dif_rv_plic.h"
#include "dma.h"

void car_enable_domain(enum car_rst rst) { (void)rst; }
void car_reset_domain(enum car_rst rst) { (void)rst; }
void pulp_cluster_set_bootaddress(uint32_t pulp_boot_addr) { (void)pulp_boot_addr; }

mmio_region_t mmio_region_from_addr(uintptr_t address) { return (mmio_region_t){(uint32_t)address}; }
dif_result_t dif_rv_plic_init(mmio_region_t base_addr, dif_rv_plic_t *plic) {
  plic->base_addr = base_addr;
  return kDifOk;
}
dif_result_t dif_rv_plic_irq_set_priority(const dif_rv_plic_t *plic, dif_rv_plic_irq_id_t irq, uint32_t priority) {
  (void)plic, (void)irq, (void)priority;
  return kDifOk;
}
dif_result_t dif_rv_plic_irq_set_enabled(const dif_rv_plic_t *plic, dif_rv_plic_irq_id_t irq,
                                         dif_rv_plic_target_t target, dif_toggle_t state) {
  (void)plic, (void)irq, (void)target, (void)state;
  return kDifOk;
}
dif_result_t dif_rv_plic_irq_claim(const dif_rv_plic_t *plic, dif_rv_plic_target_t target,
                                   dif_rv_plic_irq_id_t *claim_data) {
  (void)plic, (void)target;
  *claim_data = 0u;
  return kDifOk;
}
dif_result_t dif_rv_plic_irq_complete(const dif_rv_plic_t *plic, dif_rv_plic_target_t target,
                                      dif_rv_plic_irq_id_t complete_data) {
  (void)plic, (void)target, (void)complete_data;
  return kDifOk;
}

static volatile uint64_t done;
uint64_t sys_dma_memcpy(uint64_t dst, uint64_t src, uint64_t size, uint64_t conf) {
  (void)dst, (void)src, (void)size, (void)conf;
  return 0u;
}
volatile uint64_t *sys_dma_done_ptr(void) { return &done; }
