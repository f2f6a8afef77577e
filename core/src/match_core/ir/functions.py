"""Our operators as ONNX local functions with plain ONNX bodies.

``match.arith``: integer requantisation, addition, softmax, tables, sign offsets. ``match.nhwc``: spatial operators on
NHWC activations. ``match.form``: the same tensor in another stored form. The bodies are the definition, which
the emitted C must equal bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.model import OPSET

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs

ARITH = "match.arith"
#: Version of all domains.
VERSION = 1

_KINDS = {"$SUFFIX": {"U8": 2, "I8": 3}, "$ANY": {"U8": 2, "I8": 3, "I16": 5}}  # mark -> suffix -> TensorProto type


def _texts() -> Iterable[str]:
    """The functions of ``functions.txt``."""
    _, *paragraphs = Path(__file__).with_name("functions.txt").read_text("utf-8").split("\n\n")
    powers, limits = (", ".join(str(1 << shift) for shift in shifts) for shifts in (range(26), range(52, 0, -2)))
    for text in paragraphs:
        body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        domain, body = body[1:].split("]\n", 1) if body.startswith("[") else (ARITH, body)
        body = body.replace("$POWERS", powers).replace("$LIMITS", limits)
        mark = next((mark for mark in _KINDS if mark in body), "")
        for suffix, to in _KINDS.get(mark, {"": 0}).items():
            own = body.replace(mark, suffix).replace("$TO", str(to))
            yield f'<domain: "{domain}", opset_import: ["" : 21]>\n{own}'


@lru_cache(maxsize=1)
def _library() -> dict[tuple[str, str], onnx.FunctionProto]:
    import onnx.parser

    protos = (onnx.parser.parse_function(text) for text in _texts())
    return {(proto.domain, proto.name): proto for proto in protos}


def function_protos() -> tuple[onnx.FunctionProto, ...]:
    """All our functions, sorted by domain and name. Read only."""
    library = _library()
    return tuple(library[key] for key in sorted(library))


def _import(protos: Iterable[onnx.FunctionProto]) -> list[gs.Function]:
    import onnx.helper
    import onnx_graphsurgeon as gs

    graph = onnx.helper.make_graph([], "functions", [], [])
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    functions: list[gs.Function] = gs.import_onnx(
        onnx.helper.make_model(graph, functions=list(protos), opset_imports=opsets)
    ).functions
    return functions


def ensure_functions(graph: gs.Graph, targets: Iterable[onnx.FunctionProto] = ()) -> None:
    """Update the graph's functions and imported domains to match its nodes: add functions of match and of ``targets``
    that a node calls, and remove functions that no node calls. Changes the graph."""
    import onnx.helper

    library = _library()
    own = {(proto.domain, proto.name): proto for proto in targets}
    called = {(node.domain or "", node.op) for node in graph.nodes}
    called |= {(node.domain, node.op_type) for key in called if key in own for node in own[key].node}
    others = [f for f in graph.functions if f.unique_id not in library]
    calls = [node for function in others for node in function.nodes]  # functions of a target may call those of match
    called |= {(node.domain or "", node.op) for node in calls}
    present = {f.unique_id: f for f in graph.functions}
    known_functions = {**library, **own}
    missing = sorted(key for key in called if key in known_functions and key not in present)
    added = {f.unique_id: f for f in _import(known_functions[key] for key in missing)}
    wanted = {key: function for key, function in {**present, **added}.items() if key in called}
    graph.functions = [wanted[key] for key in sorted(wanted)]
    domains = sorted({domain for domain, _ in called} - {"", "ai.onnx"})
    known = {entry.domain: entry.version for entry in graph.import_domains or ()}
    graph.opset = OPSET
    graph.import_domains = [
        onnx.helper.make_opsetid("", OPSET),
        *(onnx.helper.make_opsetid(domain, known.get(domain, VERSION)) for domain in domains),
    ]
