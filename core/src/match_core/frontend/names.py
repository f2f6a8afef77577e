"""Node names: every node gets a unique one, and the name that the source gave it is remembered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from match_core.errors import ModelError

if TYPE_CHECKING:
    import onnx

#: More calls than this come from no exporter (functions that call functions double with every level).
_MAX_CALLS = 20_000
#: What the inliner appends to names inside a function.
_INLINER_SUFFIX = re.compile(r"__\d+$")


def name_nodes(proto: onnx.ModelProto, known: dict[str, tuple[str, ...]] | None = None) -> dict[str, tuple[str, ...]]:
    """Make the names of the main graph's nodes unique and non-empty (in place); returns unique name -> source names.

    A node without a name is called ``<Op>_<index>``, its place in the file. Names in ``known`` keep their sources.
    """
    given = {node.name for node in proto.graph.node}
    seen: set[str] = set()
    provenance: dict[str, tuple[str, ...]] = {}
    for index, node in enumerate(proto.graph.node):
        source = node.name or f"{node.op_type}_{index}"
        name, number = source, 1
        while name in seen or (name != node.name and name in given):
            number += 1
            name = f"{source}_{number}"
        provenance[name] = (known or {}).get(node.name, (source,))
        seen.add(name)
        node.name = name
    return provenance


def inline_functions(
    proto: onnx.ModelProto, provenance: dict[str, tuple[str, ...]], source: str
) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The model without local functions. A node of a body is called after the call and its own name:
    ``call/node``. Errors: ModelError MATCH-F016 (the bodies cannot be put in)."""
    if not proto.functions:
        return proto, provenance
    import onnx
    import onnx.inliner

    marked = onnx.ModelProto()
    marked.CopyFrom(proto)
    library = {(f.domain, f.name): f for f in proto.functions}
    del marked.functions[:]
    try:
        _specialise(marked.graph.node, library, "", marked, ())
        inlined = onnx.inliner.inline_local_functions(marked, True)
    except (RuntimeError, RecursionError) as error:
        raise ModelError(
            "MATCH-F016",
            "the model's local functions cannot be inlined",
            f"{source}, {len(proto.functions)} functions",
            str(error).strip()[:300] or "the inliner gives no reason",
            ("inline them before: onnx.inliner.inline_local_functions(model)",),
        ) from error
    sources = {
        node.name: (_INLINER_SUFFIX.sub("", node.name),)
        for node in inlined.graph.node
        if node.name and node.name not in provenance
    }
    used = {node.domain for node in inlined.graph.node} | {""}
    imports = [entry for entry in inlined.opset_import if entry.domain in used]
    del inlined.opset_import[:]
    inlined.opset_import.extend(imports)
    return inlined, name_nodes(inlined, {**provenance, **sources})


def _specialise(
    nodes: onnx.ModelProto,  # a repeated field of nodes
    library: dict[tuple[str, str], onnx.FunctionProto],
    prefix: str,
    model: onnx.ModelProto,
    callers: tuple[tuple[str, str], ...],
) -> None:
    """Give every call a function of its own whose nodes are named after the call."""
    import onnx

    for index, node in enumerate(nodes):
        if prefix:
            node.name = f"{prefix}/{node.name or f'{node.op_type}_{index}'}"
        function = library.get((node.domain, node.op_type))
        if function is None:
            continue
        key = (node.domain, node.op_type)
        if key in callers:
            raise RuntimeError(f"function {function.name!r} calls itself")
        if len(model.functions) >= _MAX_CALLS:
            raise RuntimeError(f"there are more than {_MAX_CALLS} calls")
        own = onnx.FunctionProto()
        own.CopyFrom(function)
        own.name = f"{function.name}_{len(model.functions)}"
        node.op_type = own.name
        entry = model.functions.add()
        _specialise(own.node, library, node.name, model, (*callers, key))
        entry.CopyFrom(own)
