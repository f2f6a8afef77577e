"""The result of building a host kernel, and its adapter to the emitter's interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from match_core.contract.unit_api import InlineCode, InlineKernel, InlineRequest

from match_host.kernels.work import Work
from match_host.machine import GENERIC, Machine

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs
    from match_core.contract.structure import Match
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Built:
    """A kernel: the tensors it reads in argument order, its C, and the operations of one call. ``text``: the C, or how
    to write it if ``constants``, those that replace constant arguments, are known before: most kernels are candidates
    only. ``told``: what cost models that know a compiler may ask beside counts, such as the lengths of loops."""

    arguments: tuple[gs.Tensor, ...]
    text: InlineCode | Callable[[], InlineCode]
    work: Work
    constants: Mapping[int, NDArray[np.generic]] | None = field(default=None, kw_only=True)
    told: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    @cached_property
    def code(self) -> InlineCode:
        """The kernel's C."""
        return self.text() if callable(self.text) else self.text

    @property
    def packed(self) -> Mapping[int, NDArray[np.generic]]:
        """The constants that replace constant arguments."""
        return self.code.constants if self.constants is None else self.constants


#: Builds the kernel of some nodes (topological, result last) under a C function name.
Builder = Callable[["tuple[gs.Node, ...]", str], Built]
#: A builder whose kernels are written for a machine.
MachineBuilder = Callable[["tuple[gs.Node, ...]", str, Machine], Built]


@dataclass(frozen=True, slots=True)
class ForMachine:
    """A builder whose kernels depend on a machine; called directly, it uses the default machine."""

    build: MachineBuilder
    machine: Machine = GENERIC

    def __call__(self, nodes: tuple[gs.Node, ...], function: str) -> Built:
        """The kernel of the nodes."""
        return self.build(nodes, function, self.machine)


def on_machine(build: Builder, machine: Machine) -> Builder:
    """The builder for a machine; the same builder if it does not depend on the machine."""
    return replace(build, machine=machine) if isinstance(build, ForMachine) else build


def inline_kernel(build: Builder) -> InlineKernel:
    """The emitter's view of a builder. Inputs and code come from the same call, so they agree."""

    def inputs(match: Match) -> tuple[gs.Tensor, ...]:
        return build(match.nodes, "kernel").arguments

    def render(request: InlineRequest) -> InlineCode:
        built = build(request.nodes, request.function)
        if [t.name for t in built.arguments] != [t.name for t in request.inputs]:
            raise ValueError(f"{request.function}: inputs differ from those of the kernel")
        return built.code

    return InlineKernel(inputs, render)
