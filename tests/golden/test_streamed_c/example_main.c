/* SPDX-License-Identifier: Apache-2.0 */
/* streamed: a minimal application. Arenas are static here; a platform may place them elsewhere. The result of main is that
 * of the program, 0 if it ran. */
#include <stdalign.h>
#include <stdint.h>
#include "streamed.h"

static alignas(STREAMED_L1_ALIGN) uint8_t l1[STREAMED_L1_BYTES];
static alignas(STREAMED_L2_ALIGN) uint8_t l2[STREAMED_L2_BYTES];
static streamed_state_t state;
static int8_t input[STREAMED_IN_INPUT_ELEMENTS];
static int8_t q5[STREAMED_OUT_Q5_ELEMENTS];

/* Supplied by the platform: copies streamed_l3.bin to l3, for example from flash, and returns its address there, a
 * multiple of STREAMED_L3_ALIGN. */
uint32_t load_l3(void);

int main(void)
{
    const streamed_t ctx = {.l1 = l1, .l2 = l2, .l3 = load_l3(), .state = &state};
    const streamed_inputs_t in = {.input = input};
    const streamed_outputs_t out = {.q5 = q5};
    int status = streamed_init(&ctx);
    if (status == STREAMED_OK) {
        status = streamed_run(&ctx, &in, &out);
        streamed_stop(&ctx);
    }
    return status;
}
