/* diana_twin.h - what the twin's source files share. Not for emitted programs. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_H
#define MATCH_DIANA_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clock numbers of the program, if its build generated them; the timing header has defaults. */
#if defined(__has_include)
#if __has_include("match_twin_clocks.h")
#include "match_twin_clocks.h"
#endif
#endif
#include "match_diana_timing.h"
#include "match_twin.h"

/* ---- memory (diana_memory.c): faults name `what` -------------------------------------------------------------------
 * Addresses of L1 are those of the arrays: bytes from 0. Its host memory lies at a place whose low 32 bits are 0, so a
 * pointer into it, cut to 32 bits, is the address. In L2 are its own memory at 0x1c000000 and whatever else the program
 * has: constants, buffers, the library's data. */

uint8_t *diana_l1(uint32_t address, size_t bytes, const char *what);
uint8_t *diana_l2(uint32_t address, size_t bytes, bool write, const char *what);
/* Little-endian words, which must lie at a multiple of 4. */
void diana_l2_words(uint32_t address, uint32_t *words, size_t count, const char *what);
/* In the lazy modes the destination of what was started holds poison until the host has waited for it. */
void diana_poison(void *data, size_t bytes);

/* ---- accelerators (diana_device.c) ------------------------------------------------------------------------------ */

typedef enum { DIANA_DIGITAL, DIANA_ANALOG, DIANA_DEVICES } diana_device_t;

/* What was last written to a register; 0 before. `offset` is that from the accelerator's base. */
uint32_t diana_register(diana_device_t device, uint32_t offset);

typedef struct {
  unsigned clock;
  uint64_t cycles;
  const char *kind; /* in the log */
} diana_step_t;

/* Called by a trigger: the accelerator is busy for the steps, one after the other, and then `run` has had its effect
 * (with a copy of the argument). It stays busy until the host has read 0 from STATUS. */
void diana_run(diana_device_t device, const diana_step_t *steps, size_t count, match_twin_action_t run,
               const void *argument, size_t argument_bytes);

/* What a trigger does where the copy register holds 0: decodes and checks the job, calls diana_run once. */
void diana_digital_trigger(void); /* diana_digital_job.c */
void diana_analog_trigger(void);  /* diana_analog.c */
/* boot_diana: the analog array's own part. */
void diana_analog_boot(void);

/* ---- copies (diana_copy.c) -------------------------------------------------------------------------------------- */

/* A trigger with a copy operation, of either accelerator. */
typedef struct {
  uint32_t operation, l2, l1_words, words, banks, rows;
} diana_copy_t;
void diana_copy_trigger(diana_device_t device, const diana_copy_t *copy);

/* Cycles of a fetch of contiguous bytes from L2. */
uint64_t diana_fetch_cycles(size_t bytes);

#endif
