"""Checking passes by running the model before and after each one in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass
from match_verify.pass_check import difference, random_inputs
from match_verify.reference import Arrays, ReferenceRunner
from numpy.typing import NDArray


class PassBrokeModelError(AssertionError):
    """A pass changed what the model computes: a fault of the pass, not of the user."""


class VerifyPass:
    """An observer that runs the model around every pass and raises PassBrokeModelError naming the pass.

    Passes that keep results (``exact`` True) must give equal bits; float passes (False) results within 1e-5 of the
    tensor's largest value, 2^-8 in float16 (integer outputs may then move by 1 where a value lay between two); passes
    that choose arithmetic (None) must only run and keep names, types and shapes of the outputs.
    """

    def __init__(self, inputs: Mapping[str, NDArray[np.generic]] | None = None, seed: int = 0) -> None:
        self._inputs = dict(inputs) if inputs is not None else None
        self._seed = seed
        self._expected: Arrays | None = None

    def before_pass(self, item: Pass, model: Model) -> None:
        """Compute the expected outputs, unless the last pass's are at hand."""
        if self._inputs is None:
            self._inputs = random_inputs(model, self._seed)
        if self._expected is None:
            self._expected = ReferenceRunner(model).run(self._inputs)

    def after_pass(self, item: Pass, before: Model, after: Model) -> None:
        """Compare."""
        if self._inputs is None or self._expected is None:
            raise ValueError("after_pass without before_pass")
        if after is before:
            return
        got = ReferenceRunner(after).run(self._inputs)
        if list(got) != list(self._expected):
            raise PassBrokeModelError(f"pass {item.name!r} changed the outputs to {list(got)}")
        for name, expected in self._expected.items():
            fault = difference(expected, got[name], item.exact)
            if fault is not None:
                raise PassBrokeModelError(f"pass {item.name!r} changed output {name!r}: {fault}")
        self._expected = got
