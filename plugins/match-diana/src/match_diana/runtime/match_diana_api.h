/* match_diana_api.h - how emitted programs start and stop DIANA, and how pointers into its L1 are made.
 *
 * The host runs the program; both arrays are engines that it programs and waits for. Nothing runs side by side.
 * The arrays' memories are not in the host's address space: L1 is counted in bytes from 0, weight memories are filled by
 * the arrays themselves. Programs have pointers into them all the same, which nobody follows (match_diana_arenas.h).
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
