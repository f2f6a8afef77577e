"""Replaces the nodes of chosen regions in the model by the regions' bodies, which are computed from then on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.topology import is_constant
from match_core.map.convert import Converted
from match_core.map.rebind import Rebind
from match_core.regions.body import body_nodes
from match_core.regions.match import region_match

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.candidate import Candidate
    from match_core.contract.mapping import Assignment
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model


def with_bodies(model: Model, mapping: UnitMapping, offered: Sequence[Assignment]) -> Converted:
    """Put the bodies of the regions that ``mapping`` chose into a copy of the model; order and times stay the same. Of
    the other ``offered`` candidates, those whose nodes still exist are kept. Replaced nodes keep their entry in the
    provenance, so that alternatives for them can be reported."""
    # Conversions between forms are on separate graphs until they are inserted.
    known = {node.name for node in model.graph.nodes}
    chosen = [a.candidate for a in mapping.assignments if known.issuperset(a.candidate.node_names)]
    bodies = [(c, c.pattern.body(c.match)) for c in chosen if c.pattern.body is not None]
    if not bodies:
        return Converted(model, mapping, tuple(offered))
    editor = Editor(model)
    onto = Rebind.of(editor.graph)
    placed = {c.node_names: _replaced(editor, onto, c, body) for c, body in bodies if body is not None}
    indices = {candidate.index for candidate in placed.values()}
    changed = editor.finish()
    there = Rebind.of(changed.graph)

    def moved(assignment: Assignment) -> Assignment | None:
        candidate = assignment.candidate
        if candidate.node_names in placed and candidate.index in indices:
            return replace(assignment, candidate=placed[candidate.node_names])
        return replace(assignment, candidate=there.candidate(candidate)) if there.knows(candidate) else None

    assignments = tuple(moved(assignment) or assignment for assignment in mapping.assignments)
    kept = tuple(found for assignment in offered if (found := moved(assignment)) is not None)
    changed = replace(changed, provenance={**model.provenance, **changed.provenance})
    return Converted(changed, replace(mapping, assignments=assignments), kept)


def _replaced(editor: Editor, onto: Rebind, candidate: Candidate, body: Model) -> Candidate:
    """Replace the candidate's nodes by a body; returns the new candidate. The rules of its pattern were checked on the
    old nodes and do not apply to the new ones, so they are dropped."""
    old = [onto.nodes[name] for name in candidate.node_names]
    ends = {tensor.name: onto.tensors[tensor.name] for tensor in (*body.graph.inputs, *body.graph.outputs)}
    for node in old:
        node.outputs.clear()
        node.inputs.clear()
    gone = {id(node) for node in old}
    editor.graph.nodes = [node for node in editor.graph.nodes if id(node) not in gone]
    new = _copied(editor, onto, body, ends, {node.name: editor.origin(node) for node in old})
    present = {function.unique_id for function in editor.graph.functions}
    editor.graph.functions += [f for f in body.graph.functions if f.unique_id not in present]
    pattern = replace(candidate.pattern, constraints=(), body=None)
    match = region_match(new, [ends[tensor.name] for tensor in body.graph.outputs])
    return replace(candidate, pattern=pattern, match=match)


def _copied(
    editor: Editor, onto: Rebind, body: Model, ends: Mapping[str, gs.Tensor], origins: Mapping[str, tuple[str, ...]]
) -> tuple[gs.Node, ...]:
    """The body's nodes in the editor's graph. The origins of a node are those of the region's nodes that its pass
    names, or of all of the region's nodes if the pass names none."""
    everything = tuple(dict.fromkeys(name for origin in origins.values() for name in origin))
    tensors = dict(ends)

    def placed(tensor: gs.Tensor) -> gs.Tensor:
        if tensor.is_empty():
            return tensor
        if tensor.name not in tensors:
            tensors[tensor.name] = _inner(editor, onto, tensor)
        return tensors[tensor.name]

    nodes = []
    for node in body_nodes(body):
        behind = dict.fromkeys(name for old in body.origin([node]) for name in origins.get(old, ()))
        nodes.append(
            editor.add(
                qualified_op(node),
                [placed(tensor) for tensor in node.inputs],
                [placed(tensor) for tensor in node.outputs],
                name=node.name,
                origin=tuple(behind) or everything,
                attrs=node.attrs,
            )
        )
    return tuple(nodes)


def _inner(editor: Editor, onto: Rebind, tensor: gs.Tensor) -> gs.Tensor:
    """A tensor of the body under a unique name; a constant that the model already has is reused."""
    if not is_constant(tensor):
        inner = tensor.copy()
        editor.rename(inner, tensor.name)
        return inner
    known = onto.tensors.get(tensor.name)
    if known is not None and is_constant(known):
        here, there = ((values.dtype, values.shape, values.tobytes()) for values in (known.values, tensor.values))
        if here == there:
            return known
    return editor.constant(tensor.name, tensor.values)
