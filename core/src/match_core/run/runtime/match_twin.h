/* match_twin.h - virtual clocks, event log and deferred operations for C twins.
 *
 * A twin is a host program that stands in for a chip. Every unit that can be busy on its own (a core, a core
 * cluster, an accelerator, a DMA channel) owns a clock, numbered by the target's generated header. Nothing here
 * knows a target. Host code only: it allocates memory and writes files, the emitted program does neither.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_TWIN_H
#define MATCH_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MATCH_TWIN_MAX_CLOCKS 32u
#define MATCH_TWIN_NO_NODE UINT32_MAX
/* Lazy mode fills the destination of an operation in flight with this byte. */
#define MATCH_TWIN_POISON 0xA5

/* ---- faults --------------------------------------------------------------------------------------------------- */

/* Stops the program with a message on stderr: the program broke a rule of the hardware. Never returns. */
_Noreturn void match_twin_fault(const char *message);
/* The same with printf formatting. */
_Noreturn void match_twin_faultf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- clocks (cycles since reset) ------------------------------------------------------------------------------ */

/* In threads mode (match_twin_context.h) there is no virtual time: all clocks stay 0, nothing is logged. */

/* Faults if operations are still deferred or contexts beside the host's still run; at the end of a run none may. */
void match_twin_check_quiet(void);
/* The same check; then all clocks to zero, log and profile emptied. Mode, clock names and regions stay. */
void match_twin_reset(void);
/* Name used in the log; the string must outlive the run. */
void match_twin_name_clock(unsigned clock, const char *name);
uint64_t match_twin_now(unsigned clock);
/* The latest of all clocks. */
uint64_t match_twin_wall(void);
/* Cycles the clock spent working (not waiting) since reset. */
uint64_t match_twin_busy(unsigned clock);
/* Work done on `clock`: it advances and is busy. `kind` in the log is "work" or the given static string. */
void match_twin_spend(unsigned clock, uint64_t cycles);
void match_twin_spend_kind(unsigned clock, uint64_t cycles, const char *kind);
/* Asynchronous work: occupies `resource` from max(now(issuer), now(resource)) for `cycles`; returns its end.
 * The issuer does not advance. Contexts that share a resource get it in the order of their issuers' times. */
uint64_t match_twin_issue(unsigned issuer, unsigned resource, uint64_t cycles);
uint64_t match_twin_issue_kind(unsigned issuer, unsigned resource, uint64_t cycles, const char *kind);
/* `clock` idles until `time` (no effect if it is later already). */
void match_twin_wait_until(unsigned clock, uint64_t time);
/* now(to) = max(now(to), now(from)). */
void match_twin_sync(unsigned to, unsigned from);

/* ---- profile: emitted code brackets each node with these when compiled with -DMATCH_PROFILE ------------------- */

/* Cycles between begin and end are added to the node; events of the context in between carry its number. The cycles are
 * those of the context's own clock while contexts run side by side, else of the wall. */
void match_profile_begin(unsigned node);
void match_profile_end(unsigned node);
/* Cycles summed over all begin/end pairs of the node since reset; 0 for an unknown node. */
uint64_t match_profile_cycles(unsigned node);

/* `observer` is called at the end of every node; its result is then in memory. Not in threads mode. */
typedef void (*match_twin_observer_t)(unsigned node);
void match_twin_observe(match_twin_observer_t observer);

/* From now on the end of node n spends cycles[n] on `clock`: for kernels that run on the host core, whose C has no twin
 * and whose cycles come from the cost model. The array must outlive the run. */
void match_twin_charge_nodes(unsigned clock, const uint64_t *cycles, size_t count);

/* ---- event log ------------------------------------------------------------------------------------------------ */

/* The log is on by default. */
void match_twin_log_enable(bool on);
/* One JSON object per line: clock, name, kind, start, end, node (-1 outside of nodes), context (its queue's name). */
void match_twin_write_events(FILE *file);
/* One JSON object per line: for each used clock its name, now and busy; for each node its cycles and calls. */
void match_twin_write_summary(FILE *file);

/* ---- run mode and deferred operations ------------------------------------------------------------------------- */

typedef enum match_twin_mode_e {
  MATCH_TWIN_EAGER = 0, /* asynchronous operations take effect when they are issued */
  MATCH_TWIN_LAZY = 1,  /* they take effect when they are waited for; until then the destination is poison */
  MATCH_TWIN_THREADS = 2 /* they take effect at a random time before that, in another thread */
} match_twin_mode_t;

match_twin_mode_t match_twin_mode(void);
/* Set it before the program starts; faults if operations are deferred. */
void match_twin_set_mode(match_twin_mode_t mode);
/* Eager: runs action(copy of argument) now. Lazy: keeps it. Returns a ticket, never 0, of the calling thread. */
typedef void (*match_twin_action_t)(void *argument);
uint64_t match_twin_defer(match_twin_action_t action, const void *argument, size_t argument_size);
/* Runs the kept action if it has not run yet. */
void match_twin_complete(uint64_t ticket);
/* Operations that the thread deferred and has not completed; a context that ends with any has forgotten a wait. */
size_t match_twin_deferred(void);

/* ---- memory regions: 32-bit target addresses back to host pointers -------------------------------------------- */

/* Makes [base, base + size) reachable by address. The writable and constant data of the program that contains
 * this runtime are known already (Linux); heap blocks and stack objects need this call. */
void match_twin_add_region(const char *name, void *base, size_t size_bytes);
/* Host pointer whose low 32 bits are `address` and which has `size_bytes` valid bytes, or NULL. With `write`
 * set, constant data is refused. */
void *match_twin_host_pointer(uint32_t address, size_t size_bytes, bool write);

#endif
