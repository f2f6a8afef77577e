"""Checks that the compiler accepts the model, before it changes anything: operators, types, static shapes, batch 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError, did_you_mean
from match_core.ir.naming import comment_text
from match_core.ir.qoperator import CONTRIB_OPERATORS, MICROSOFT
from match_core.load.dims import size_advice
from match_core.load.early import EARLY
from match_core.load.integer_operators import DOMAIN
from match_core.load.operands import check_operands
from match_core.load.sound import graphs_of
from match_core.load.static.values import static_shapes
from match_core.load.without_program import refuse_without_program
from match_core.load.written.table import is_known

if TYPE_CHECKING:
    import onnx

_SPATIAL = (
    *("Conv", "ConvInteger", "QLinearConv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"),
    *("GlobalAveragePool", "GlobalMaxPool", "QLinearAveragePool", "QLinearGlobalAveragePool"),
)
_STATIC_HELP = "or export the model with fixed sizes"


def check_nodes(proto: onnx.ModelProto, source: str, origins: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse operators that no part of the compiler supports. ``origins``: source names of nodes.

    Errors: ModelError MATCH-F007 (a subgraph), MATCH-F009 (unknown operator), MATCH-F019 (random numbers, text, files).
    """
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    for node in proto.graph.node:
        where = _place(node, source, origins)
        if any(a.HasField("g") or a.graphs for a in node.attribute):
            what = f"control flow is not supported: {comment_text(node.op_type)}"
            why = "the node has a subgraph, and the compiler does not know this kind of control flow"
            raise ModelError("MATCH-F007", what, where, why, ("unroll loops and resolve conditions before the export",))
        refuse_without_program(node, where)
        _check_operator(node, versions, where)


def check_values(proto: onnx.ModelProto, source: str) -> None:
    """Refuse inputs, outputs and constants that are not dense tensors of numbers.

    Errors: ModelError MATCH-F008 (sparse, string, sequence or optional values).
    """
    import onnx

    if proto.graph.sparse_initializer:
        why = f"the number of sparse constants is {len(proto.graph.sparse_initializer)}"
        help_ = ("store the constants densely",)
        raise ModelError("MATCH-F008", "sparse constants are not supported", source, why, help_)
    strings = [t.name for t in proto.graph.initializer if t.data_type == onnx.TensorProto.STRING]
    odd = [v.name for v in (*proto.graph.input, *proto.graph.output) if not _is_number(v)]
    for name in (*strings, *odd):
        what = "only dense tensors of numbers are supported"
        why = "it holds strings, a sequence, an optional or a sparse tensor"
        raise ModelError("MATCH-F008", what, f"{source}, tensor {name!r}", why, ("remove the tensor from the model",))


def check_operators(proto: onnx.ModelProto, source: str) -> None:
    """Refuse operators of the default domain that its opset does not have, which the ONNX checker calls invalid.

    Errors: ModelError MATCH-F009.
    """
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    own = {(function.domain, function.name) for function in proto.functions}
    for graph in graphs_of(proto):
        for node in graph.node:
            if node.domain in ("", "ai.onnx") and (node.domain, node.op_type) not in own:
                _check_operator(node, versions, _place(node, source, {}))


def _check_operator(node: onnx.NodeProto, versions: dict[str, int], where: str) -> None:
    import onnx

    domain = "" if node.domain == "ai.onnx" else node.domain
    if (domain == MICROSOFT and node.op_type in CONTRIB_OPERATORS) or domain in (DOMAIN, EARLY):
        return
    version = versions.get(domain, versions.get("ai.onnx", 0) if not domain else 0)
    if is_known(domain, node.op_type) or (not domain and not 0 < version <= onnx.defs.onnx_opset_version()):
        return
    known = domain == "" and onnx.defs.has(node.op_type, max_inclusive_version=version, domain="")
    if known and not onnx.defs.get_schema(node.op_type, version, "").deprecated:
        return
    help_: tuple[str, ...] = (
        "replace the operator with standard ones",
        "or define it as a local function in the model",
    )
    if domain:
        why = f"domain {domain!r} is unknown" if domain != MICROSOFT else "only other operators of it are supported"
    elif known:
        why = f"it is deprecated in opset {version}"
    else:
        why, more = _missing(node.op_type, version)
        help_ = (*more, *help_)
    name = comment_text(f"{domain}::{node.op_type}" if domain else node.op_type)
    raise ModelError("MATCH-F009", f"unknown operator {name}", where, why, help_)


def _missing(operator: str, version: int) -> tuple[str, tuple[str, ...]]:
    """Why the default domain has no such operator in the model's opset, and what would help."""
    import onnx

    schemas = [entry for entry in onnx.defs.get_all_schemas_with_history() if entry.domain == ""]
    first = min((entry.since_version for entry in schemas if entry.name == operator), default=None)
    if first is not None:
        return f"opset {version} has no such operator; it appears in opset {first}", (f"export with opset {first}",)
    return "no opset of ONNX's default domain has such an operator", did_you_mean(
        operator, (entry.name for entry in schemas)
    )


def check_shapes(proto: onnx.ModelProto, source: str, origins: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse sizes that are not fixed, and batch sizes above 1. ``origins``: source names of nodes.

    Errors: ModelError MATCH-F013 (dynamic graph input), MATCH-F014 (a shape or type that cannot be inferred),
    MATCH-F015 (batch size), MATCH-F006 (operands that do not fit together).
    """
    import onnx

    constants = {tensor.name for tensor in proto.graph.initializer}
    inputs = [value for value in proto.graph.input if value.name not in constants]
    for value in inputs:
        sizes = _sizes(value)
        dynamic = [str(size) for size in sizes or () if not isinstance(size, int)]
        if sizes is None or dynamic:
            raise ModelError(
                "MATCH-F013",
                "the model's input has no fixed size",
                f"{source}, input {value.name!r}",
                f"shape {_text(sizes)}: {', '.join(dynamic)} not fixed" if sizes else "it has no shape",
                (size_advice(proto), _STATIC_HELP) if sizes else (_STATIC_HELP[3:],),
            )
    known = {value.name: value for value in (*inputs, *proto.graph.value_info, *proto.graph.output)}
    for node in proto.graph.node:
        for name in node.output:
            _check_tensor(node, name, known.get(name), _place(node, source, origins, f", output {name!r}"))
        _check_batch(node, known, source, origins)
    tensors = {tensor.name: tensor for tensor in proto.graph.initializer}
    shapes = {name: tuple(tensor.dims) for name, tensor in tensors.items()} | static_shapes(known.values())
    for node in proto.graph.node:
        listed = tensors.get(node.input[1]) if len(node.input) == 2 and node.op_type.startswith("Reduce") else None
        axes = onnx.numpy_helper.to_array(listed).reshape(-1).tolist() if listed is not None else None
        check_operands(node, shapes, axes, _place(node, source, origins))


def _check_tensor(node: onnx.NodeProto, name: str, value: onnx.ValueInfoProto | None, where: str) -> None:
    if not name:
        return
    sizes = _sizes(value) if value is not None else None
    if sizes is not None and all(isinstance(size, int) for size in sizes):
        return
    shown = "unknown" if sizes is None else _text(sizes)
    what = f"the size of a result of {comment_text(node.op_type)} is not known before the model runs"
    help_ = ("replace computed shapes with constants (for example with onnxsim)", _STATIC_HELP)
    raise ModelError("MATCH-F014", what, where, f"its shape is {shown}", help_)


def _check_batch(
    node: onnx.NodeProto, known: dict[str, onnx.ValueInfoProto], source: str, origins: Mapping[str, tuple[str, ...]]
) -> None:
    value = known.get(node.input[0]) if node.input else None
    sizes = _sizes(value) if value is not None else None
    if node.op_type not in _SPATIAL or not sizes or len(sizes) < 3 or sizes[0] == 1:
        return
    where = _place(node, source, origins, f", input {node.input[0]!r}")
    what, why = "only models with batch size 1 are supported", f"shape {_text(sizes)}: the batch size is {sizes[0]}"
    raise ModelError("MATCH-F015", what, where, why, ("export the model with batch size 1",))


def _place(node: onnx.NodeProto, source: str, origins: Mapping[str, tuple[str, ...]], tensor: str = "") -> str:
    """The node in the file; ``tensor`` is named if it is in the file too."""
    names = origins.get(node.name, (node.name,))
    shown = tensor if names == (node.name,) else ""
    return f"{source}, node {', '.join(map(repr, names))} ({comment_text(node.op_type)}){shown}"


def _is_number(value: onnx.ValueInfoProto) -> bool:
    import onnx

    tensor = value.type.HasField("tensor_type")
    return tensor and value.type.tensor_type.elem_type not in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING)


def _sizes(value: onnx.ValueInfoProto) -> list[int | str] | None:
    """Sizes as numbers, or names (or "?") of sizes that are not fixed; None if there is no shape."""
    if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
        return None
    if not value.type.tensor_type.elem_type:
        return None
    dims = value.type.tensor_type.shape.dim
    return [int(d.dim_value) if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or "?" for d in dims]


def _text(sizes: list[int | str]) -> str:
    return "[" + ", ".join(str(size) for size in sizes) + "]"
