"""Results that overwrite inputs: the allocator, the planner, and the validator with mutants."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.unit_api import Overwrite
from match_core.plan.allocate import allocate
from match_core.plan.pack_exact import pack
from match_core.plan.packing import Block, Packing, least_span
from match_core.validate.sequential_program import program_faults

from core.tests.plan.planned import plan
from tests.examples import examples


@st.composite
def chains(draw, most=9, size=12):
    """Blocks that begin one after another; some may overwrite blocks that end where they begin."""
    blocks = []
    for first in range(draw(st.integers(2, most))):
        ending = [n for n, other in enumerate(blocks) if other.first < other.last == first]
        bytes_ = draw(st.integers(1, size))
        under = draw(st.lists(st.sampled_from(ending), unique=True)) if ending and draw(st.booleans()) else []
        over = tuple((n, draw(st.integers(0, bytes_))) for n in under)
        blocks.append(Block(bytes_, first, first + draw(st.integers(0, 2)), over))
    return blocks


def together(one, two):
    """Whether both live at some step."""
    return one.first <= two.last and two.first <= one.last


def apart(blocks, offsets):
    """Whether each pair of blocks that live together is apart, or overlaps as declared."""
    ends = [offset + block.size_bytes for block, offset in zip(blocks, offsets, strict=True)]
    leads = {(n, i): lead for i, block in enumerate(blocks) for n, lead in block.over}
    for i, j in product(range(len(blocks)), repeat=2):
        allowed = (j, i) in leads and offsets[i] + leads[j, i] <= offsets[j]
        allowed = allowed or ((i, j) in leads and offsets[j] + leads[i, j] <= offsets[i])
        if (
            i < j
            and together(blocks[i], blocks[j])
            and max(offsets[i], offsets[j]) < min(ends[i], ends[j])
            and not allowed
        ):
            return False
    return True


@settings(max_examples=examples(200), deadline=None)
@given(blocks=chains())
def test_allocations_with_overlaps_are_valid(blocks):
    allocation = allocate(blocks, 1)
    assert apart(blocks, allocation.offsets)
    assert least_span(blocks, 1) == allocation.solver.bound <= allocation.arena_bytes
    alone = allocate([replace(block, over=()) for block in blocks], 1)
    assert allocation.solver.bound <= alone.solver.bound


@settings(max_examples=examples(30), deadline=None)
@given(blocks=chains(most=4, size=4))
def test_the_exact_search_finds_the_optimum_of_small_cases(blocks):
    tried = range(sum(block.size_bytes for block in blocks))
    spans = (
        max(offset + block.size_bytes for block, offset in zip(blocks, offsets, strict=True))
        for offsets in product(tried, repeat=len(blocks))
        if apart(blocks, offsets)
    )
    least = min(spans)
    assert least_span(blocks, 1) <= least <= allocate(blocks, 1).arena_bytes
    found = pack(Packing(blocks, 1), 1, least)
    assert found.offsets is not None and apart(blocks, found.offsets)
    assert pack(Packing(blocks, 1), 1, least - 1).impossible


def test_a_chain_of_results_moves_down_by_its_leads():
    """Six blocks of 100 bytes, each at least 8 before the one that it overwrites: 5 x 8 + 100 bytes."""
    chain = [Block(100, 0, 1)] + [Block(100, n, n + 1, ((n - 1, 8),)) for n in range(1, 6)]
    allocation = allocate(chain, 4)
    assert (allocation.arena_bytes, allocation.solver.bound) == (140, 140)


SIZES = {"a": 64, "b": 64, "c": 64, "v": 64, "d": 80, "e": 16}
NODES = {"a": ["in"], "b": ["a"], "c": ["a", "b"], "v": ["c"], "d": ["v"], "e": ["d"]}
OVERLAPS = (
    Overwrite("a", "c"),
    Overwrite("b", "c", 16),
    Overwrite("v", "d", 20),
    Overwrite("b", "d"),
    Overwrite("a", "b"),
)


@pytest.fixture
def shared(lab):
    """Program and model: c overwrites a, d the view v of c, both later than the start of b, which needs a after it."""
    model = lab.model_of(NODES, SIZES)
    program = plan(model, lab.mapping_of(model, views=["v"]), lab.soc_of(), (), {3: 4}, overlaps=OVERLAPS)
    assert program_faults(model.graph, program, OVERLAPS) == ()
    return model, program


def home(program, tensor):
    return next(buffer for buffer in program.buffers if tensor in buffer.tensors)


def test_inputs_that_die_are_overwritten(shared, lab):
    model, program = shared
    arena = next(use for use in program.memory if use.memory == "l2").arena_bytes
    assert arena == 128, "a and b together; c takes the place of a, d that of c from 20 bytes before it on"
    assert home(program, "d").offset_bytes + 20 <= home(program, "c").offset_bytes
    plain = plan(model, lab.mapping_of(model, views=["v"]), lab.soc_of(), (), {3: 4})
    assert next(use for use in plain.memory if use.memory == "l2").arena_bytes == 192


def moved(program, tensor, **changes):
    buffers = (replace(b, **changes) if tensor in b.tensors else b for b in program.buffers)
    return replace(program, buffers=tuple(buffers))


@pytest.mark.parametrize(
    ("change", "overlaps"),
    [
        (lambda p: moved(p, "b", offset_bytes=home(p, "a").offset_bytes), OVERLAPS),  # c reads a later
        (lambda p: moved(p, "c", offset_bytes=home(p, "b").offset_bytes - 12), OVERLAPS),  # less than 16 before b
        (lambda p: moved(p, "d", offset_bytes=home(p, "c").offset_bytes), OVERLAPS),  # less than 20 before the view
        (lambda p: moved(p, "d", offset_bytes=home(p, "c").offset_bytes + 4), OVERLAPS),  # after it
        (lambda p: p, tuple(o for o in OVERLAPS if o.output != "c")),  # not declared
        (lambda p: p, (Overwrite("a", "c", 68), *OVERLAPS[2:])),  # another distance
        (lambda p: p, (*OVERLAPS[:2], Overwrite("c", "d", 20))),  # of another tensor of the same bytes
    ],
)
def test_mutants_are_caught(shared, change, overlaps):
    model, program = shared
    assert "overlap" in "; ".join(program_faults(model.graph, change(program), overlaps))


def test_a_tensor_that_is_read_twice_needs_an_overlap_of_each_reading(lab):
    """c reads a and its view v; only a may be overwritten."""
    model = lab.model_of({"a": ["in"], "v": ["a"], "c": ["a", "v"], "d": ["c"]}, {"a": 64, "v": 64, "c": 64})
    mapping, half = lab.mapping_of(model, views=["v"]), (Overwrite("a", "c"),)
    program = plan(model, mapping, lab.soc_of(), overlaps=half)
    assert next(use for use in program.memory if use.memory == "l2").arena_bytes == 128
    both = (*half, Overwrite("v", "c"))
    program = plan(model, mapping, lab.soc_of(), overlaps=both)
    assert next(use for use in program.memory if use.memory == "l2").arena_bytes == 64
    assert program_faults(model.graph, program, both) == ()
    assert program_faults(model.graph, program, half) != ()


@st.composite
def networks(draw):
    nodes, sizes, overlaps = {}, {}, []
    for number in range(draw(st.integers(2, 8))):
        name, known = f"n{number}", ["in", *nodes]
        nodes[name] = draw(st.lists(st.sampled_from(known[-3:]), min_size=1, max_size=3, unique=True))
        sizes[name] = draw(st.integers(1, 24))
        overlaps += [Overwrite(read, name, draw(st.integers(0, 8))) for read in nodes[name] if draw(st.booleans())]
    return nodes, sizes, tuple(overlaps)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(network=networks(), alignment=st.sampled_from([1, 4]))
def test_programs_compute_the_same_where_results_overwrite_inputs(lab, network, alignment):
    """Each task writes byte i of its result while it still needs the bytes of its inputs from i - lead on."""
    nodes, sizes, overlaps = network
    model = lab.model_of(nodes, sizes)
    program = plan(model, lab.mapping_of(model), lab.soc_of(alignment=alignment), overlaps=overlaps)
    assert program_faults(model.graph, program, overlaps) == ()
    leads = {(o.input, o.output): o.lead_bytes for o in overlaps}
    places = {name: buffer for buffer in program.buffers for name in buffer.tensors}
    memory: dict[tuple[str, int], tuple[str, int]] = {}

    def at(name, byte):
        buffer = places[name]
        return (buffer.name if buffer.kind in ("input", "output") else "arena", buffer.offset_bytes + byte)

    memory.update({at("in", byte): ("in", byte) for byte in range(16)})
    for task in program.tasks:
        (node,) = task.assignment.candidate.match.nodes
        result = node.outputs[0].name
        for byte in range(sizes[result]):
            for read in (tensor.name for tensor in node.inputs):
                first = byte - leads[read, result] if (read, result) in leads else 0
                for needed in range(max(0, first), sizes.get(read, 16)):
                    assert memory[at(read, needed)] == (read, needed), f"{result} reads {read}"
            memory[at(result, byte)] = (result, byte)
