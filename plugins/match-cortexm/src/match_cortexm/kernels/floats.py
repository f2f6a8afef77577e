"""Floating-point kernels of the host on cores with Helium, whose vectors flush subnormal numbers to zero: products run
in vectors, and again in scalar code if a number was flushed; compilers must not turn others into vectors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.unit_api import InlineKernel
from match_host.machine import SCALAR

from match_cortexm.headers import FLOAT, HALF, header
from match_cortexm.kernels.lanes import LaneWriter
from match_cortexm.kernels.vectors import LANES, PREFIX

if TYPE_CHECKING:
    from match_core.contract.unit_api import InlineCode, InlineRequest
    from match_host.machine import Machine

    from match_cortexm.cores import Core

_FLOATING = re.compile(r"\b(float|double)\b")
#: 16 sums in the 32 registers of an FPU.
_NUMBERS = replace(SCALAR, name="fpu", sum_registers=16)
#: Eight vector registers: four of sums, weights, and two of products.
_VECTORS = replace(
    SCALAR, name="helium", vector_bytes=4 * LANES, registers=8, sum_registers=4, writer=LaneWriter, floats=_NUMBERS
)
#: The host's kernels for scalar machines, except for products of floating-point numbers with constant weights.
HELIUM, FPU = replace(SCALAR, floats=_VECTORS), replace(SCALAR, floats=_NUMBERS)


def machine_for(core: Core) -> Machine:
    """The machine for which the host writes a core's kernels."""
    return HELIUM if core.helium else FPU if core.fpu else SCALAR


def helium_floats(kernel: InlineKernel) -> InlineKernel:
    """The kernel; if its C has floating-point numbers, its vectors are those of ``lanes.py`` only."""

    def render(request: InlineRequest) -> InlineCode:
        code = kernel.render(request)
        if not _FLOATING.search("\n".join((code.definition, *(text for _, text in code.helpers)))):
            return code
        halves = PREFIX in code.definition and "_half(" in code.definition
        checks = PREFIX in code.definition and not halves
        definition = _checked(code.definition, request.function) if checks else _scalar(code)
        headers = (header(FLOAT), *code.headers, *((header(HALF),) if halves else ()))
        return replace(code, definition=definition, headers=headers)

    return InlineKernel(kernel.inputs, render)


def _scalar(code: InlineCode) -> str:
    return code.definition.replace("static void ", "MATCH_CORTEXM_SCALAR\nstatic void ", 1)


def _checked(definition: str, function: str) -> str:
    """The function in vectors, in scalar code, and one that calls both if a number was flushed. What the status of the
    caller says stays: kernels may yield to other kernels between two steps."""
    start = definition.index("static void ")
    end = definition.index("\n{\n", start)
    comment, head, body = definition[:start], definition[start:end], definition[end:]
    section = f"{function.rsplit('_', 2)[0].upper()}_CODE_SECTION"
    names = ", ".join(re.findall(r"(\w+)(?=[,)])", head[head.index("(") :]))

    def copy(suffix: str, attribute: str) -> str:
        return f"MATCH_CORTEXM_{attribute}\n{section}\n{head.replace(function, f'{function}_{suffix}', 1)}{body}\n"

    scalar = copy("scalar", "AGAIN MATCH_CORTEXM_SCALAR").replace(PREFIX, PREFIX.replace("_v_", "_s_"))
    call = f"""
{{
    const uint32_t status = match_cortexm_status();
    match_cortexm_set_status(status & ~MATCH_CORTEXM_FLUSHED);
    {function}_vectors({names});
    if ((match_cortexm_status() & MATCH_CORTEXM_FLUSHED) != 0u) {{
        {function}_scalar({names});
    }}
    match_cortexm_set_status(match_cortexm_status() | status);
}}
"""
    return f"{comment}{copy('vectors', 'APART')}{scalar}{head}{call}"
