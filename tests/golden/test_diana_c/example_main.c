/* SPDX-License-Identifier: Apache-2.0 */
/* diana: the smallest application for DIANA. Build it with the SDK, the kernel library and the program's library
 * (diana.mk). Static data lie in L2. */
#include <stdalign.h>
#include <stdint.h>

#include "diana.h"
#include "match_diana_arenas.h"

static alignas(DIANA_L2_ALIGN) uint8_t l2[DIANA_L2_BYTES];
static diana_state_t state;
static int8_t input[768];
static int8_t pool26_q[32];

int main(void)
{
    const diana_t ctx = {
        .l1 = MATCH_DIANA_L1,
        .digital_weights = MATCH_DIANA_DIGITAL_WEIGHTS,
        .analog_cells = MATCH_DIANA_ANALOG_CELLS,
        .analog_norm = MATCH_DIANA_ANALOG_NORM,
        .l2 = l2,
        .state = &state,
    };
    const diana_inputs_t in = {.input = input};
    const diana_outputs_t out = {.pool26_q = pool26_q};
    int status = diana_init(&ctx);
    if (status == DIANA_OK) {
        status = diana_run(&ctx, &in, &out);
        diana_stop(&ctx);
    }
    return status;
}
