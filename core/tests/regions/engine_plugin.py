"""Text of a package whose engine takes regions of elementwise operators, in any of the three formats of code.

The engine's program is a list of numbers, ten for each step: operator, then slot, place and elements of two operands
and of the result. Slots are the region's inputs, constants and outputs, and its scratch, where a place is an offset in
floats.
"""

from __future__ import annotations

#: Marks like this one are replaced by words: @FORMAT@.
PLUGIN = '''
import json
import struct
from math import prod
import numpy as np
from match_core import Axis, Dim, Match, Operand, Workload
from match_core.contract.unit_api import QueueApi, RegionCode, RegionKernel, RuntimeFile, TwinApi
from match_core.contract.hardware import Signalling
from match_core.contract.region import Region

FORMAT = "@FORMAT@"
STARTED = @STARTED@
OPS = {"Add": 1, "Sub": 2, "Mul": 3, "Relu": 4, "Neg": 5}
HEADER = """@HEADER@"""
SOURCE = r"""@SOURCE@"""
TWIN = r"""@TWIN@"""


def leaving(graph, nodes):
    members = {id(node) for node in nodes}
    ends = {id(tensor) for tensor in graph.outputs}
    made = [tensor for node in nodes for tensor in node.outputs]
    return tuple(t for t in made if id(t) in ends or any(id(reader) not in members for reader in t.outputs))


def search(graph):
    """Operators behind the same number of other operators are one region."""
    level, regions = {}, {}
    for node in graph.toposort().nodes:
        taken = node.op in OPS
        before = max((level.get(id(t), 0) for t in node.inputs), default=0)
        for tensor in node.outputs:
            level[id(tensor)] = before + (not taken)
        if taken:
            regions.setdefault(before, []).append(node)
    found = []
    for nodes in regions.values():
        results = leaving(graph, nodes)
        region = Region.of(nodes, results)
        captures = {f"in{n}": t for n, t in enumerate(region.inputs)}
        captures |= {f"const{n}": t for n, t in enumerate(region.constants)}
        captures |= {f"out{n}": t for n, t in enumerate(region.outputs)}
        found.append(Match(tuple(nodes), captures, results))
    return tuple(found)


def work(match):
    region = Region.of(match.nodes, match.outputs)
    def operand(name, role, tensor):
        return Operand(name, role, tuple(Axis(f"a{n}", int(s)) for n, s in enumerate(tensor.shape)), 32)
    operands = [operand(f"in{n}", "input", t) for n, t in enumerate(region.inputs)]
    operands += [operand(f"const{n}", "constant", t) for n, t in enumerate(region.constants)]
    operands += [operand(f"out{n}", "output", t) for n, t in enumerate(region.outputs)]
    total = sum(prod(t.shape) for t in region.outputs)
    return Workload("engine_region", (Dim("N", total, tileable=False),), tuple(operands), 0)


def steps(region):
    """The engine's program and the floats of scratch."""
    places = {}
    for slot, tensors in ((0, region.inputs), (1, region.constants), (2, region.outputs)):
        places.update({t.name: (slot, n) for n, t in enumerate(tensors)})
    numbers, scratch = [], 0
    for node in region.nodes:
        (made,) = node.outputs
        count = prod(int(size) for size in made.shape)
        if made.name not in places:
            places[made.name] = (3, scratch)
            scratch += count
        read = [(*places[t.name], prod(int(size) for size in t.shape)) for t in node.inputs]
        read += [(0, 0, 0)] * (2 - len(read))
        numbers += [OPS[node.op], *read[0], *read[1], *places[made.name], count]
    return numbers, scratch


def c_text(name, numbers):
    lines = ", ".join(map(str, numbers))
    return f"""#include <stddef.h>
#include <stdint.h>
#include "engine.h"
int {name}_load(const match_region_t *region, void **handle);
int {name}_run(void *handle, const void *const *in, void *const *out, void *scratch);
void {name}_unload(void *handle);
static const int32_t {name}_steps[] = {{{lines}}};
int {name}_load(const match_region_t *region, void **handle)
{{
    return engine_open(region, {name}_steps, {len(numbers)}u, handle);
}}
int {name}_run(void *handle, const void *const *in, void *const *out, void *scratch)
{{
    return engine_run(handle, in, out, scratch);
}}
void {name}_unload(void *handle)
{{
    engine_unload(handle);
}}
"""


def compiled(request):
    numbers, scratch = steps(request.region)
    names = ("engine_load_json", "engine_run", "engine_unload")
    content = json.dumps(numbers).encode()
    if FORMAT == "binary":
        content, names = struct.pack(f"<{len(numbers)}i", *numbers), ("engine_load_binary", *names[1:])
    if FORMAT == "c":
        names = tuple(f"{request.name}_{word}" for word in ("load", "run", "unload"))
        content = c_text(request.name, numbers).encode()
    constants = tuple(np.ascontiguousarray(t.values) for t in request.region.constants)
    return RegionCode(FORMAT, content, *names, constants, 4 * scratch, "engine_begin" if STARTED else "")


class Cost:
    name, version, bound, overlap, energy = "engine", "1", "exact", "none", None

    def kernel_cycles(self, workload, tile):
        return -(-tile["N"] // 8)

    def launch_cycles(self, workload, tile):
        return np.full_like(tile["N"], 10)

    def transfer_cycles(self, workload, transfer):
        none = np.zeros_like(transfer.rows)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload):
        return 0


@hookimpl
def match_hardware():
    memories = (Memory("ram", 2, 262144),)
    alone = Soc("engine_chip", "a chip", "host", ("host", "engine"), memories, (), "ram")
    beside = Soc("beside_chip", "units side by side", "host", ("host", "engine"), memories, (), "ram",
                 signalling=Signalling("poll", 1, 1, 1, 1))
    return Hardware(units=(unit("engine"),), socs=(alone, beside))


@hookimpl
def match_patterns(unit):
    region = Pattern("engine_region", "elementwise operators", None, (), work, search=search)
    return (region,) if unit.name == "engine" else ()


@hookimpl
def match_cost(soc, unit, pattern):
    return Cost() if unit.name == "engine" else None


@hookimpl
def match_emit_api(soc, unit):
    if unit.name != "engine":
        return None
    beside = soc.mode == "concurrent"
    return UnitApi(
        platform=PlatformApi("engine_start", "engine_stop", "" if beside or not @CALL@ else "engine_call"),
        memory=None,
        kernels={"engine_region": RegionKernel(compiled)},
        headers=("engine.h",),
        runtime=(RuntimeFile("engine.h", HEADER), RuntimeFile("engine.c", SOURCE)),
        twin=TwinApi(sources=(RuntimeFile("engine_twin.c", TWIN),), clocks=("host", "engine")),
        queue=(QueueApi(done="engine_done") if STARTED else QueueApi("engine_launch", "match_spin", "engine_join"))
        if beside else None,
        libraries=(@LIBRARIES@),
        folders=(@FOLDERS@),
    )
'''

HEADER = """
#ifndef ENGINE_H
#define ENGINE_H
#include <stdint.h>
#include "match_region.h"
int engine_start(void);
void engine_stop(void);
int engine_call(void (*entry)(void *), void *argument);
int engine_launch(void (*loop)(void *), void *argument);
int engine_join(void);
int engine_open(const match_region_t *region, const int32_t *steps, uint32_t numbers, void **handle);
int engine_load_json(const match_region_t *region, void **handle);
int engine_load_binary(const match_region_t *region, void **handle);
int engine_run(void *handle, const void *const *in, void *const *out, void *scratch);
int engine_begin(void *handle, const void *const *in, void *const *out, void *scratch);
int engine_done(void);
void engine_unload(void *handle);
/* For tests: how often each was called, and which call fails (counted from 1). */
extern uint32_t engine_loads, engine_unloads, engine_runs, engine_failing_load, engine_failing_run;
#endif
"""

SOURCE = r"""
#include "engine.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const match_region_t *region;
    uint32_t numbers;
    int32_t steps[];
} engine_t;

uint32_t engine_loads, engine_unloads, engine_runs, engine_failing_load, engine_failing_run;

int engine_open(const match_region_t *region, const int32_t *steps, uint32_t numbers, void **handle)
{
    engine_loads++;
    if (engine_loads == engine_failing_load) {
        return 1;
    }
    engine_t *const engine = malloc(sizeof(engine_t) + numbers * sizeof(int32_t));
    if (engine == NULL) {
        return 1;
    }
    engine->region = region;
    engine->numbers = numbers;
    memcpy(engine->steps, steps, numbers * sizeof(int32_t));
    *handle = engine;
    return 0;
}

int engine_load_binary(const match_region_t *region, void **handle)
{
    const uint32_t numbers = region->code_bytes / 4u;
    int32_t *const steps = malloc(region->code_bytes + 4u);
    if (steps == NULL) {
        return 1;
    }
    memcpy(steps, region->code, region->code_bytes);
    const int status = engine_open(region, steps, numbers, handle);
    free(steps);
    return status;
}

int engine_load_json(const match_region_t *region, void **handle)
{
    char *const text = malloc(region->code_bytes + 1u);
    int32_t *const steps = malloc((region->code_bytes + 1u) * sizeof(int32_t));
    int status = 1;
    if ((text != NULL) && (steps != NULL)) {
        uint32_t numbers = 0u;
        memcpy(text, region->code, region->code_bytes);
        text[region->code_bytes] = '\0';
        for (char *at = text + 1; *at != ']'; at += (*at == ',') ? 1 : 0) {
            steps[numbers++] = (int32_t)strtol(at, &at, 10);
        }
        status = engine_open(region, steps, numbers, handle);
    }
    free(text);
    free(steps);
    return status;
}

int engine_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const engine_t *const engine = handle;
    engine_runs++;
    if (engine_runs == engine_failing_run) {
        return 1;
    }
    for (uint32_t n = 0u; n < engine->numbers; n += 10u) {
        const int32_t *const step = &engine->steps[n];
        const float *read[2];
        for (int operand = 0; operand < 2; operand++) {
            const int32_t slot = step[1 + 3 * operand], place = step[2 + 3 * operand];
            const int32_t count = step[3 + 3 * operand];
            read[operand] = (count == 0)  ? NULL
                            : (slot == 0) ? in[place]
                            : (slot == 1) ? engine->region->constants[place].data
                            : (slot == 2) ? out[place]
                                          : (const float *)scratch + place;
        }
        float *const made = (step[7] == 2) ? out[step[8]] : (float *)scratch + step[8];
        for (int32_t i = 0; i < step[9]; i++) {
            const float a = read[0][(step[3] == 1) ? 0 : i];
            const float b = (read[1] != NULL) ? read[1][(step[6] == 1) ? 0 : i] : 0.0f;
            switch (step[0]) {
            case 1: made[i] = a + b; break;
            case 2: made[i] = a - b; break;
            case 3: made[i] = a * b; break;
            case 4: made[i] = (a > 0.0f) ? a : 0.0f; break;
            default: made[i] = -a; break;
            }
        }
    }
    return 0;
}

void engine_unload(void *handle)
{
    engine_unloads++;
    free(handle);
}
"""

TWIN = r"""
#include "engine.h"
#include "match_twin.h"
#include "match_twin_context.h"
#include <string.h>

static uint32_t context;

int engine_start(void) { return 0; }
void engine_stop(void) {}
int engine_call(void (*entry)(void *), void *argument)
{
    entry(argument);
    return 0;
}
int engine_launch(void (*loop)(void *), void *argument)
{
    context = match_twin_start("engine", 1u, loop, argument);
    return 0;
}
int engine_join(void) { return match_twin_join_bounded(context); }

static struct {
    void *handle, *out[8], *scratch;
    const void *in[8];
    int status;
    uint32_t busy;
} job;

static void work(void *argument)
{
    (void)argument;
    const match_region_t *const region = *(const match_region_t *const *)job.handle;
    uint32_t elements = 0u;
    for (uint32_t n = 0u; n < region->outputs_count; n++) {
        uint32_t count = 1u;
        for (uint32_t axis = 0u; axis < region->outputs[n].rank; axis++) {
            count *= region->outputs[n].dims[axis];
        }
        elements += count;
    }
    match_twin_spend(1u, 10u + (elements + 7u) / 8u); /* as the cost model says */
    job.status = engine_run(job.handle, job.in, job.out, job.scratch);
}
int engine_begin(void *handle, const void *const *in, void *const *out, void *scratch)
{
    if (job.busy != 0u) {
        return 1;
    }
    const match_region_t *const region = *(const match_region_t *const *)handle;
    job.handle = handle;
    job.scratch = scratch;
    memcpy(job.in, in, region->inputs_count * sizeof *in);
    memcpy(job.out, out, region->outputs_count * sizeof *out);
    job.busy = 1u;
    context = match_twin_start_region("engine", 1u, work, NULL);
    return 0;
}
int engine_done(void)
{
    if (!match_twin_ended(context)) {
        return 0;
    }
    match_twin_join(context);
    job.busy = 0u;
    return (job.status == 0) ? 1 : -1;
}
int match_port_wait(void) { return match_twin_relax_bounded(); }
"""


def plugin(
    form: str,
    call: bool = False,
    libraries: tuple[str, ...] = (),
    folders: tuple[str, ...] = (),
    started: bool = False,
) -> str:
    """The package whose code is of a format; ``call``: tasks are handed to the unit through its platform; ``started``:
    in concurrent programs the host starts regions and asks for their end."""
    words = {"FORMAT": form, "HEADER": HEADER, "SOURCE": SOURCE, "TWIN": TWIN, "CALL": str(call)}
    words["STARTED"] = str(started)
    text = PLUGIN.replace("@LIBRARIES@", "".join(f"{name!r}, " for name in libraries))
    text = text.replace("@FOLDERS@", "".join(f"{name!r}, " for name in folders))
    for mark, word in words.items():
        text = text.replace(f"@{mark}@", word)
    return text
