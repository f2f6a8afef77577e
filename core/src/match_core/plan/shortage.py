"""The error message for a program that does not fit its home memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.errors import InfeasibleError
from match_core.plan.packing import live_bytes

if TYPE_CHECKING:
    from match_core.contract.fitting import Fit
    from match_core.contract.hardware import Memory, Soc
    from match_core.contract.model import Model
    from match_core.contract.planning import Sizes
    from match_core.plan.draft import Draft

#: The maximum number of tensors and constants that are listed by name.
SHOWN_MAX = 8


@dataclass(frozen=True, slots=True)
class Shortage:
    """A program that does not fit: its draft, and constants as (name, bytes). ``store``: the memory to which constants
    were streamed, None if the Soc has none."""

    draft: Draft
    constants: tuple[tuple[str, int], ...]
    store: str | None = None

    def error(self, model: Model) -> InfeasibleError:
        """MATCH-M001, with the tensors that live at the peak and the largest constants."""
        home, draft = self.draft.home, self.draft
        fixed = sum(size for _, size in self.constants)
        need, have = draft.need_bytes(fixed), home.size_bytes
        live = live_bytes(draft.blocks, home.alignment_bytes)
        step = max(live, key=lambda s: (live[s], -s), default=0)
        return InfeasibleError(
            code="MATCH-M001",
            what=f"the program does not fit memory {home.name}: {need - have} bytes too many",
            where=self._where(model, step),
            why=self._why(need, have, fixed, live.get(step, 0), step),
            help=tuple(self._help(fixed, have, live.get(step, 0))),
        )

    def _where(self, model: Model, step: int) -> str:
        if not self.draft.assignments:
            return model.source or model.name
        candidate = self.draft.assignments[step].candidate
        sources = ", ".join(repr(name) for name in model.origin(candidate.match.nodes)[:SHOWN_MAX])
        return f"most bytes are alive at task {step}: {sources} ({candidate.pattern.name} on {candidate.unit})"

    def _names(self) -> list[str]:
        draft = self.draft
        return [*(draft.storages[n].tensors[0] for n in draft.owned), *(f"scratch of task {p}" for p in draft.scratch)]

    def _why(self, need: int, have: int, fixed: int, peak: int, step: int) -> str:
        draft = self.draft
        arena = draft.allocation.arena_bytes
        at_peak = [
            (name, block.size_bytes)
            for name, block in zip(self._names(), draft.blocks, strict=True)
            if block.first <= step <= block.last
        ]
        reasons = [
            f"needs {need} bytes of {have}: {arena} for activations, {fixed} for constants, "
            f"{draft.caller_bytes} for graph inputs and outputs",
            f"alive at task {step}: {largest(at_peak) or 'nothing'}",
        ]
        if arena > peak:
            reasons.append(f"{arena - peak} bytes of the activations are gaps between tensors")
        if self.constants:
            reasons.append(f"largest constants: {largest(self.constants)}")
        if self.store is not None:
            reasons.append(f"constants were already moved to {self.store} where possible")
        return "; ".join(reasons)

    def _help(self, fixed: int, have: int, peak: int) -> list[str]:
        """Changes that help alone; if neither constants nor tensors are large enough, changes that help together."""
        home, caller, need = self.draft.home, self.draft.caller_bytes, self.draft.need_bytes(fixed)
        over = need - have
        levers = [(fixed, f"make the constants {over} bytes smaller: fewer channels, or narrower weights")]
        if fixed + caller + peak > have:
            tensors = f"make the tensors at the peak {over} bytes smaller: a smaller input, or fewer channels there"
            levers.append((peak, tensors))
        lines = [line for size, line in sorted(levers, key=lambda lever: -lever[0]) if size >= over]
        if not lines and fixed + peak >= over:
            lines.append(f"make constants and tensors at the peak {over} bytes smaller together")
        lines.append(f"choose a target whose {home.name} has at least {need} bytes")
        return lines


def reasoned(error: InfeasibleError, means: str, fit: Fit | None) -> InfeasibleError:
    """The error with a lower bound of the memory, if a package states one for these means."""
    more = f"; {means}: {fit.reason}" if fit and fit.reason else ""
    return InfeasibleError(error.code, error.what, error.where, f"{error.why}{more}", error.help)


def check_fit(model: Model, soc: Soc, draft: Draft, constants: Sizes, stored: Sizes) -> None:
    """InfeasibleError MATCH-M001 if the home memory or the store is too small."""
    if draft.need_bytes(sum(size for _, size in constants)) > draft.home.size_bytes:
        raise Shortage(draft, constants, None if soc.mapped else soc.store).error(model)
    if soc.store is not None and sum(size for _, size in stored) > soc.memory(soc.store).size_bytes:
        raise store_shortage(model, soc.memory(soc.store), stored)


def store_shortage(
    model: Model, store: Memory, stored: Sequence[tuple[str, int]], code_bytes: int = 0, code: str = ""
) -> InfeasibleError:
    """MATCH-M001 for the memory of streamed constants and, if it was measured, of ``code``, in words."""
    fixed, what = sum(size for _, size in stored), "constants" if store.kind == "read-only" else "streamed constants"
    need = fixed + code_bytes
    over, words = need - store.size_bytes, f"{what} ({fixed}) and code ({code_bytes}; {code})" if code else what
    smaller = f"make the constants {over} bytes smaller: fewer channels, or narrower weights"
    return InfeasibleError(
        code="MATCH-M001",
        what=f"the program does not fit memory {store.name}: {over} bytes too many",
        where=model.source or model.name,
        why=f"needs {need} bytes of {store.size_bytes} for {words}; largest constants: {largest(stored) or 'none'}",
        help=(smaller if over <= fixed else f"choose a target whose {store.name} has at least {need} bytes",),
    )


def largest(sizes: Sequence[tuple[str, int]]) -> str:
    """The largest of (name, bytes) in words, and the number of the others."""
    ranked = sorted(sizes, key=lambda pair: (-pair[1], pair[0]))
    reasons = [f"{name!r} {size}" for name, size in ranked[:SHOWN_MAX]]
    if rest := ranked[SHOWN_MAX:]:
        reasons.append(f"{len(rest)} more with {sum(size for _, size in rest)} together")
    return ", ".join(reasons)
