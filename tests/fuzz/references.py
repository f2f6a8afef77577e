"""Inputs of a mutated model and what two references make of them: ONNX Runtime and the standard's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
from match_verify.exact_products import with_exact_products

from tests.conformance.batch import element_type
from tests.conformance.programs import Program
from tests.conformance.suite import Array, Sample
from tests.fuzz.explained import output_steps
from tests.fuzz.tflite_cases import as_onnx

SAMPLES = 2


def random_samples(program: Program, number: int) -> tuple[Sample, ...]:
    """Inputs of each type: small, and integers of the whole range in the second sample."""
    random = np.random.default_rng(number)
    made = []
    for sample in range(SAMPLES):
        arrays = []
        for tensor in program.inputs:
            dtype = element_type(tensor.dtype)
            if dtype.kind == "b":
                arrays.append(random.integers(0, 2, tensor.shape).astype(bool))
            elif dtype.kind in "iu":
                low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if sample else (0, 3)
                arrays.append(random.integers(low, high, tensor.shape, dtype, endpoint=True))
            else:
                arrays.append(random.normal(size=tensor.shape).astype(np.float32).astype(dtype))
        made.append(Sample(tuple(np.asarray(array) for array in arrays), ()))
    return tuple(made)


Results = list[list[tuple[Array, ...]] | None]


def references(path: Path, program: Program, samples: Sequence[Sample]) -> tuple[Results, dict[str, float]]:
    """For each reference the outputs of all samples; None where it cannot run the model. The step of each output that
    is a dequantised integer."""
    path = as_onnx(path)
    feeds = [{t.name: a for t, a in zip(program.inputs, sample.inputs, strict=True)} for sample in samples]
    results: Results = []
    for session in (_runtime, _standard):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = session(path)
                results.append([tuple(map(np.asarray, run(feed))) for feed in feeds])
        except Exception:  # references refuse models with errors of any type
            results.append(None)
    return results, output_steps(onnx.load(path, load_external_data=False))


Run = Callable[[dict[str, Array]], list[Array]]


def _runtime(path: Path) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    proto = with_exact_products(onnx.load(path))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    known = {value.name for value in session.get_inputs()}

    def run(feed: dict[str, Array]) -> list[Array]:
        outputs: list[Array] = session.run(None, {name: array for name, array in feed.items() if name in known})
        return outputs

    return run


def _standard(path: Path) -> Run:
    from onnx.reference import ReferenceEvaluator

    session = ReferenceEvaluator(onnx.load(path))

    def run(feed: dict[str, Array]) -> list[Array]:
        outputs: list[Array] = session.run(None, dict(feed))
        return outputs

    return run


def differs(ours: Sequence[tuple[Array, ...]], theirs: Sequence[tuple[Array, ...]], steps: Sequence[float] = ()) -> str:
    """Where outputs are further apart than rounding explains; empty where nowhere. ``steps``: a step of each output."""
    for sample, (mine, wanted) in enumerate(zip(ours, theirs, strict=True)):
        if len(mine) != len(wanted):
            return f"{len(mine)} outputs, not {len(wanted)}"
        for index, (a, b) in enumerate(zip(mine, wanted, strict=True)):
            if a.size != b.size:
                return f"output {index} has shape {a.shape}, not {b.shape}"
            integers = a.dtype.kind in "iub"
            rtol = 2.0**-6 if a.dtype.name in ("bfloat16", "float16") else 2e-3
            x, y = (v.reshape(-1).astype(np.float64) for v in (a, b))
            finite = np.abs(y[np.isfinite(y)])
            atol = 1.0 if integers else rtol * float(finite.max(initial=1e-3))
            atol = max(atol, 1.001 * steps[index]) if steps else atol
            with np.errstate(all="ignore"):
                close = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
            if not close.all():
                place = int(np.argmin(close))
                return f"sample {sample}, output {index}: {x[place]} instead of {y[place]}"
    return ""
