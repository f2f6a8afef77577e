from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from match_core.contract.hardware import Memory, RequantSpec, Soc, Unit
from match_core.contract.model import Model
from match_core.contract.passes import PassContext
from match_core.load.load import load_model, model_from_proto
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))  # tests are imported by path

SHARED_MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"
#: Limits as a cluster and an accelerator have them that work in 32 bits, or slower in 64.
FAST = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=32)
EXACT = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=64, shift_max=62)


def context(*units: Unit, precision: str = "exact") -> PassContext:
    """A Soc of a host and these units."""
    host = Unit("host", "a host core")
    names = ("host", *(unit.name for unit in units))
    soc = Soc("soc", "for tests", "host", names, (Memory("L2", 2, 1 << 20),), (), "L2")
    return PassContext(soc, (host, *units), precision)  # type: ignore[arg-type]


@pytest.fixture
def soc_of() -> Callable[..., PassContext]:
    """``context``: a Soc of a host and the given units."""
    return context


@pytest.fixture
def accelerated() -> PassContext:
    """uint8 activations in NHWC, 32-bit products, 64-bit ones where they are needed."""
    return context(Unit("acc", "an accelerator", "L2", "NHWC", FAST, EXACT))


@pytest.fixture
def halves() -> PassContext:
    """Float16 activations in NHWC."""
    return context(Unit("acc", "an accelerator", "L2", "NHWC", spatial_types=("float16",)))


@pytest.fixture
def fast() -> PassContext:
    """The same, with 32-bit products wherever they keep within 1 LSB."""
    return context(Unit("acc", "an accelerator", "L2", "NHWC", FAST, EXACT), precision="fast")


@pytest.fixture
def narrow() -> PassContext:
    """uint8 activations in NHWC, 32-bit products only."""
    return context(Unit("acc", "an accelerator", "L2", "NHWC", FAST), precision="fast")


@pytest.fixture
def host_only() -> PassContext:
    return context()


@pytest.fixture
def model_of() -> Callable[..., Model]:
    """A Model of ONNX text; constants may be given as arrays by name."""

    def make(text: str, constants: Mapping[str, NDArray[np.generic]] | None = None) -> Model:
        proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]> {text}')
        for name, values in (constants or {}).items():
            proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(values), name))
        return model_from_proto(proto, "net", "net.onnx")

    return make


@pytest.fixture
def shared() -> Callable[[str], tuple[Model, list[dict[str, NDArray[np.generic]]]]]:
    """A model of ../shared/models with its stored input samples; skips where it is absent."""

    def load(name: str) -> tuple[Model, list[dict[str, NDArray[np.generic]]]]:
        folder = SHARED_MODELS / name
        if not (folder / "model.onnx").is_file():
            pytest.skip(f"../shared/models/{name} is not on this machine")
        arrays = dict(np.load(folder / "inputs.npz"))
        count = len(next(iter(arrays.values())))
        return load_model(folder / "model.onnx"), [{k: v[i] for k, v in arrays.items()} for i in range(count)]

    return load
