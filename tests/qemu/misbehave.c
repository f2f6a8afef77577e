/* misbehave.c - a node that never ends the first time (HANG), or runs into an instruction that there is none (FAULT): the
 * profiling hooks of the program as a place to do so. SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

void match_profile_begin(unsigned int node);
void match_profile_end(unsigned int node);

void match_profile_begin(unsigned int node)
{
#ifdef FAULT
    if (node == FAULT) {
        __asm__ volatile("unimp");
    }
#endif
#ifdef HANG
    static _Atomic int has_hung;
    if (node == HANG && atomic_exchange(&has_hung, 1) == 0) {
        for (;;) {
            atomic_signal_fence(memory_order_seq_cst);
        }
    }
#endif
    (void)node;
}

void match_profile_end(unsigned int node)
{
    (void)node;
}
