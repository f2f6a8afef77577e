"""What a float network would cost in 8 bits: quantised with the ranges of random samples, and planned again.

The ranges change multipliers, and so which requantisation a layer needs, but not the layers; the weights are the
network's own.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.errors import MatchError
from match_core.contract.observe import NullObserver
from match_core.pipeline import decide, prepare

from match_report.npz import write_arrays
from match_report.samples import SEED, random_array

if TYPE_CHECKING:
    from match_core.contract.compilation import Planned
    from match_core.contract.model import Model
    from match_core.pipeline import CompileRequest
    from match_core.plugin.facade import Plugins
    from numpy.typing import NDArray

_SAMPLES = 4


def quantised_plan(model: Model, request: CompileRequest, plugins: Plugins) -> Planned | None:
    """The program of the network in 8 bits; None without ``match-quant``, or if the network cannot be quantised or
    does not fit. ``model``: the network as it is loaded."""
    try:
        from match_quant.quantize import QuantizeRequest, quantize_model
    except ImportError:
        return None
    with tempfile.TemporaryDirectory(prefix="match-check-") as folder:
        data, output = Path(folder, "random.npz"), Path(folder, f"{model.name}.onnx")
        try:
            write_arrays(data, _random_inputs(model))
            quantize_model(QuantizeRequest(request.model, data, output, dims=request.dims), plugins.front_ends())
            planned, _ = decide(
                prepare(replace(request, model=output, dims=()), plugins, NullObserver()), plugins, NullObserver()
            )
        except MatchError:
            return None
    return planned


def _random_inputs(model: Model) -> dict[str, NDArray[np.generic]]:
    generator = np.random.default_rng(SEED)
    shapes = {tensor.name: (_SAMPLES, *(int(size) for size in tensor.shape)) for tensor in model.graph.inputs}
    return {t.name: random_array(generator, np.dtype(t.dtype), shapes[t.name]) for t in model.graph.inputs}
