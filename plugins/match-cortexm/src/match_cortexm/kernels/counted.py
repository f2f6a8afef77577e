"""Kernels with the counts that their cost model multiplies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_host.kernels.built import Built
from match_host.workload import host_workload

if TYPE_CHECKING:
    from match_core.contract.structure import Match
    from match_core.contract.workload import Workload


@dataclass(frozen=True)
class Counted(Built):
    """A kernel; ``form`` names how its sums are computed, ``counts`` are (name, number) of a call, and ``macs``
    its multiply-accumulates."""

    form: str
    counts: tuple[tuple[str, int], ...]
    macs: int = 0


def counted_workload(kind: str, build: Callable[..., Counted], match: Match) -> Workload:
    """The workload of a kernel: counts as ``<form>_<name>``."""
    built = build(match.nodes, "kernel")
    plain = host_workload(kind, built, match.outputs)
    counts = tuple((f"{built.form}_{name}", number) for name, number in (*built.counts, ("calls", 1)) if number)
    return replace(plain, macs=built.macs, geometry=(plain.geometry[0], *counts))
