"""Checks whether a model fits budgets of memory and time; if not, finds the smallest changes that make it fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from match_core.contract.errors import InfeasibleError, MatchError, UsageError
from match_core.contract.observe import NullObserver
from match_core.pipeline import chosen_options, decide, prepare
from match_core.summary.document import report_document

from match_report.advice.budget import Budget
from match_report.advice.commands import command_of

if TYPE_CHECKING:
    from match_core.contract.compilation import Planned
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
        return self.slack is not None and self.slack >= 0

    @property
    def slack(self) -> int | None:
        """What the budget leaves; negative if it does not hold."""
        return None if self.amount is None else self.budget.limit - self.amount


@dataclass(frozen=True, slots=True)
class Change:
    """Options that make all budgets hold, and what the program then requires. ``command``: the whole command line,
    with the budgets that ``options`` do not replace."""

    options: tuple[str, ...]
    needs: tuple[Need, ...]
    command: str


@dataclass(frozen=True)
class Fit:
    """``needs``: of the program within the memory budgets, or of one that may use the whole chip if there is none;
    ``error``: why no program fits the budgets; ``changes``: the smallest changes that help, each verified;
    ``smallest``: for each budget that does not hold, the smallest one that would if it were the only one; ``report``:
    of the program within the budgets, None if there is none."""

    name: str
    target: str
    ok: bool
    needs: tuple[Need, ...]
    error: MatchError | None
    changes: tuple[Change, ...] = ()
    smallest: tuple[Change, ...] = ()
    report: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class _Trial:
    """The requirements of one compilation, or why it failed."""

    needs: tuple[Need, ...]
    error: MatchError | None = None
    planned: Planned | None = None

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
        self._plans: dict[CompileRequest, Planned | MatchError] = {}

    def fit(self, budgets: Sequence[Budget]) -> Fit:
        """Check the budgets. ModelError if the model cannot be read; UnsupportedError if no unit runs a node."""
        name = prepare(self._request, self._plugins, self._observer).model.name
        trial = self._try(self._request, budgets)
        planned = trial.planned
        report = None if planned is None else report_document(planned, chosen_options(self._request, planned.soc))
        if trial.ok:
            return Fit(name, self._soc.name, True, trial.needs, None, report=report)
        needs = trial.needs
        if trial.error is not None:
            whole = self._try(self._request, self._whole(budgets))
            needs = tuple(Need(budget, _amount(whole, budget)) for budget in budgets)
        changes = tuple(self._changes(budgets))
        smallest = tuple(change for budget in budgets if (change := self._smallest(budget)) is not None)
        return Fit(name, self._soc.name, False, needs, trial.error, changes, smallest, report)

    def _changes(self, budgets: Sequence[Budget]) -> Iterator[Change]:
        """Try other compiler options first, then one larger budget, then larger budgets for all."""
        for options, request in self._requests():
            other = self._try(request, budgets)
            if other.ok:
                yield self._change(request, options, budgets, other)
        alone = [larger for budget in budgets if (larger := self._larger(budget, budgets)) is not None]
        yield from alone
        if not alone and len(budgets) > 1:
            yield from self._all_larger(budgets)

    def _smallest(self, budget: Budget) -> Change | None:
        """The smallest budget of this name that holds without the others: the least memory that the planner manages
        with, or the fewest cycles of all options that may be changed. None if this one holds, or none does."""
        if self._try(self._request, (budget,)).ok:
            return None
        if budget.kind == "memory":
            return self._larger(budget, (budget,))
        tried = ((), self._request), *self._requests()
        found = [(options, request, self._try(request, (budget,))) for options, request in tried]
        best = min(
            (entry for entry in found if entry[2].error is None), key=lambda entry: _cycles(entry[2]), default=None
        )
        if best is None:
            return None
        options, request, trial = best
        return self._change(request, (*options, *budget.option(_cycles(trial)).split()), (), trial)

    def _requests(self) -> Iterator[tuple[tuple[str, ...], CompileRequest]]:
        """The request with one option changed that affects only accuracy, the types of inputs and outputs, or, if
        the gain is below the uncertainty of the model, units that run at the same time."""
        if self._request.precision != "fast":
            yield ("--precision", "fast"), replace(self._request, precision="fast")
        if not self._request.quantized_io:
            yield ("--quantized-io",), replace(self._request, quantized_io=True)
        declined = (not isinstance(plan, MatchError) and plan.declined_cycles for plan in self._plans.values())
        if self._request.execution == "auto" and any(declined):
            yield ("--concurrent",), replace(self._request, execution="concurrent")

    def _change(
        self, request: CompileRequest, options: tuple[str, ...], budgets: Sequence[Budget], trial: _Trial
    ) -> Change:
        """``options``: those that differ from the user's; of the budgets, those that they do not replace stay."""
        own = [word for pair in pairwise(options) if pair[0] == "--budget" for word in pair]
        replaced = {value.partition("=")[0] for value in own}
        left = [word for budget in budgets if budget.name not in replaced for word in ("--budget", budget.text)]
        return Change(options, trial.needs, command_of("fit", request, *left, *own))

    def _larger(self, budget: Budget, budgets: Sequence[Budget]) -> Change | None:
        """The smallest larger budget of this name that makes all budgets hold."""
        others = tuple(other for other in budgets if other is not budget)
        if budget.kind != "memory":
            trial = self._try(self._request, budgets)
            amount = _amount(trial, budget)
            if amount is None or not all(need.ok for need in trial.needs if need.budget is not budget):
                return None
            return self._change(self._request, tuple(budget.option(amount).split()), budgets, trial)
        most = self._soc.memory(budget.name).size_bytes
        if budget.limit >= most:
            return None
        best = self._try(self._request, (*others, replace(budget, limit=most)))
        if not best.ok:
            return None
        low, high = budget.limit, most
        while high - low > max(1, int(high * PRECISION)):
            middle = (low + high) // 2
            self._observer.progress({"budget": budget.name, "between": low, "and": high})
            trial = self._try(self._request, (*others, replace(budget, limit=middle)))
            low, high, best = (low, middle, trial) if trial.ok else (middle, high, best)
        return self._change(self._request, tuple(budget.option(high).split()), budgets, best)

    def _all_larger(self, budgets: Sequence[Budget]) -> Iterator[Change]:
        """The budgets that a program requires if it may use the whole chip."""
        trial = self._try(self._request, self._whole(budgets))
        if trial.error is not None:
            return
        over = [(budget, amount) for budget in budgets if (amount := _amount(trial, budget) or 0) > budget.limit]
        options = tuple(" ".join(budget.option(amount) for budget, amount in over).split())
        yield self._change(self._request, options, budgets, trial)

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
        planned = self._plan(bounded)
        if isinstance(planned, MatchError):
            return _Trial(tuple(Need(budget, None) for budget in budgets), planned)
        return _Trial(tuple(Need(budget, _used(planned, budget)) for budget in budgets), None, planned)

    def _plan(self, request: CompileRequest) -> Planned | MatchError:
        """Each request once."""
        if request not in self._plans:
            quiet = NullObserver()
            try:
                self._plans[request] = decide(prepare(request, self._plugins, quiet), self._plugins, quiet)[0]
            except (InfeasibleError, UsageError) as error:
                self._plans[request] = error
        return self._plans[request]


def _used(planned: Planned, budget: Budget) -> int:
    if budget.kind != "memory":
        return planned.program.predicted_cycles
    return next((use.used_bytes for use in planned.program.memory if use.memory == budget.name), 0)


def _amount(trial: _Trial, budget: Budget) -> int | None:
    return next((need.amount for need in trial.needs if need.budget.name == budget.name), None)


def _cycles(trial: _Trial) -> int:
    return 0 if trial.planned is None else trial.planned.program.predicted_cycles
