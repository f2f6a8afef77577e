/* SPDX-License-Identifier: Apache-2.0 */
/* match_board.h - what the application of a run requires of its board: samples in, outputs out, a counter, an end. */
#ifndef MATCH_BOARD_H
#define MATCH_BOARD_H

#include <stdint.h>

/* Before anything else. */
void match_board_start(void);
/* 1 if another sample follows, 0 after the last one. */
int match_board_next(void);
/* This many bytes of the sample, in order; 0 if they are whole. Else the sample is skipped: it will come again. */
int match_board_receive(void *data, uint32_t bytes);
void match_board_send(const void *data, uint32_t bytes);
/* A line for people, without line end. */
void match_board_say(const char *text);
/* Ends the run; 0: every sample was computed. */
_Noreturn void match_board_end(int status);
/* What the board counts: cycles or instructions, from any start; 0 on boards that are counted from outside. */
uint64_t match_board_count(void);

/* Called by the start-up code on an exception. */
_Noreturn void match_board_fault(uint32_t kind, uintptr_t address, uintptr_t value);

#endif
