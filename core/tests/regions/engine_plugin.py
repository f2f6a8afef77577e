"""Text of a package whose engine takes regions of elementwise operators, in any of the three formats of code.

The engine's program is a list of numbers, ten for each step: operator, then slot, place and elements of two operands
and of the result. Slots are the region's inputs, constants and outputs, and its scratch, where a place is an offset in
floats.
"""

from __future__ import annotations

from core.tests.regions.engine_c import HEADER, SOURCE, TWIN

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
