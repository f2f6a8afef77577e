"""The host's pattern for conversions between stored forms, with the bytes of both as its operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.pattern import Pattern
from match_core.contract.structure import Match, Op
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of
from match_host.kernels.movement.convert import build_convert, forms_of

if TYPE_CHECKING:
    from typing import Literal

    from match_core.contract.forms import Form

CONVERT = "host_convert"


def _workload(match: Match) -> Workload:
    node = match.node("op")
    (source, target), shape = forms_of(node), shape_of(node.inputs[0])
    bits = 8 * dtype_of(node.inputs[0]).itemsize
    built = build_convert((node,), "kernel")
    total = max(1, target.elements(shape))

    def operand(name: str, role: Literal["input", "output"], form: Form) -> Operand:
        return Operand(name, role, (Axis("all", form.elements(shape)),), bits, form=form.name)

    return Workload(
        kind=CONVERT,
        dims=(Dim("N", total, tileable=False),),
        operands=(operand("in0", "input", source), operand("out0", "output", target)),
        macs=0,
        geometry=(("elements", total), *built.work.counts()),
    )


def conversion_pattern() -> Pattern:
    """A tensor in another stored form."""
    return Pattern(
        name=CONVERT,
        description="the same tensor in another stored form",
        structure=Op("match.form::Convert", "op"),
        constraints=(),
        workload=_workload,
    )
