"""Text of a package whose engine raises elements to constant powers, in blocks of four channels."""

PLUGIN = """
import numpy as np
from math import prod
from match_core import Any, Axis, Const, Dim, Form, Op, Operand, Workload
from match_core.contract.unit_api import InlineCode, InlineKernel

BLOCKS = Form("blocks", 4, pad=((1, 4), (3, 8)), split=(1, 4), order=(0, 1, 3, 4, 2), reversed_group=4)
PADDED = Form("padded", 4, pad=((3, 8),))
FORMS = {form.name: form for form in (BLOCKS, PADDED)}
LAUNCH_CYCLES = 100


def power(name, read, made):
    def work(match):
        shape = match.shape("x")
        def operand(name, role, form):
            return Operand(name, role, (Axis("all", FORMS[form].elements(shape)),), 32, form=form)
        return Workload(name, (Dim("N", prod(shape), tileable=False),),
                        (operand("x", "input", read), operand("y", "output", made)), macs=0)

    return Pattern(name, "raises to constant powers", Op("Pow", "pow", (Any("x"), Const("c"))), (), work)


PATTERNS = (power("blocks", "blocks", "blocks"), power("padded_to_blocks", "padded", "blocks"))


def render(read, made):
    def text(request):
        shape = tuple(int(size) for size in request.inputs[0].shape)
        values = np.broadcast_to(request.inputs[1].values, shape)
        source, target = FORMS[read].places(shape).reshape(-1), FORMS[made].places(shape).reshape(-1)
        table = ", ".join(f"{{{s}, {t}}}" for s, t in zip(source, target))
        junk = FORMS[made].elements(shape)
        return InlineCode(
            f"static void {request.function}(const float *restrict in0, const float *restrict in1, "
            "float *restrict out0)\\n{\\n"
            f"    static const int32_t places[{len(source)}][2] = {{{table}}};\\n"
            f"    for (int32_t i = 0; i < {junk}; i++) {{\\n        out0[i] = -1.0e9f;\\n    }}\\n"
            f"    for (int32_t i = 0; i < {len(source)}; i++) {{\\n"
            "        out0[places[i][1]] = powf(in0[places[i][0]], in1[i]);\\n    }\\n}\\n",
            includes=("math.h", "stdint.h"),
            constants={1: np.ascontiguousarray(values)},
        )

    return text


class Cost:
    name, version, bound, overlap, energy = "power", "1", "exact", "none", None

    def kernel_cycles(self, workload, tile):
        return tile["N"] // 8

    def launch_cycles(self, workload, tile):
        return np.full_like(tile["N"], LAUNCH_CYCLES)

    def transfer_cycles(self, workload, transfer):
        none = np.zeros_like(transfer.rows)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload):
        return 0


@hookimpl
def match_hardware():
    soc = Soc("chip", "a chip", "host", ("host", "power"), (Memory("ram", 2, 262144),), (), "ram",
              forms=tuple(FORMS.values()))
    return Hardware(units=(unit("power"),), socs=(soc,))


@hookimpl
def match_patterns(unit):
    return PATTERNS if unit.name == "power" else ()


@hookimpl
def match_cost(soc, unit, pattern):
    return Cost() if unit.name == "power" else None


@hookimpl
def match_emit_api(soc, unit):
    if unit.name != "power":
        return None
    kernels = {name: InlineKernel(lambda match: (match.tensor("x"), match.tensor("c")), render(read, made))
               for name, read, made in (("blocks", "blocks", "blocks"), ("padded_to_blocks", "padded", "blocks"))}
    return UnitApi(platform=PlatformApi(), memory=None, kernels=kernels)
"""
