"""The stored forms that candidates read and write.

A tensor is in the home memory in the form in which it was written; graph inputs, graph outputs and views are plain. If
readers require another form, one conversion serves all readers that require the same form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.contract.geometry import far_bytes
from match_core.ir.topology import is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.candidate import Candidate, Candidates
    from match_core.contract.forms import Form
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Assignment


def forms_read(candidate: Candidate) -> dict[str, str]:
    """The form that the candidate requires of each tensor that it reads, by name."""
    members = {tensor.name for node in candidate.match.nodes for tensor in node.outputs}
    inputs = (tensor for node in candidate.match.nodes for tensor in node.inputs)
    required = {t.name: "" for t in inputs if not t.is_empty() and not is_constant(t) and t.name not in members}
    for operand in candidate.workload.operands:
        if operand.role == "input" and operand.form:
            required[_tensor(candidate, operand.name).name] = operand.form
    return required


def forms_made(candidate: Candidate) -> dict[str, str]:
    """The form of each tensor that the candidate writes, by name; only operands can have a form that is not plain."""
    made = {tensor.name: "" for node in candidate.match.nodes for tensor in node.outputs if not tensor.is_empty()}
    for operand in candidate.workload.operands:
        if operand.role == "output" and operand.form:
            made[candidate.result(operand.name).name] = operand.form
    return made


def _tensor(candidate: Candidate, operand: str) -> gs.Tensor:
    if candidate.match.has(operand):
        return candidate.match.tensor(operand)
    (node,) = candidate.match.nodes  # a conversion
    return node.inputs[0]


def stored_forms(assignments: Sequence[Assignment]) -> Mapping[str, str]:
    """The form of each written tensor in the home memory."""
    return {name: form for a in assignments for name, form in forms_made(a.candidate).items()}


def check_forms(candidates: Candidates, soc: Soc) -> None:
    """ValueError if a pattern describes other bytes than its forms have: a fault of its package."""
    for candidate in candidates.legal:
        fault = form_fault(candidate, soc.forms)
        if fault:
            raise ValueError(f"{candidate.unit}, pattern {candidate.pattern.name}, {candidate.node_names}: {fault}")


def form_fault(candidate: Candidate, forms: Sequence[Form]) -> str:
    """The fault of the operands' sizes in their forms; empty if there is none."""
    by_name = {form.name: form for form in forms}
    for operand in candidate.workload.operands:
        if not operand.form:
            continue
        if operand.form not in by_name:
            return f"operand {operand.name} has the form {operand.form!r}, which the Soc does not list"
        made = operand.role == "output"
        tensor = candidate.result(operand.name) if made else _tensor(candidate, operand.name)
        shape, form = tuple(int(size) for size in tensor.shape), by_name[operand.form]
        if not form.takes(shape):
            return f"operand {operand.name} of shape {shape} cannot have the form {form.name!r}"
        stored = -(-form.elements(shape) * operand.element_bits // 8)
        if far_bytes(operand) < stored if made else far_bytes(operand) > stored:
            few_or_many = "only " if made else ""
            return f"operand {operand.name} has {few_or_many}{far_bytes(operand)} bytes, form {form.name!r} {stored}"
    return ""
