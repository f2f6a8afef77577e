<%
    from match_core.lower.text import broken

    fields = [f".{arena.field} = {arena.field}" for arena in arenas]
    fields += [f".{store.field} = load_{store.field}()" for store in stores]
    fields += [f".{area.field} = place_{area.field}()" for area in swap_areas]
    instance = "\n".join(broken(f"const {name}_t ctx = {{{', '.join([*fields, '.state = &state'])}}};", 4))
    ends = [(f"{guard}_{side}_{io.field.upper()}", io)
            for side, ios in (("IN", inputs), ("OUT", outputs)) for io in ios]
%>\
/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: a minimal application. Arenas are static here; a platform may place them elsewhere. The result of main is that
 * of the program, 0 if it ran. */
#include <stdalign.h>
#include <stdint.h>
#include "${name}.h"

% for arena in arenas:
static alignas(${guard}_${arena.macro}_ALIGN) uint8_t ${arena.field}[${guard}_${arena.macro}_BYTES];
% endfor
static ${name}_state_t state;
% for prefix, io in ends:
static ${io.ctype} ${io.field}[${f"{prefix}_ELEMENTS" if io.elements else 1}];
% endfor
% for store in stores:

/* Supplied by the platform: copies ${store.file} to ${store.memory}, for example from flash, and returns its address there, a
 * multiple of ${guard}_${store.macro}_ALIGN. */
uint32_t load_${store.field}(void);
% endfor
% for area in swap_areas:

/* Supplied by the platform: the address of ${guard}_${area.macro}_BYTES in ${area.memory}, a multiple of
 * ${guard}_${area.macro}_ALIGN. */
uint32_t place_${area.field}(void);
% endfor

int main(void)
{
${instance}
    const ${name}_inputs_t in = {${", ".join(f".{io.field} = {io.field}" for io in inputs) or ".unused = 0u"}};
    const ${name}_outputs_t out = {${", ".join(f".{io.field} = {io.field}" for io in outputs) or ".unused = 0u"}};
    int status = ${name}_init(&ctx);
    if (status == ${guard}_OK) {
        status = ${name}_run(&ctx, &in, &out);
        ${name}_stop(&ctx);
    }
    return status;
}
