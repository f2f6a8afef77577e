/* fern_twin.c - the board on the development machine: nothing but its cycles. */
#include "fern.h"
#include "match_twin.h"
#include "match_twin_clocks.h" /* numbers of the clocks that emit.py names */

void fern_wait(int engine, uint32_t cycles)
{
    const unsigned clock = (engine == FERN_C) ? MATCH_TWIN_CLOCK_FERN_C : MATCH_TWIN_CLOCK_FERN_Q;
    match_twin_spend(MATCH_TWIN_CLOCK_HOST, (engine == FERN_C) ? FERN_C_START : FERN_Q_START);
    match_twin_wait_until(MATCH_TWIN_CLOCK_HOST, match_twin_issue(MATCH_TWIN_CLOCK_HOST, clock, cycles));
}
