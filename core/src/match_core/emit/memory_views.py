"""The caller's memory as the templates print it: arenas, areas of the store, tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.element_types import c_type
from match_core.contract.views import ArenaView, StoreView, SwapAreaView, TensorView
from match_core.ir.naming import c_identifier, comment_text
from match_core.lower.text import comment

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.hardware import Soc
    from match_core.contract.model import State
    from match_core.contract.program import Program
    from match_core.contract.quantisation import Quantisation


def arena_views(program: Program) -> tuple[ArenaView, ...]:
    """The memories of which the program uses a part."""
    soc, views = program.soc, []
    for use in program.memory:
        swapped = use.memory == soc.store and (use.memory != soc.overflow or bool(program.swaps))
        if use.arena_bytes == 0 or swapped:
            continue
        words = {soc.home: "activations between layers", soc.overflow: "large activations"}.get(
            use.memory, "working memory of the units"
        )
        field, alignment = arena_field(soc, use.memory), soc.memory(use.memory).alignment_bytes
        views.append(ArenaView(use.memory, field, field.upper(), use.arena_bytes, alignment, words))
    return tuple(views)


def arena_field(soc: Soc, memory: str) -> str:
    """The field of the context for an arena; if the memory also holds constants, the plain name belongs to them."""
    return _with(soc, memory, "_data") if memory == soc.store else c_identifier(memory)


def _with(soc: Soc, memory: str, suffix: str) -> str:
    """A field with a suffix that makes it no other memory's."""
    field, others = f"{c_identifier(memory)}{suffix}", [c_identifier(m.name) for m in soc.memories]
    while field in others:
        field += "_"
    return field


def store_views(program: Program, name: str, image: bytes) -> tuple[StoreView, ...]:
    """The constants of the store, in a file of program ``name``; empty if there are none."""
    if not image:
        return ()
    memory = program.soc.memory(program.soc.store or "")
    field = c_identifier(memory.name)
    return (StoreView(memory.name, field, field.upper(), f"{name}_{field}.bin", len(image), memory.alignment_bytes),)


def swap_area_views(program: Program) -> tuple[SwapAreaView, ...]:
    """The part of the store for swapped buffers; empty if there are none."""
    soc, views = program.soc, []
    for use in program.memory if program.swaps else ():
        if use.memory == soc.store and use.arena_bytes:
            field, alignment = _with(soc, use.memory, "_swap"), soc.memory(use.memory).alignment_bytes
            views.append(SwapAreaView(use.memory, field, field.upper(), use.arena_bytes, alignment))
    return tuple(views)


def tensor_views(
    tensors: Iterable[gs.Variable],
    program: Program,
    fallback: str,
    quantised: Mapping[str, Quantisation],
    states: Iterable[State] = (),
) -> tuple[TensorView, ...]:
    """Graph inputs or outputs; ``fallback``: first part of the field of a tensor whose own name is taken;
    ``quantised``: the real values of integer tensors, by name; ``states``: inputs that the caller keeps."""
    callers = (buffer for buffer in program.buffers if buffer.kind in ("input", "output"))
    memories = {tensor: buffer.memory for buffer in callers for tensor in buffer.tensors}
    views: dict[str, TensorView] = {}
    kept = {state.input: comment_text(f", {state}") for state in states}
    for position, tensor in enumerate(tensors):
        field = c_identifier(tensor.name)
        if field in views:
            field = f"{fallback}_{position}"
        while field in views:
            field += "_"
        shape = tuple(int(size) for size in tensor.shape)
        element = np.dtype(tensor.dtype)
        kind = "float16 (bits of IEEE binary16)" if element == np.float16 else element.name
        quantisation = quantised.get(tensor.name)
        real = (f", {quantisation}" if quantisation is not None else "") + kept.get(tensor.name, "")
        words = comment_text(f"{tensor.name}: {kind} {'x'.join(map(str, shape)) or 'scalar'}") + real
        memory, note = memories.get(tensor.name, program.soc.home), comment(words, indent=4)
        views[field] = TensorView(tensor.name, field, c_type(element), element.name, shape, note, memory, quantisation)
    return tuple(views.values())
