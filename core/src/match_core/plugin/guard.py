"""Functions inside answers (constraints, workloads, cost formulas, renderers) stay attributed to their plugin.

They run long after the hook returned. If a guarded function raises, this becomes a fault of its package instead of an
internal error of the core. Errors meant for the user pass unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from match_core.contract.errors import MatchError
from match_core.contract.unit_api import InlineKernel, RegionKernel
from match_core.plugin.answers import WrongAnswerError, packed, region_code
from match_core.plugin.records import HOOK_RAISED, WRONG_ANSWER
from match_core.plugin.registry import CONTAINED, one_line

if TYPE_CHECKING:
    from match_core.contract.commands import Command
    from match_core.contract.cost import CostModel
    from match_core.contract.front_end import FrontEnd
    from match_core.contract.passes import Pass
    from match_core.contract.pattern import Pattern
    from match_core.contract.runner import Runner
    from match_core.contract.unit_api import Kernel, UnitApi
    from match_core.plugin.discovery import Found
    from match_core.plugin.registry import Registry


@dataclass(frozen=True, eq=False)
class Guard:
    """Guards answers of ``plugin`` to ``hook``."""

    registry: Registry
    plugin: Found
    hook: str

    def call(self, function: Callable[..., Any], what: str, *arguments: Any, **named: Any) -> Any:
        """Call a function of the plugin; PluginError MATCH-H005 for any exception, H006 for a wrong answer."""
        try:
            return function(*arguments, **named)
        except MatchError:
            raise
        except CONTAINED as error:
            code = WRONG_ANSWER if isinstance(error, WrongAnswerError) else HOOK_RAISED
            about, cause = _about(arguments), one_line(error)
            fault = self.registry.fault(self.plugin, self.hook, f"{what}{about}: {cause}", code)
            raise fault.as_error(f"{what} failed", about, cause) from error

    def function(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        """The function with its faults attributed."""
        return GuardedFunction(function, self, what)

    def pattern(self, pattern: Pattern) -> Pattern:
        """The pattern with guarded rules, workload, search and body."""
        where = f"of pattern {pattern.name}"
        return replace(
            pattern,
            constraints=tuple(
                replace(rule, check=self.function(rule.check, f"rule {rule.name} {where}"))
                for rule in pattern.constraints
            ),
            workload=self.function(pattern.workload, f"workload {where}"),
            search=pattern.search and self.function(pattern.search, f"search {where}"),
            body=pattern.body and self.function(pattern.body, f"body {where}"),
        )

    def front_end(self, front_end: FrontEnd) -> FrontEnd:
        """The front end with guarded functions."""
        what = f"front end for {front_end.name}"
        return replace(
            front_end,
            recognises=self.function(front_end.recognises, what),
            convert=self.function(front_end.convert, what),
        )

    def runner(self, runner: Runner) -> Runner:
        """The runner with a guarded ``run``."""
        return replace(runner, run=self.function(runner.run, f"runner {runner.name}"))

    def command(self, command: Command) -> Command:
        """The verb with a guarded ``load``."""
        return replace(command, load=self.function(command.load, f"verb {command.name}"))

    def graph_pass(self, graph_pass: Pass) -> Pass:
        """The pass with a guarded ``run``."""
        return replace(graph_pass, run=self.function(graph_pass.run, f"pass {graph_pass.name}"))

    def cost_model(self, model: CostModel) -> CostModel:
        """The cost model with guarded formulas."""
        return cast("CostModel", GuardedCostModel(model, self))

    def unit_api(self, api: UnitApi) -> UnitApi:
        """The interface with guarded kernels."""
        kernels: Mapping[str, Kernel | InlineKernel | RegionKernel] = {
            name: self._kernel(kernel, name, bool(api.queue and api.queue.done)) for name, kernel in api.kernels.items()
        }
        return replace(api, kernels=kernels)

    def _kernel(
        self, kernel: Kernel | InlineKernel | RegionKernel, name: str, started: bool
    ) -> Kernel | InlineKernel | RegionKernel:
        if isinstance(kernel, RegionKernel):
            roles = ("load", "run", "unload", *(["start"] if started else []))
            return replace(kernel, compile=self.function(Checked(kernel, roles), f"code of region {name}"))
        if isinstance(kernel, InlineKernel):
            return replace(
                kernel,
                inputs=self.function(kernel.inputs, f"inputs of kernel {name}"),
                render=self.function(kernel.render, f"C of kernel {name}"),
            )
        return replace(kernel, pack=self.function(Checked(kernel), f"constants of kernel {name}"))


def _about(arguments: Sequence[object]) -> str:
    """The layer that a function was called for, if its first argument has nodes or is a workload."""
    first = arguments[0] if arguments else None
    sizes = [f"{dim.name} {dim.size}" for dim in getattr(first, "dims", ())]
    names = [str(node.name) for node in getattr(first, "nodes", ())]
    return f", nodes {', '.join(names)}" if names else f", a layer with {', '.join(sizes)}" if sizes else ""


@dataclass(frozen=True)
class Checked:
    """Calls ``compile`` or ``pack`` of a kernel; TypeError or ValueError for an answer that cannot be emitted.
    ``roles``: of functions that the code of a region names."""

    kernel: Kernel | RegionKernel
    roles: tuple[str, ...] = ()

    def __call__(self, *arguments: Any) -> Any:
        """The answer."""
        if isinstance(self.kernel, RegionKernel):
            return region_code(self.kernel.compile(*arguments), self.roles)
        return packed(self.kernel, arguments[1], self.kernel.pack(*arguments))


@dataclass(frozen=True)
class GuardedFunction:
    """Compares equal to another one of the same function, so that answers still compare by content."""

    function: Callable[..., Any]
    guard: Guard
    what: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function."""
        return self.guard.call(self.function, self.what, *arguments, **named)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuardedFunction) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)


class GuardedCostModel:
    """A cost model whose methods are guarded; all other attributes are the model's own."""

    def __init__(self, model: CostModel, guard: Guard) -> None:
        self._model = model
        self._guard = guard

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._model, name)
        return self._guard.function(value, f"{name} of cost model {self._model.name}") if callable(value) else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuardedCostModel) and self._model == other._model

    def __hash__(self) -> int:
        return hash(self._model)


def unguarded(model: CostModel) -> CostModel:
    """The plugin's own cost model."""
    return model._model if isinstance(model, GuardedCostModel) else model
