"""Floating-point kernels of the host on cores with Helium: compilers must not turn them into vectors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.unit_api import InlineKernel

from match_cortexm.headers import FLOAT, header

if TYPE_CHECKING:
    from match_core.contract.unit_api import InlineCode, InlineRequest

_FLOATING = re.compile(r"\b(float|double)\b")


def scalar_floats(kernel: InlineKernel) -> InlineKernel:
    """The kernel; if its C has floating-point numbers, its function has an attribute that keeps them out of vectors."""

    def render(request: InlineRequest) -> InlineCode:
        code = kernel.render(request)
        if not _FLOATING.search("\n".join((code.definition, *(text for _, text in code.helpers)))):
            return code
        definition = code.definition.replace("static void ", "MATCH_CORTEXM_SCALAR\nstatic void ", 1)
        return replace(code, definition=definition, headers=(header(FLOAT), *code.headers))

    return InlineKernel(kernel.inputs, render)
