"""Integers in float tensors as QuantLib writes them, and what the passes make of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import PassContext
from match_core.passes.pipeline import run_passes
from match_quant.narrow_integers import NARROW_INTEGERS
from match_quant.unsigned_activations import UNSIGNED_ACTIVATIONS
from numpy.typing import NDArray

from tests.pass_checks import VerifyPass

RANDOM = np.random.default_rng(41)
ModelOf = Callable[..., Model]
Arrays = Mapping[str, NDArray[np.generic]]
#: A requantisation as QuantLib writes it; constants m and b are looked up by the operator's name.
RQ = "RequantShift <div = {div}, n_levels = 256, signed = {signed}>"


def rq(x: str, signed: int = 1, div: int = 1024, m: str = "m", b: str = "b") -> str:
    return f"{RQ.format(div=div, signed=signed)} ({x}, {m}, {b})"


def whole(low: int, high: int, *shape: int) -> NDArray[np.float32]:
    return RANDOM.integers(low, high, shape).astype(np.float32)


def ops(model: Model) -> Counter[str]:
    return Counter(qualified_op(node).rsplit("::", 1)[-1] for node in model.graph.nodes)


def narrowed(model: Model, context: PassContext, low: int = -128, high: int = 256) -> Model:
    """After both passes, each checked on random integers in the range."""
    for seed in range(2):
        generator = np.random.default_rng(seed)
        inputs = {
            t.name: generator.integers(low, high, [int(n) for n in t.shape]).astype(t.dtype) for t in model.graph.inputs
        }
        result = run_passes(model, (NARROW_INTEGERS, UNSIGNED_ACTIVATIONS), context, [VerifyPass(inputs)])
    assert not ops(result)["AsInteger"]
    return result
