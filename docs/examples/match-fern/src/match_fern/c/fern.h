/* fern.h - the engines of the chip. */
#ifndef FERN_H
#define FERN_H

#include "match_region.h"

enum { FERN_C = 1, FERN_Q = 2 };

/* Returns when an engine that was given so many cycles of work is done. */
void fern_wait(int engine, uint32_t cycles);

/* Starts fern_q, which calls work and takes so many cycles; the host goes on. 0 on success. */
int fern_begin(int (*work)(void *argument), void *argument, uint32_t cycles);
/* 0 while fern_q works, 1 when it is done, another number if work did not return 0. */
int fern_ended(void);

/* Programs of fern_q: see program.py. */
int fern_q_load(const match_region_t *region, void **handle);
int fern_q_run(void *handle, const void *const *in, void *const *out, void *scratch);
int fern_q_start(void *handle, const void *const *in, void *const *out, void *scratch);
void fern_q_unload(void *handle);

#endif
