/* SPDX-License-Identifier: Apache-2.0 */
/* beside: a minimal application. Arenas are static here; a platform may place them elsewhere. The result of main is that
 * of the program, 0 if it ran. */
#include <stdalign.h>
#include <stdint.h>
#include "beside.h"

static alignas(BESIDE_L1_ALIGN) uint8_t l1[BESIDE_L1_BYTES];
static alignas(BESIDE_L2_ALIGN) uint8_t l2[BESIDE_L2_BYTES];
static beside_state_t state;
static int8_t input[BESIDE_IN_INPUT_ELEMENTS];
static int8_t q3[BESIDE_OUT_Q3_ELEMENTS];

int main(void)
{
    const beside_t ctx = {.l1 = l1, .l2 = l2, .state = &state};
    const beside_inputs_t in = {.input = input};
    const beside_outputs_t out = {.q3 = q3};
    int status = beside_init(&ctx);
    if (status == BESIDE_OK) {
        status = beside_run(&ctx, &in, &out);
        beside_stop(&ctx);
    }
    return status;
}
