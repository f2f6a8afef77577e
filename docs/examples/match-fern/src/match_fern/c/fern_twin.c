/* fern_twin.c - the board on the development machine: nothing but its cycles. */
#include "fern.h"
#include "match_twin.h"

enum { HOST = 0 }; /* the clocks, in the order of emit.py: host, fern_c, fern_q */

void fern_wait(int engine, uint32_t cycles)
{
    match_twin_spend(HOST, (engine == FERN_C) ? FERN_C_START : FERN_Q_START);
    match_twin_wait_until(HOST, match_twin_issue(HOST, (uint32_t)engine, cycles));
}
