"""Checks whether a model fits budgets of memory and time; if not, finds the smallest changes that make it fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.errors import InfeasibleError, UsageError
from match_core.contract.observe import NullObserver
from match_core.pipeline import decide, prepare

from match_report.advice.budget import Budget

if TYPE_CHECKING:
    from match_core.contract.compilation import Planned
    from match_core.contract.errors import MatchError
    from match_core.contract.hardware import Soc
    from match_core.contract.observe import StageObserver
    from match_core.pipeline import CompileRequest
    from match_core.plugin.facade import Plugins

#: Relative tolerance of the search for the smallest memory.
PRECISION = 1 / 256


@dataclass(frozen=True, slots=True)
class Need:
    """What the program requires of a budget; ``amount`` is None if another failure hides it."""

    budget: Budget
    amount: int | None

    @property
    def ok(self) -> bool:
        """Whether the budget holds."""
        return self.amount is not None and self.amount <= self.budget.limit


@dataclass(frozen=True, slots=True)
class Change:
    """Options that make all budgets hold, and what the program then requires."""

    options: tuple[str, ...]
    needs: tuple[Need, ...]


@dataclass(frozen=True)
class Fit:
    """``needs``: of the program within the memory budgets, or of one that may use the whole chip if there is none;
    ``error``: why no program fits the budgets; ``changes``: the smallest changes that help, each verified."""

    name: str
    target: str
    ok: bool
    needs: tuple[Need, ...]
    error: MatchError | None
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class _Trial:
    """The requirements of one compilation, or why it failed."""

    needs: tuple[Need, ...]
    error: MatchError | None = None

    @property
    def ok(self) -> bool:
        return self.error is None and all(need.ok for need in self.needs)


class Fitting:
    """Compiles one model up to the plan, with different options."""

    def __init__(
        self, request: CompileRequest, soc: Soc, plugins: Plugins, observer: StageObserver | None = None
    ) -> None:
        self._request = request
        self._soc = soc
        self._plugins = plugins
        self._observer = observer or NullObserver()

    def fit(self, budgets: Sequence[Budget]) -> Fit:
        """Check the budgets. ModelError if the model cannot be read; UnsupportedError if no unit runs a node."""
        name = prepare(self._request, self._plugins, self._observer).model.name
        trial = self._try(self._request, budgets)
        if trial.ok:
            return Fit(name, self._soc.name, True, trial.needs, None, ())
        needs = trial.needs
        if trial.error is not None:
            whole = self._try(self._request, self._whole(budgets))
            needs = tuple(Need(budget, _amount(whole, budget)) for budget in budgets)
        return Fit(name, self._soc.name, False, needs, trial.error, tuple(self._changes(budgets)))

    def _changes(self, budgets: Sequence[Budget]) -> Iterator[Change]:
        """Try other compiler options first, then one larger budget, then larger budgets for all."""
        for options, request in self._requests():
            other = self._try(request, budgets)
            if other.ok:
                yield Change(options, other.needs)
        alone = [larger for budget in budgets if (larger := self._larger(budget, budgets)) is not None]
        yield from alone
        if not alone and len(budgets) > 1:
            yield from self._all_larger(budgets)

    def _requests(self) -> Iterator[tuple[tuple[str, ...], CompileRequest]]:
        """The request with one option changed that affects only accuracy or the types of inputs and outputs."""
        if self._request.precision != "fast":
            yield ("--precision", "fast"), replace(self._request, precision="fast")
        if not self._request.quantized_io:
            yield ("--quantized-io",), replace(self._request, quantized_io=True)

    def _larger(self, budget: Budget, budgets: Sequence[Budget]) -> Change | None:
        """The smallest larger budget of this name that makes all budgets hold."""
        others = tuple(other for other in budgets if other is not budget)
        if budget.kind != "memory":
            trial = self._try(self._request, budgets)
            amount = _amount(trial, budget)
            if amount is None or not all(need.ok for need in trial.needs if need.budget is not budget):
                return None
            return Change(tuple(budget.option(amount).split()), trial.needs)
        most = self._soc.memory(budget.name).size_bytes
        if budget.limit >= most:
            return None
        best = self._try(self._request, (*others, replace(budget, limit=most)))
        if not best.ok:
            return None
        low, high = budget.limit, most
        while high - low > max(1, int(high * PRECISION)):
            middle = (low + high) // 2
            trial = self._try(self._request, (*others, replace(budget, limit=middle)))
            low, high, best = (low, middle, trial) if trial.ok else (middle, high, best)
        return Change(tuple(budget.option(high).split()), best.needs)

    def _all_larger(self, budgets: Sequence[Budget]) -> Iterator[Change]:
        """The budgets that a program requires if it may use the whole chip."""
        trial = self._try(self._request, self._whole(budgets))
        if trial.error is not None:
            return
        over = [(budget, amount) for budget in budgets if (amount := _amount(trial, budget) or 0) > budget.limit]
        yield Change(tuple(" ".join(budget.option(amount) for budget, amount in over).split()), trial.needs)

    def _whole(self, budgets: Sequence[Budget]) -> tuple[Budget, ...]:
        """The budgets, with memory budgets raised to the whole memories."""
        return tuple(
            replace(budget, limit=self._soc.memory(budget.name).size_bytes) if budget.kind == "memory" else budget
            for budget in budgets
        )

    def _try(self, request: CompileRequest, budgets: Sequence[Budget]) -> _Trial:
        """Compile with memories limited to their budgets."""
        sizes = dict(request.memory)
        for budget in budgets:
            if budget.kind == "memory":
                size = min(budget.limit, sizes.get(budget.name, self._soc.memory(budget.name).size_bytes))
                sizes[budget.name] = size
        bounded = replace(request, memory=tuple(sorted(sizes.items())))
        try:
            planned, _ = decide(prepare(bounded, self._plugins, NullObserver()), self._plugins, NullObserver())
        except (InfeasibleError, UsageError) as error:
            return _Trial(tuple(Need(budget, None) for budget in budgets), error)
        return _Trial(tuple(Need(budget, _used(planned, budget)) for budget in budgets))


def _used(planned: Planned, budget: Budget) -> int:
    if budget.kind != "memory":
        return planned.program.predicted_cycles
    return next((use.used_bytes for use in planned.program.memory if use.memory == budget.name), 0)


def _amount(trial: _Trial, budget: Budget) -> int | None:
    return next((need.amount for need in trial.needs if need.budget.name == budget.name), None)
