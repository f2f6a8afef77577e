/* fake_queues.h - two units that run dispatch loops as threads of the development machine, and swaps that happen when
 * somebody asks whether they have ended. Units poll; nothing but the counters orders what the threads do.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_QUEUES_H
#define FAKE_QUEUES_H

#include <stdint.h>

#include "match_runtime.h"

int array_launch(void (*loop)(void *argument), void *argument);
int other_launch(void (*loop)(void *argument), void *argument);
int array_join(void);
int other_join(void);
int fake_queue_wait(const match_queue_t *queue, uint32_t count);
void fake_signal(void);
void fake_notify(void);
/* Ends threads that hang. */
int queues_start(void);
void queues_stop(void);

void swap_out(uint32_t store, const void *home, uint32_t bytes);
void swap_in(void *home, uint32_t store, uint32_t bytes);
int swap_busy(void);

/* ---- for the tests ---------------------------------------------------------------------------------------------- */

enum { FAKE_STORE_BYTES = 1 << 16 };
/* From now on the unit (1: array, 2: other, 0: none) hangs when it has waited for its task of this number. */
void fake_hang(int unit, uint32_t task);
/* From now on swaps do not end. */
void fake_swaps_hang(int hang);
extern uint32_t fake_signals, fake_swaps;
/* The wait limit of programs. */
extern uint32_t fake_wait_limit;

#endif
