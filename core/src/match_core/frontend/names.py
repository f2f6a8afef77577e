"""Node names: every node gets a unique one, and the name that the source gave it is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


#: Key of node metadata: what of the user's file the node stands for, where that file was not ONNX.
SOURCE = "match.source"


def name_nodes(proto: onnx.ModelProto, known: dict[str, tuple[str, ...]] | None = None) -> dict[str, tuple[str, ...]]:
    """Make the names of the main graph's nodes unique and non-empty (in place); returns unique name -> source names.

    A node without a name is called ``<Op>_<index>``, its place in the file. Names in ``known`` keep their sources. The
    metadata ``SOURCE`` of a node tells another source than its name.
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
        told = next((entry.value for entry in node.metadata_props if entry.key == SOURCE), source)
        provenance[name] = (known or {}).get(node.name, (told,))
        seen.add(name)
        node.name = name
    return provenance
