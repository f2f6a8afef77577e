"""What the deployment of a model has found: a sequential mapping with its program, and a concurrent program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.candidate import Refusal
    from match_core.contract.errors import InfeasibleError
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.model import Model
    from match_core.deploy.deployment import Deployment


@dataclass(frozen=True)
class Sequential:
    """A sequential mapping of the candidates and the model of its program; ``deployment`` is None if it does not fit;
    ``error``: why it, or a cheaper one, does not; ``overflow``: tensors that had to move to the overflow memory;
    ``spare``: with those that would be next, if it streams constants."""

    model: Model
    mapping: Mapping
    refused: tuple[Refusal, ...]
    offered: tuple[Assignment, ...]
    overflow: frozenset[str]
    deployment: Deployment | None
    error: InfeasibleError | None = None
    spare: frozenset[str] = frozenset()

    @property
    def value(self) -> int:
        """What is minimised."""
        assert self.deployment is not None
        return self.deployment.mapping.objective_value

    def streams_to(self, home: str) -> bool:
        """Whether a task streams constants to this memory."""
        assert self.deployment is not None
        return any(task.assignment.schedule.streamed(home) for task in self.deployment.program.tasks)


@dataclass(frozen=True)
class Concurrent:
    """A program whose units run at the same time, and its model."""

    model: Model
    deployment: Deployment
