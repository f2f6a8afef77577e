/* fern_twin.c - the board on the development machine: nothing but its cycles. */
#include "fern.h"
#include "match_twin.h"
#include "match_twin_context.h"
#include "match_twin_clocks.h" /* numbers of the clocks that emit.py names */

void fern_wait(int engine, uint32_t cycles)
{
    const unsigned clock = (engine == FERN_C) ? MATCH_TWIN_CLOCK_FERN_C : MATCH_TWIN_CLOCK_FERN_Q;
    match_twin_spend(MATCH_TWIN_CLOCK_HOST, (engine == FERN_C) ? FERN_C_START : FERN_Q_START);
    match_twin_wait_until(MATCH_TWIN_CLOCK_HOST, match_twin_issue(MATCH_TWIN_CLOCK_HOST, clock, cycles));
}

static struct {
    int (*work)(void *argument);
    void *argument;
    uint32_t cycles, context;
    int busy, status;
} job;

static void run_job(void *argument)
{
    job.status = job.work(argument);
    match_twin_spend(MATCH_TWIN_CLOCK_FERN_Q, FERN_Q_START + job.cycles);
}

int fern_begin(int (*work)(void *argument), void *argument, uint32_t cycles)
{
    if (job.busy != 0) {
        return 1;
    }
    job.work = work;
    job.cycles = cycles;
    job.busy = 1;
    job.context = match_twin_start_region("fern_q", MATCH_TWIN_CLOCK_FERN_Q, run_job, argument);
    return 0;
}

int fern_ended(void)
{
    if (!match_twin_ended(job.context)) {
        return 0;
    }
    match_twin_join(job.context);
    job.busy = 0;
    return (job.status == 0) ? 1 : -1;
}

/* The host of a concurrent program looks again when fern_q has ended. */
__attribute__((weak)) int match_port_wait(void)
{
    return match_twin_relax_bounded();
}
