"""Runs a model in ONNX Runtime without optimisations: the reference for all comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.errors import ToolError
from match_core.contract.model import Model
from numpy.typing import NDArray

from match_verify.exact_products import with_exact_products
from match_verify.narrow_reference import has_narrow, rounded_narrow, with_numpy_ends

if TYPE_CHECKING:
    import onnx

#: Types that hold integers of 4 and 2 bits, by the first letter of their names.
_BYTES = {"i": np.int8, "u": np.uint8}

Arrays = dict[str, NDArray[np.generic]]
Run = Callable[["Sequence[str] | None", "Mapping[str, NDArray[np.generic]]"], "list[NDArray[np.generic]]"]


def _refused(name: str, error: Exception) -> ToolError:
    """The error for what ONNX Runtime raises, by its first line."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return ToolError(
        "MATCH-R002", "ONNX Runtime refuses the model", name, reason, ("check the model with onnx.checker",)
    )


class ReferenceRunner:
    """Runs ``model`` (a Model or an ONNX proto, which is not changed) on the CPU: no graph optimisations, one thread.
    Operators on float16, bfloat16 and narrower floats compute in float32, every result is rounded. ONNX's own
    evaluator runs a valid model for which ONNX Runtime has no kernels.

    ``fetch``: names of tensors to return in addition to the graph outputs.
    Errors: MATCH-R001 if onnxruntime is not installed, MATCH-R002 if it refuses the model when it
    loads or runs it.
    """

    def __init__(self, model: Model | onnx.ModelProto, fetch: Sequence[str] = ()) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ToolError(
                "MATCH-R001",
                "cannot run the reference",
                "onnxruntime",
                f"the package cannot be imported: {error}",
                ("pip install onnxruntime",),
            ) from error
        proto = model.to_onnx() if isinstance(model, Model) else model
        name = model.name if isinstance(model, Model) else model.graph.name
        if fetch:
            proto = _with_outputs(proto, fetch)
        if has_narrow(proto):
            proto = rounded_narrow(proto)
        proto, self._stated = with_numpy_ends(proto)
        constants = {tensor.name for tensor in proto.graph.initializer}
        self.input_names: tuple[str, ...] = tuple(i.name for i in proto.graph.input if i.name not in constants)
        self.output_names: tuple[str, ...] = tuple(o.name for o in proto.graph.output)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._run: Run
        try:
            self._run = onnxruntime.InferenceSession(
                with_exact_products(proto).SerializeToString(), options, providers=["CPUExecutionProvider"]
            ).run
        except Exception as error:  # onnxruntime's exception types share no public base class
            evaluated = _evaluator(proto, name)
            if evaluated is None:
                raise _refused(name, error) from error
            self._run = evaluated
        self._name = name

    def run(self, inputs: Mapping[str, NDArray[np.generic]]) -> Arrays:
        """One inference: graph inputs by name -> all outputs (and fetched tensors) by name."""
        feed = {name: self._fed(name, inputs[name]) for name in self.input_names}
        try:
            results = self._run(None, feed)
        except Exception as error:  # as above
            raise _refused(self._name, error) from error
        found = dict(zip(self.output_names, results, strict=True))
        return {name: np.asarray(array).astype(self._stated.get(name, array.dtype)) for name, array in found.items()}

    def _fed(self, name: str, array: NDArray[np.generic]) -> NDArray[np.generic]:
        """The values in a type that ONNX Runtime accepts (a scalar of a sample is not an array)."""
        if name not in self._stated:
            return np.asarray(array)
        return array.astype(np.float32 if "float" in self._stated[name].name else _BYTES[self._stated[name].name[0]])


#: Also what the evaluator raises for a damaged image, and where no library for images is installed.
_UNABLE = (ArithmeticError, ImportError, LookupError, OSError)


def _evaluator(proto: onnx.ModelProto, where: str) -> Run | None:
    """ONNX's own evaluator; None if the model is not valid, or if it does not support an operator either."""
    import onnx
    from onnx import inliner
    from onnx.reference import ReferenceEvaluator

    try:
        onnx.checker.check_model(proto, full_check=True)
        evaluator = ReferenceEvaluator(inliner.inline_local_functions(proto))  # it requires all inputs of functions
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return None
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        return None

    def run(names: Sequence[str] | None, feed: Mapping[str, NDArray[np.generic]]) -> list[NDArray[np.generic]]:
        try:
            return [np.asarray(array) for array in evaluator.run(names, dict(feed))]
        except (*_UNABLE, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            raise ToolError(
                "MATCH-R002",
                "neither ONNX Runtime nor ONNX's own evaluator runs the model",
                where,
                str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__,
                ("match run runs the program without comparing",),
            ) from error

    return run


def _with_outputs(proto: onnx.ModelProto, names: Sequence[str]) -> onnx.ModelProto:
    import onnx

    changed = onnx.ModelProto()
    changed.CopyFrom(proto)
    typed = {info.name: info for info in (*proto.graph.value_info, *proto.graph.input)}
    have = {output.name for output in proto.graph.output}
    for name in names:
        if name in have:
            continue
        have.add(name)
        changed.graph.output.append(typed.get(name) or onnx.ValueInfoProto(name=name))
    return changed
