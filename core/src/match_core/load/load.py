"""Loading a model: from a path to a checked Model with static shapes and source names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError
from match_core.contract.model import Model
from match_core.ir.program_name import program_name
from match_core.load.batches import split_batches
from match_core.load.bounds import room_notes
from match_core.load.checks import check_nodes, check_shapes, check_values
from match_core.load.dims import fix_sizes
from match_core.load.integer_operators import expand_integer_operators, rename_integer_operators
from match_core.load.names import name_nodes
from match_core.load.narrow import widen_constants
from match_core.load.opset import check_opset, to_working_opset
from match_core.load.pinned import with_pinned_inputs
from match_core.load.read import read_proto
from match_core.load.shapes import infer_shapes
from match_core.load.states import declared_states
from match_core.load.static.expand import expand_static, stands_for_others
from match_core.load.tensors import empty_constants, empty_inputs, import_graph, name_outputs

if TYPE_CHECKING:
    import onnx

    from match_core.contract.front_end import FrontEnd


def load_model(
    path: Path, name: str | None = None, front_ends: Sequence[FrontEnd] = (), dims: Sequence[tuple[str, int]] = ()
) -> Model:
    """Read the model file at ``path``; ``front_ends`` read other formats than ONNX. ``name``: prefix of files and
    symbols, None for one made from the file name. ``dims``: (name, size) of dynamic sizes.

    Errors: UsageError MATCH-F001 (no such file), MATCH-U027 (``name`` is not a C identifier), MATCH-U037 (``dims``
    names a size that no input has); ModelError MATCH-F0xx
    for faults of the file, see ``match_core.load.read``, ``opset``, ``shapes`` and ``checks``.
    """
    prefix = program_name(path.stem) if name is None else _checked_name(name)
    proto, digest = read_proto(path, front_ends)
    fix_sizes(proto, dims, path.name)
    return replace(model_from_proto(proto, name=prefix, source=path.name, sha256=digest), dims=tuple(dims))


def _checked_name(name: str) -> str:
    usable = program_name(name)
    if name == usable:
        return name
    raise UsageError(
        code="MATCH-U027",
        what=f"{name!r} cannot be the name of a program",
        where="option --name",
        why="it is the prefix of C symbols and files: a C identifier of letters, digits and underscores that starts "
        "with a letter, is not a reserved word, standard type or standard header, and does not begin with match_",
        help=(f"use --name {usable}", "or omit the option to use the name of the file"),
    )


def model_from_proto(proto: onnx.ModelProto, name: str, source: str, sha256: str = "") -> Model:
    """The Model of a proto (changed in place). Weights must be inside the proto."""
    digest = sha256 or hashlib.sha256(proto.SerializeToString(deterministic=True)).hexdigest()
    rename_integer_operators(proto)
    check_opset(proto, source)
    check_values(proto, source)
    states, metadata = declared_states(proto), tuple((entry.key, entry.value) for entry in proto.metadata_props)
    proto, provenance = with_pinned_inputs(proto, lambda given: static_model(given, source))
    check_shapes(proto, source, provenance)
    notes = room_notes(proto)
    graph = import_graph(proto)
    graph.name = name
    empty_constants(graph)
    return Model(name, graph, source, digest, provenance, notes, states=states, metadata=metadata)


def static_model(proto: onnx.ModelProto, source: str) -> tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]:
    """The proto (changed in place) as plain operators at the working opset, with all types and shapes that are known,
    and the source names of its nodes."""
    empty_inputs(proto)
    provenance = name_nodes(proto)
    if stands_for_others(proto):
        proto, provenance = expand_static(proto, provenance, source, composites=False)
        check_values(proto, source)
    check_nodes(proto, source, provenance)
    name_outputs(proto)
    proto, provenance = to_working_opset(proto, provenance, source)
    widen_constants(proto)
    proto = infer_shapes(proto, source)
    expanded, provenance = expand_integer_operators(proto, provenance, source)
    proto = proto if expanded is proto else infer_shapes(expanded, source)
    single, provenance = split_batches(proto, provenance)
    proto = proto if single is proto else infer_shapes(single, source)
    return proto, provenance
