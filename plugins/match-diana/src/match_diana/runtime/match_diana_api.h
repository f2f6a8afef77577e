/* match_diana_api.h - how emitted programs start and stop DIANA, and how pointers into its L1 are made.
 *
 * The host runs the program; both arrays are engines that it programs and waits for. Nothing runs side by side.
 * L1 is not in the host's address space: the arrays count its bytes from 0. Programs have pointers all the same, made of
 * MATCH_DIANA_L1_BASE and that number; nobody follows them. The arena of L1 is (uint8_t *)MATCH_DIANA_L1_BASE. Weight
 * memories are filled by the arrays themselves; their arenas are any addresses outside of the 256 KiB from there on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_API_H
#define MATCH_DIANA_API_H

/* 0 on success. */
int match_diana_start(void);
void match_diana_stop(void);
/* Runs entry(argument), on the host like everything else. */
int match_diana_call(void (*entry)(void *), void *argument);

#endif
