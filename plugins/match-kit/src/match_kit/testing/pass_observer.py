"""Observes a package's passes on a sample model: whether models stay valid, and results as exact as a pass claims."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.errors import ToolError

if TYPE_CHECKING:
    import numpy as np
    from match_core.contract.model import Model
    from match_core.contract.passes import Pass, Precision
    from match_core.plugin.facade import Plugins
    from match_verify.reference import ReferenceRunner
    from numpy.typing import NDArray

_CLAIMS = {True: "it claims exact=True", False: "it claims exact=False: real values stay", None: "it claims exact=None"}


class _StopError(Exception):
    """The rest of the passes would work on a broken model."""


class PassObserver:
    """Observes the passes of one package on one model; ``invalid`` and ``changed``: texts of the first fault."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own
        self.name = self.invalid = self.changed = ""
        self._inputs: dict[str, NDArray[np.generic]] | None = None
        self._expected: dict[str, NDArray[np.generic]] = {}

    def before_pass(self, item: Pass, model: Model) -> None:
        """Compute what the model gives without the pass."""
        from match_verify.pass_check import random_inputs
        from match_verify.reference import ReferenceRunner

        if item.name in self.own:
            self.name = item.name
            self._inputs = self._inputs or random_inputs(model)
            self._expected = ReferenceRunner(model).run(self._inputs)

    def after_pass(self, item: Pass, before: Model, after: Model) -> None:
        """Check the model, then compare."""
        if item.name not in self.own or after is before:
            return
        runner = self._checked(after)
        got = runner.run(self._inputs or {})
        from match_verify.pass_check import difference

        for name, expected in self._expected.items():
            wrong = "it is no longer an output" if name not in got else difference(expected, got[name], item.exact)
            if wrong:
                self.changed = f"output {name}: {wrong}; {_CLAIMS[item.exact]}"
                raise _StopError

    def _checked(self, model: Model) -> ReferenceRunner:
        import onnx
        from match_verify.reference import ReferenceRunner

        try:
            onnx.checker.check_model(model.to_onnx(), full_check=True)
            return ReferenceRunner(model)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ToolError) as error:
            text = error.why if isinstance(error, ToolError) else str(error)
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            self.invalid = lines[0] if lines else type(error).__name__
            raise _StopError from error


def observe_passes(path: Path, target: str, precision: Precision, package: str, plugins: Plugins) -> PassObserver:
    """What the passes of ``package`` did to the model in a file, which all passes for ``target`` transform."""
    from match_core.load.load import load_model
    from match_core.pipeline import CompileRequest, pass_context, transform

    soc = plugins.soc(target)
    own = (item.name for item in plugins.transforms(soc) if _owner(item) == package)
    observer = PassObserver(frozenset(own))
    if observer.own:
        request = CompileRequest(model=path, target=target, precision=precision)
        context = pass_context(request, soc, plugins.units_of(soc))
        with contextlib.suppress(_StopError):
            transform(load_model(path), context, plugins, request, [observer])
    return observer


def _owner(item: Pass) -> str:
    """The distribution whose guard is around the pass."""
    return str(item.run.guard.plugin.distribution)  # type: ignore[attr-defined]  # a GuardedFunction
