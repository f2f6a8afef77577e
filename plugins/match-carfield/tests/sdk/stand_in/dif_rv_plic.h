/* dif_rv_plic.h - names of the PLIC driver, for building only. SPDX-License-Identifier: Apache-2.0 */
#ifndef DIF_RV_PLIC_H
#define DIF_RV_PLIC_H

#include <stdint.h>

typedef struct {
  uint32_t base;
} mmio_region_t;

typedef struct {
  mmio_region_t base_addr;
} dif_rv_plic_t;

typedef enum { kDifOk = 0, kDifError = 1, kDifBadArg = 2 } dif_result_t;
typedef enum { kDifToggleDisabled = 0, kDifToggleEnabled = 1 } dif_toggle_t;
typedef uint32_t dif_rv_plic_irq_id_t;
typedef uint32_t dif_rv_plic_target_t;

mmio_region_t mmio_region_from_addr(uintptr_t address);
dif_result_t dif_rv_plic_init(mmio_region_t base_addr, dif_rv_plic_t *plic);
dif_result_t dif_rv_plic_irq_set_priority(const dif_rv_plic_t *plic, dif_rv_plic_irq_id_t irq, uint32_t priority);
dif_result_t dif_rv_plic_irq_set_enabled(const dif_rv_plic_t *plic, dif_rv_plic_irq_id_t irq,
                                         dif_rv_plic_target_t target, dif_toggle_t state);
dif_result_t dif_rv_plic_irq_claim(const dif_rv_plic_t *plic, dif_rv_plic_target_t target,
                                   dif_rv_plic_irq_id_t *claim_data);
dif_result_t dif_rv_plic_irq_complete(const dif_rv_plic_t *plic, dif_rv_plic_target_t target,
                                      dif_rv_plic_irq_id_t complete_data);

#endif
