"""Limits of the expansion, so that no file keeps the compiler busy for long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError

if TYPE_CHECKING:
    from match_core.load.static.values import Scope

#: Most nodes in unrolled loops of the whole model, including nodes that become constants.
MOST_UNROLLED = 20_000
#: Most function calls, and most nodes in bodies (functions that call functions double with every level).
MOST_CALLS = 20_000
MOST_INLINED = 100_000
#: Most bytes of constants that bodies contain or that are computed.
MOST_CONSTANT_BYTES = 1 << 28
#: Deepest nesting of functions and branches.
MOST_NESTED = 48
_TOO_LONG = "the model's loops are too long to be unrolled"


@dataclass(slots=True)
class Limits:
    """Counts the expansion, and refuses a model that exceeds the limits above."""

    source: str
    unrolled: int = 0
    inlined: int = 0
    constant_bytes: int = 0
    calls: int = 0

    def count(self, scope: Scope, path: str) -> None:
        """Count one node. Errors: ModelError MATCH-F018 (loops), MATCH-F016 (functions)."""
        if scope.repeated:
            self.make(path, 1)
        self.inlined += not scope.is_main
        if self.inlined > MOST_INLINED:
            raise self.refuse(path, f"the bodies have more than {MOST_INLINED} operators in total")

    def make(self, path: str, count: int) -> None:
        """Count operators or tensors that repetition adds. Errors: ModelError MATCH-F018."""
        self.unrolled += count
        if self.unrolled > MOST_UNROLLED:
            why = f"they unroll to more than {MOST_UNROLLED} operators"
            help_ = ("give the loops a smaller trip count", "call the network once for each step")
            raise ModelError("MATCH-F018", _TOO_LONG, f"{self.source}, node {path!r}", why, help_)

    def hold(self, path: str, size_bytes: int) -> None:
        """Count a constant. Errors: ModelError MATCH-F018."""
        self.constant_bytes += size_bytes
        if self.constant_bytes > MOST_CONSTANT_BYTES:
            why = f"computed and copied constants take more than {MOST_CONSTANT_BYTES} bytes"
            help_ = ("compute large constants before the export", "move constants out of loops and functions")
            raise ModelError("MATCH-F018", _TOO_LONG, f"{self.source}, constant {path!r}", why, help_)

    def enter(self, scope: Scope, path: str, key: tuple[str, str]) -> None:
        """Count a call of the function ``key``. Errors: ModelError MATCH-F016."""
        self.calls += 1
        if key in scope.callers:
            raise self.refuse(path, f"function {key[1]!r} calls itself")
        if self.calls > MOST_CALLS:
            raise self.refuse(path, f"there are more than {MOST_CALLS} calls")

    def nest(self, scope: Scope, path: str) -> int:
        """The depth of a body inside ``scope``. Errors: ModelError MATCH-F016."""
        if scope.depth >= MOST_NESTED:
            raise self.refuse(path, f"bodies are nested more than {MOST_NESTED} deep")
        return scope.depth + 1

    def refuse(self, path: str, why: str) -> ModelError:
        """The error for a function that cannot be inlined."""
        what, help_ = "the model's local functions cannot be inlined", "onnx.inliner.inline_local_functions(model)"
        return ModelError("MATCH-F016", what, f"{self.source}, node {path!r}", why, (f"inline them before: {help_}",))
