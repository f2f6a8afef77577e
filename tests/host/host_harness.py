"""Builds the host's kernels for small models with the strictest warnings and sanitizers, and runs them.

Many models go into one C file: what costs time is the compiler. Buffers are allocated with their exact sizes, so that
the address sanitizer sees every access outside.
"""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core.contract.candidate import Candidate
from match_core.contract.unit_api import InlineRequest
from match_core.load.tensors import import_graph as imported
from match_core.match.candidates import find_candidates
from match_host.kernels import host_kernels
from match_host.machine import machine_named
from match_host.patterns import host_patterns
from match_host.unit import HOST_UNIT
from numpy.typing import NDArray

from tests.examples import all_examples

Array = NDArray[np.generic]
FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZERS = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
#: From this many bytes of C on gcc takes half a minute and more at -O1: CI compiles these files at -O0, with the same
#: sanitizers; ``make test-slow`` compiles all at -O1.
LARGE_BYTES = 100_000
MAIN = """
static void *block(size_t bytes)
{
    void *data = malloc(bytes ? bytes : 1);
    if (!data) abort();
    memset(data, 0xA5, bytes);
    return data;
}
static inline void *load(FILE *file, size_t bytes)
{
    void *data = block(bytes);
    if (fread(data, 1, bytes, file) != bytes) abort();
    return data;
}
"""


@dataclass
class Case:
    """A model and samples of its inputs. ``patterns``: the patterns that must run it, in order (None: any cover with
    the largest candidates); ``machine``: the host core that kernels are written for."""

    model: onnx.ModelProto
    samples: Sequence[Mapping[str, Array]]
    patterns: tuple[str, ...] | None = None
    machine: str = ""
    used: list[str] = field(default_factory=list)


def import_graph(model: onnx.ModelProto) -> gs.Graph:
    """The model as a graph with all shapes; nodes get unique names."""
    graph = imported(onnx.shape_inference.infer_shapes(model, data_prop=True))
    for index, node in enumerate(graph.nodes):
        node.name = node.name or f"node{index}"
    return graph


def cover(graph: gs.Graph, wanted: tuple[str, ...] | None, machine: str = "") -> tuple[Candidate, ...]:
    """Candidates that cover the graph, in topological order of their results: the wanted patterns, or from the
    results upwards the one with the most nodes."""
    patterns = [p for p in host_patterns(machine_named(machine)) if wanted is None or p.name in wanted]
    found = find_candidates(graph, [(HOST_UNIT, patterns)])
    chosen: list[Candidate] = []
    taken: set[str] = set()
    position = {node.name: i for i, node in enumerate(graph.nodes)}

    def size(candidate: Candidate) -> tuple[int, bool]:
        return len(candidate.match.nodes), candidate.pattern.view

    ordered = sorted(found.legal, key=size, reverse=True)
    for candidate in ordered:
        if taken.isdisjoint(candidate.node_names):
            chosen.append(candidate)
            taken.update(candidate.node_names)
    missing = [node.name for node in graph.nodes if node.name not in taken]
    assert not missing, f"nobody runs {missing}; refused: {found.refused}"
    return tuple(sorted(chosen, key=lambda c: position[c.node_names[-1]]))


class Program:
    """C of one case."""

    def __init__(self, number: int, case: Case) -> None:
        self.number = number
        self.case = case
        self.graph = import_graph(case.model)
        self.graph.toposort()
        self.functions: list[str] = []
        self.helpers: dict[str, str] = {}
        self.includes: set[str] = set()
        self.headers: dict[str, str] = {}
        self.blob: list[bytes] = []
        self.setup: list[str] = []
        self.calls: list[str] = []
        self.names: dict[str, str] = {}
        self._write()

    def _bytes(self, tensor: gs.Tensor) -> int:
        return int(np.prod(tensor.shape, dtype=np.int64)) * np.dtype(tensor.dtype).itemsize

    def _constant(self, values: Array) -> str:
        name = f"c{len(self.blob)}"
        data = np.ascontiguousarray(values)
        self.blob.append(data.tobytes())
        self.setup.append(f"const void *{name} = load(in, {data.nbytes});")
        return name

    def _variable(self, tensor: gs.Tensor) -> str:
        if tensor.name not in self.names:
            self.names[tensor.name] = f"v{len(self.names)}"
            self.setup.append(f"void *{self.names[tensor.name]} = block({self._bytes(tensor)});")
        return self.names[tensor.name]

    def _write(self) -> None:
        kernels = host_kernels(machine_named(self.case.machine))
        for tensor in (*self.graph.inputs, *self.graph.outputs):
            self._variable(tensor)
        for index, candidate in enumerate(cover(self.graph, self.case.patterns, self.case.machine)):
            match, pattern = candidate.match, candidate.pattern
            self.case.used.append(pattern.name)
            if pattern.view:
                source, result = match.node("op").inputs[0], match.output
                size = self._bytes(result)
                self.calls.append(f"memcpy({self._variable(result)}, {self._variable(source)}, {size});")
                continue
            kernel = kernels[pattern.name]
            function = f"case{self.number}_kernel{index}"
            tensors, outputs = kernel.inputs(match), tuple(match.nodes[-1].outputs)
            code = kernel.render(InlineRequest(function, match.nodes, tensors, outputs))
            self.functions.append(code.definition)
            self.includes.update(code.includes)
            self.headers.update({header.name: header.text for header in code.headers})
            for name, text in code.helpers:
                assert self.helpers.setdefault(name, text) == text
            arguments = []
            for position, tensor in enumerate(tensors):
                if isinstance(tensor, gs.Constant):
                    arguments.append(self._constant(code.constants.get(position, tensor.values)))
                else:
                    assert position not in code.constants
                    arguments.append(self._variable(tensor))
            arguments += [self._variable(tensor) for tensor in outputs]
            if code.scratch_bytes:
                name = f"scratch{index}"
                self.setup.append(f"void *{name} = block({code.scratch_bytes});")
                arguments.append(name)
            arguments += code.parameters
            self.calls.append(f"{function}({', '.join(arguments)});")

    @property
    def driver(self) -> str:
        """The function that runs the case on all samples."""
        reads = [
            f"if (fread({self.names[t.name]}, 1, {self._bytes(t)}, in) != {self._bytes(t)}) abort();"
            for t in self.graph.inputs
        ]
        writes = [f"fwrite({self.names[t.name]}, 1, {self._bytes(t)}, out);" for t in self.graph.outputs]
        frees = [f"free((void *)(uintptr_t){line.split('*')[1].split(' ')[0]});" for line in self.setup]
        lines = [
            *self.setup,
            f"for (int s = 0; s < {len(self.case.samples)}; s++) {{",
            *reads,
            *self.calls,
            *writes,
            "}",
        ]
        return f"static void case{self.number}(FILE *in, FILE *out)\n{{\n" + "\n".join([*lines, *frees]) + "\n}\n"

    @property
    def data(self) -> bytes:
        """Constants and samples in the order in which the driver reads them."""
        samples = [
            np.ascontiguousarray(np.asarray(sample[t.name]).astype(np.dtype(t.dtype))).tobytes()
            for sample in self.case.samples
            for t in self.graph.inputs
        ]
        return b"".join([*self.blob, *samples])


def build_and_run(
    cases: Sequence[Case], folder: Path, options: tuple[str, ...] = SANITIZERS
) -> list[list[dict[str, Array]]]:
    """Outputs by name, for every sample of every case. ``folder``: for the run; beside it lie built programs, which all
    workers share."""
    programs = [Program(number, case) for number, case in enumerate(cases)]
    includes = sorted({"stdio.h", "stdlib.h", "string.h", *(i for p in programs for i in p.includes)})
    headers = {name: text for program in programs for name, text in program.headers.items()}
    helpers: dict[str, str] = {}
    for program in programs:
        for name, text in program.helpers.items():
            assert helpers.setdefault(name, text) == text, f"two helpers are named {name}"
    source = "\n".join(
        [
            *(f"#include <{name}>" for name in includes),
            *(f'#include "{name}"' for name in sorted(headers)),
            "#define MATCH_YIELD() ((void)0)",
            MAIN,
            *helpers.values(),
            *(text for program in programs for text in program.functions),
            *(program.driver for program in programs),
            "int main(int count, char **names)\n{\n    if (count != 3) return 2;",
            '    FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb");\n    if (!in || !out) return 3;',
            *(f"    case{program.number}(in, out);" for program in programs),
            "    fclose(in);\n    return fclose(out);\n}",
        ]
    )
    if len(source) > LARGE_BYTES and not all_examples():
        options = tuple(option.replace("-O1", "-O0") for option in options)
    command = ("gcc", *FLAGS, *options, "cases.c", "-o", "cases", "-lm")
    key = sha256(repr((command, source, sorted(headers.items()))).encode()).hexdigest()
    built = folder.parent / key[:16]
    with _only_one(folder.parent / f"{key[:16]}.lock"):
        if not (built / "cases").exists():
            _build(built, command, {"cases.c": source, **headers})
    (folder / "cases.in").write_bytes(b"".join(program.data for program in programs))
    run = [str(built / "cases"), "cases.in", "cases.out"]
    ran = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"cd {folder} && {' '.join(run)}\n{ran.stderr[:6000]}"
    return _split(programs, (folder / "cases.out").read_bytes())


@contextlib.contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Workers that want the same program wait for the one that builds it."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(folder: Path, command: Sequence[str], files: Mapping[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, f"cd {folder} && {' '.join(command)}\n{built.stderr[:6000]}"


def _split(programs: Sequence[Program], data: bytes) -> list[list[dict[str, Array]]]:
    offset, results = 0, []
    for program in programs:
        samples = []
        for _ in program.case.samples:
            outputs: dict[str, Array] = {}
            for tensor in program.graph.outputs:
                dtype = np.dtype(tensor.dtype)
                count = int(np.prod(tensor.shape, dtype=np.int64))
                values = np.frombuffer(data, dtype, count, offset)
                outputs[tensor.name] = values.reshape(tensor.shape)
                offset += values.nbytes
            samples.append(outputs)
        results.append(samples)
    assert offset == len(data)
    return results


def by_reference(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What the reference evaluator gives, where ONNX Runtime does not follow the standard."""
    from onnx.reference import ReferenceEvaluator

    names = [output.name for output in model.graph.output]
    return dict(zip(names, ReferenceEvaluator(model).run(None, dict(inputs)), strict=True))


def expected(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What ONNX Runtime gives; the reference evaluator where ONNX Runtime has no such kernel."""
    from match_verify.reference import ReferenceRunner

    feed = {name: np.asarray(array) for name, array in inputs.items()}
    try:
        return ReferenceRunner(model).run(feed)
    except Exception as error:
        kernels = ("NOT_IMPLEMENTED", "Could not find an implementation", "not supported", "must be a scalar")
        unsupported = (*kernels, "is under development", "has no numpy arrays")  # of the opset, of an element type
        if not any(words in str(error) for words in unsupported):
            raise
    return by_reference(model, feed)


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = 21,
    run: Callable[[onnx.ModelProto, Mapping[str, Array]], dict[str, Array]] = expected,
) -> onnx.ModelProto:
    """A model of these nodes; ``inputs`` give shapes and types by example. Our functions are included, and what
    their calls give gets its type by running it with ``run``."""
    from match_core.ir.functions import function_protos

    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    called = {(node.domain, node.op_type) for node in nodes}
    functions = [f for f in function_protos() if (f.domain, f.name) in called]
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid(domain, 1) for domain in sorted({f.domain for f in functions})]
    values = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()
    ]
    tensors = [numpy_helper.from_array(np.asarray(a), name) for name, a in (constants or {}).items()]
    made = [name for node in nodes for name in node.output if name]
    untyped = [onnx.ValueInfoProto(name=name) for name in made]
    graph = helper.make_graph(list(nodes), "test", values, untyped, tensors)
    model = helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=10)
    typed = {
        name: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in run(model, inputs).items()
    }
    del model.graph.output[:]
    model.graph.output.extend(typed[name] for name in outputs)
    model.graph.value_info.extend(typed[name] for name in made if name not in outputs)
    return model
