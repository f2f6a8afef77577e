/* SPDX-License-Identifier: Apache-2.0 */
/* golden: a minimal application. Arenas are static here; a platform may place them elsewhere. The result of main is that
 * of the program, 0 if it ran. */
#include <stdalign.h>
#include <stdint.h>
#include "golden.h"

static alignas(GOLDEN_L1_ALIGN) uint8_t l1[GOLDEN_L1_BYTES];
static alignas(GOLDEN_L2_ALIGN) uint8_t l2[GOLDEN_L2_BYTES];
static golden_state_t state;
static int8_t input[GOLDEN_IN_INPUT_ELEMENTS];
static int8_t q7[GOLDEN_OUT_Q7_ELEMENTS];

int main(void)
{
    const golden_t ctx = {.l1 = l1, .l2 = l2, .state = &state};
    const golden_inputs_t in = {.input = input};
    const golden_outputs_t out = {.q7 = q7};
    int status = golden_init(&ctx);
    if (status == GOLDEN_OK) {
        status = golden_run(&ctx, &in, &out);
        golden_stop(&ctx);
    }
    return status;
}
