"""Gives every node a unique name, and records its name in the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


#: Key of node metadata: the node's name in the user's file, if that file was not ONNX.
SOURCE = "match.source"


def name_nodes(proto: onnx.ModelProto, known: dict[str, tuple[str, ...]] | None = None) -> dict[str, tuple[str, ...]]:
    """Make the names of the main graph's nodes unique and non-empty (in place); returns unique name -> source names.

    A node without a name is called ``<Op>_<index>``, its place in the file. Names in ``known`` keep their sources. The
    metadata ``SOURCE`` of a node overrides its name as the source.
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
        stated = next((entry.value for entry in node.metadata_props if entry.key == SOURCE), source)
        provenance[name] = (known or {}).get(node.name, (stated,))
        seen.add(name)
        node.name = name
    return provenance
