"""Running a model in ONNX Runtime, without its optimisations: the reference that everything is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.errors import ToolError
from match_core.ir.half_reference import has_halves, rounded_halves
from match_core.ir.model import Model

if TYPE_CHECKING:
    import onnx

#: Element types, as ONNX Runtime spells their beginnings, whose arrays it neither takes nor gives.
_NARROW = ("bfloat16", "float8", "float4", "int4", "uint4", "int2", "uint2")

Arrays = dict[str, NDArray[np.generic]]


class ReferenceRunner:
    """Runs ``model`` (a Model or an ONNX proto, which is not changed) on the CPU: no graph optimisations, one thread.
    Operators on float16 compute in float32, every result is rounded.

    ``fetch``: names of further tensors to return besides the graph outputs.
    Errors: MATCH-R001 if onnxruntime is not installed, MATCH-R002 if it refuses the model, MATCH-R003 if inputs or
    outputs are of types that it does not exchange with numpy.
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
        if has_halves(proto):
            proto = rounded_halves(proto)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's exception types share no public base class
            raise ToolError(
                "MATCH-R002",
                "ONNX Runtime refuses the model",
                name,
                str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__,
                ("check the model with onnx.checker",),
            ) from error
        self._check_types(name)
        self.input_names: tuple[str, ...] = tuple(i.name for i in self._session.get_inputs())
        self.output_names: tuple[str, ...] = tuple(o.name for o in self._session.get_outputs())

    def _check_types(self, where: str) -> None:
        for tensor in (*self._session.get_inputs(), *self._session.get_outputs()):
            if tensor.type.removeprefix("tensor(").startswith(_NARROW):
                raise ToolError(
                    "MATCH-R003",
                    "ONNX Runtime has no numpy arrays of this element type",
                    where,
                    f"{tensor.name!r} is {tensor.type}",
                    ("match run runs the program without comparing", "or put a Cast to float at the model's ends"),
                )

    def run(self, inputs: Mapping[str, NDArray[np.generic]]) -> Arrays:
        """One inference: graph inputs by name -> all outputs (and fetched tensors) by name."""
        feed = {name: inputs[name] for name in self.input_names}
        return dict(zip(self.output_names, self._session.run(None, feed), strict=True))


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
