/* match_carfield_twin_io.h - registers, fences and sleep as the twin has them. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_TWIN_IO_H
#define MATCH_CARFIELD_TWIN_IO_H

#include <stdint.h>

uint32_t match_carfield_twin_read(uint32_t address);
void match_carfield_twin_write(uint32_t address, uint32_t value);
void match_carfield_twin_wake_by(uint32_t mask);
void match_carfield_twin_sleep(void);
int match_carfield_twin_look_again(void);

#define MATCH_CARFIELD_READ(address) match_carfield_twin_read(address)
#define MATCH_CARFIELD_WRITE(address, value) match_carfield_twin_write((address), (value))
/* The registers that order memory do so themselves (letters). */
#define MATCH_CARFIELD_FENCE() ((void)0)
#define MATCH_CARFIELD_WAKE_BY(mask) match_carfield_twin_wake_by(mask)
#define MATCH_CARFIELD_SLEEP() match_carfield_twin_sleep()
#define MATCH_CARFIELD_LOOK_AGAIN() match_carfield_twin_look_again()

/* The block at the end of L2. */
volatile struct match_carfield_order *match_carfield_twin_orders(void);
#define MATCH_CARFIELD_ORDERS match_carfield_twin_orders()

/* Arenas in the L1 of a cluster and in DRAM, and tensors there; constants and room for swaps in DRAM, whose address they return. */
uint8_t *match_carfield_twin_l1_pulp(uint32_t bytes);
uint8_t *match_carfield_twin_l1_spatz(uint32_t bytes);
uint8_t *match_carfield_twin_l3(uint32_t bytes);
uint32_t match_carfield_twin_store(const void *data, uint32_t bytes);

#endif
