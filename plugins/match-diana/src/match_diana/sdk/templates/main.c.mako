/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: the smallest application for DIANA. Build it with the SDK, the kernel library and the program's library
 * (diana.mk). Static data lie in L2. */
#include <stdalign.h>
#include <stdint.h>

#include "${name}.h"
#include "match_diana_arenas.h"

% for arena in arenas:
% if arena.memory == home:
static alignas(${guard}_${arena.macro}_ALIGN) uint8_t ${arena.field}[${guard}_${arena.macro}_BYTES];
% endif
% endfor
static ${name}_state_t state;
% for io in (*inputs, *outputs):
static ${io.ctype} ${io.field}[${max(1, io.elements)}];
% endfor

int main(void)
{
    const ${name}_t ctx = {
% for arena in arenas:
        .${arena.field} = ${arena.field if arena.memory == home else f"MATCH_DIANA_{arena.memory.upper()}"},
% endfor
        .state = &state,
    };
    const ${name}_inputs_t in = {${", ".join(f".{io.field} = {io.field}" for io in inputs) or ".unused = 0u"}};
    const ${name}_outputs_t out = {${", ".join(f".{io.field} = {io.field}" for io in outputs) or ".unused = 0u"}};
    int status = ${name}_init(&ctx);
    if (status == ${guard}_OK) {
        status = ${name}_run(&ctx, &in, &out);
        ${name}_stop(&ctx);
    }
    return status;
}
