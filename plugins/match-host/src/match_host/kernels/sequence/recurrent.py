"""Recurrent layers: RNN, GRU and LSTM, in both directions and both layouts, with lengths per sample.

The outputs Y_h and Y_c hold the state while the layer runs, so the only extra memory is one line of values for GRU.
All outputs must exist (the loader names those that a model omits).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.ir.reader import optional_input, shape_of

from match_host.graph import attribute, dtype_of, integer, number, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, inline_code, literal
from match_host.kernels.scalar import loaded, moved_halves, real_function, scalar_type, stored, suffix
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class Activation:
    """C of ``x``, alpha ``a`` and beta ``b``, with their defaults; None if the function has none."""

    body: str
    alpha: float | None = None
    beta: float | None = None


ACTIVATIONS = {
    "Sigmoid": Activation("{one} / ({one} + {exp}(-x))"),
    "Tanh": Activation("{tanh}(x)"),
    "Relu": Activation("x < {zero} ? {zero} : x"),
    "HardSigmoid": Activation("a * x + b > {one} ? {one} : a * x + b > {zero} ? a * x + b : {zero}", 0.2, 0.5),
    "Affine": Activation("a * x + b", 1.0, 0.0),
    "LeakyRelu": Activation("x >= {zero} ? x : a * x", 0.01),
    "ThresholdedRelu": Activation("x > a ? x : {zero}", 1.0),
    "ScaledTanh": Activation("a * {tanh}(b * x)", 1.0, 1.0),
    "Elu": Activation("x >= {zero} ? x : a * ({exp}(x) - {one})", 1.0),
    "Softsign": Activation("x / ({one} + {fabs}(x))"),
    "Softplus": Activation("{log}({one} + {exp}(x))"),
}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}


def activation_names(node: gs.Node) -> tuple[str, ...]:
    """The activations of all directions, in order."""
    given = attribute(node, "activations", ())
    words = list(given)  # type: ignore[call-overload]  # attributes are objects
    names = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in words)
    return names or DEFAULTS[node.op] * shape_of(node.inputs[1])[0]


class _Layer:
    """Writes one layer. Inputs are named by their position among those that exist."""

    def __init__(self, node: gs.Node) -> None:
        self.node = node
        self.code, self.uses = Code(), Uses()
        self.uses.include("math.h")
        self.dtype = dtype_of(node.inputs[0])
        self.kind = scalar_type(self.dtype)
        self.first = integer(node, "layout", 0) == 1  # samples before time
        shape = shape_of(node.inputs[0])
        self.batch, self.steps = (shape[0], shape[1]) if self.first else (shape[1], shape[0])
        self.inputs, self.directions = shape[2], shape_of(node.inputs[1])[0]
        self.hidden, self.gates = shape_of(node.inputs[2])[2], GATES[node.op]
        self.arguments: list[gs.Tensor] = []
        self.names: dict[int, str] = {}
        for index in range(len(node.inputs)):
            tensor = optional_input(node, index)
            if tensor is not None:
                self.names[index] = f"in{len(self.arguments)}"
                self.arguments.append(tensor)

    def _value(self, index: int, place: str) -> str:
        return loaded(f"{self.names[index]}[{place}]", self.dtype)

    def _literal(self, value: float) -> str:
        return literal(value, self.dtype)

    def _state(self, direction: int, k: str) -> str:
        """The index of unit ``k`` in Y_h, Y_c and the initial states."""
        line = self.directions * self.hidden
        if self.first:
            return affine([("b", line), (k, 1)], direction * self.hidden)
        return affine([("b", self.hidden), (k, 1)], direction * self.batch * self.hidden)

    def _result(self, direction: int, k: str) -> str:
        line = self.directions * self.hidden
        if self.first:
            return affine([("b", self.steps * line), ("t", line), (k, 1)], direction * self.hidden)
        base = direction * self.batch * self.hidden
        return affine([("t", self.batch * line), ("b", self.hidden), (k, 1)], base)

    def _activated(self, name: str, value: str, parameters: tuple[float, float], clipped: bool = True) -> str:
        """The activation of a value, which is clipped before if the node states a clip."""
        limit = number(self.node, "clip", 0.0) if clipped else 0.0
        item = ACTIVATIONS[name]
        calls = {call: real_function(call, self.dtype, self.uses) for call in ("exp", "tanh", "fabs", "log")}
        body = item.body.format(one=self._literal(1), zero=self._literal(0), **calls)
        full = f"host_rnn_{name.lower()}_{suffix(self.dtype)}"
        given = [("a", item.alpha, parameters[0]), ("b", item.beta, parameters[1])]
        declared = "".join(f", {self.kind} {letter}" for letter, default, _ in given if default is not None)
        self.uses.helper(
            full, f"static inline {self.kind} {full}({self.kind} x{declared})\n{{\n    return {body};\n}}\n"
        )
        if limit:
            self.uses.helper(
                f"host_rnn_clip_{suffix(self.dtype)}",
                f"static inline {self.kind} host_rnn_clip_{suffix(self.dtype)}({self.kind} x, {self.kind} limit)\n{{\n"
                "    return x > limit ? limit : x < -limit ? -limit : x;\n}\n",
            )
            value = f"host_rnn_clip_{suffix(self.dtype)}({value}, {self._literal(limit)})"
        passed = "".join(f", {self._literal(chosen)}" for _, default, chosen in given if default is not None)
        return f"{full}({value}{passed})"

    def _activations(self, direction: int) -> list[tuple[str, tuple[float, float]]]:
        """Name, alpha and beta of the activations of a direction. The lists hold a value for each function that has
        one."""
        alphas, betas = (
            [float(value) for value in attribute(self.node, name, ())]  # type: ignore[attr-defined]  # a list
            for name in ("activation_alpha", "activation_beta")
        )
        found = []
        for name in activation_names(self.node):
            item = ACTIVATIONS[name]
            alpha = alphas.pop(0) if item.alpha is not None and alphas else item.alpha
            beta = betas.pop(0) if item.beta is not None and betas else item.beta
            found.append((name, (alpha or 0.0, beta or 0.0)))
        count = len(found) // self.directions
        return found[direction * count : (direction + 1) * count]

    def _sum(self, name: str, direction: int, gate: int, recurrent: bool = True, own: bool = True) -> None:
        """``name``: products of the input (``own``) and of the state with the weights of a gate, and their biases."""
        code, rows = self.code, self.gates * self.hidden
        code.line(f"{self.kind} {name} = {self._literal(0)};")
        row = direction * rows + gate * self.hidden
        if own:
            step = self.inputs
            base = [("b", self.steps * step), ("t", step)] if self.first else [("t", self.batch * step), ("b", step)]
            with code.block(f"for (int32_t j = 0; j < {self.inputs}; j++)"):
                weight = self._value(1, affine([("k", self.inputs), ("j", 1)], row * self.inputs))
                code.line(f"{name} += {self._value(0, affine([*base, ('j', 1)]))} * {weight};")
        if recurrent:
            with code.block(f"for (int32_t j = 0; j < {self.hidden}; j++)"):
                weight = self._value(2, affine([("k", self.hidden), ("j", 1)], row * self.hidden))
                state = loaded(f"out1[{self._state(direction, 'j')}]", self.dtype)
                code.line(f"{name} += {state} * {weight};")
        if 3 in self.names:
            bias = direction * 2 * rows + gate * self.hidden
            if own:
                code.line(f"{name} += {self._value(3, affine([('k', 1)], bias))};")
            if recurrent:
                code.line(f"{name} += {self._value(3, affine([('k', 1)], bias + rows))};")

    def write(self) -> None:
        """The whole layer."""
        code = self.code
        with code.block(f"for (int32_t b = 0; b < {self.batch}; b++)"):
            known, given = str(self.steps), f"{self.names.get(4)}[b]"
            bounded = f"{given} < 0 ? 0 : {given} > {known} ? {known} : (int32_t){given}"
            code.line(f"const int32_t length = {bounded if 4 in self.names else known};")
            for direction in range(self.directions):
                self._begin(direction)
                backwards = direction == 1 or text(self.node, "direction", "forward") == "reverse"
                with code.block(f"for (int32_t n = 0; n < {self.steps}; n++)"):
                    code.line(f"const int32_t t = {'n < length ? length - 1 - n : n' if backwards else 'n'};")
                    with code.block("if (n >= length)"):
                        with code.block(f"for (int32_t k = 0; k < {self.hidden}; k++)"):
                            zero = stored(self._literal(0), self.dtype)
                            code.line(f"out0[{self._result(direction, 'k')}] = {zero};")
                        code.line("continue;")
                    {"RNN": self._rnn, "GRU": self._gru, "LSTM": self._lstm}[self.node.op](direction)
                    with code.block(f"for (int32_t k = 0; k < {self.hidden}; k++)"):
                        code.line(f"out1[{self._state(direction, 'k')}] = out0[{self._result(direction, 'k')}];")

    def _begin(self, direction: int) -> None:
        states = [(1, 5), (2, 6)] if self.node.op == "LSTM" else [(1, 5)]
        with self.code.block(f"for (int32_t k = 0; k < {self.hidden}; k++)"):
            for output, index in states:
                place = self._state(direction, "k")
                start = f"{self.names[index]}[{place}]" if index in self.names else stored(self._literal(0), self.dtype)
                self.code.line(f"out{output}[{place}] = {start};")

    def _store(self, direction: int, value: str) -> None:
        self.code.line(f"out0[{self._result(direction, 'k')}] = {stored(value, self.dtype)};")

    def _rnn(self, direction: int) -> None:
        ((name, parameters),) = self._activations(direction)
        with self.code.block(f"for (int32_t k = 0; k < {self.hidden}; k++)"):
            self._sum("x", direction, 0)
            self._store(direction, self._activated(name, "x", parameters))

    def _gru(self, direction: int) -> None:
        (f, f_values), (g, g_values) = self._activations(direction)
        code, old = self.code, loaded(f"out1[{self._state(direction, 'k')}]", self.dtype)
        before = integer(self.node, "linear_before_reset", 0) != 0
        code.line(f"{self.kind} reset[{self.hidden}];")
        with code.block(f"for (int32_t k = 0; k < {self.hidden}; k++)"):
            self._sum("r", direction, 1)
            gate = self._activated(f, "r", f_values)
            code.line(f"reset[k] = {gate}{'' if before else f' * {old}'};")
        with code.block(f"for (int32_t k = 0; k < {self.hidden}; k++)"):
            self._sum("z", direction, 0)
            self._sum("h", direction, 2, recurrent=False)
            if before:
                self._sum("s", direction, 2, own=False)
                code.line("h += reset[k] * s;")
            else:
                row = (direction * 3 + 2) * self.hidden
                with code.block(f"for (int32_t j = 0; j < {self.hidden}; j++)"):
                    weight = self._value(2, affine([("k", self.hidden), ("j", 1)], row * self.hidden))
                    code.line(f"h += reset[j] * {weight};")
                if 3 in self.names:
                    bias = (direction * 6 + 5) * self.hidden
                    code.line(f"h += {self._value(3, affine([('k', 1)], bias))};")
            code.line(f"const {self.kind} update = {self._activated(f, 'z', f_values)};")
            fresh = self._activated(g, "h", g_values)
            self._store(direction, f"({self._literal(1)} - update) * {fresh} + update * {old}")

    def _lstm(self, direction: int) -> None:
        (f, f_values), (g, g_values), (h, h_values) = self._activations(direction)
        code, cell = self.code, f"out2[{self._state(direction, 'k')}]"
        peephole = [""] * 3
        if 7 in self.names:
            places = [affine([("k", 1)], (direction * 3 + gate) * self.hidden) for gate in range(3)]
            values = ("old", "now", "old")
            peephole = [f" + {self._value(7, p)} * {value}" for p, value in zip(places, values, strict=True)]
        with code.block(f"for (int32_t k = 0; k < {self.hidden}; k++)"):
            for gate, name in enumerate("iofc"):
                self._sum(name, direction, gate)
            code.line(f"const {self.kind} old = {loaded(cell, self.dtype)};")
            code.line(f"const {self.kind} take = {self._activated(f, f'i{peephole[0]}', f_values)};")
            keep = self._activated(f, f"f{peephole[2]}", f_values)
            if integer(self.node, "input_forget", 0):
                code.line("(void)f;")
                keep = f"{self._literal(1)} - take"
            code.line(f"const {self.kind} keep = {keep};")
            code.line(f"const {self.kind} now = keep * old + take * {self._activated(g, 'c', g_values)};")
            code.line(f"const {self.kind} gate = {self._activated(f, f'o{peephole[1]}', f_values)};")
            code.line(f"{cell} = {stored('now', self.dtype)};")
            self._store(direction, f"gate * {self._activated(h, 'now', h_values, clipped=False)}")


#: Calls of the default activations for each unit and step.
_CALLS = {"LSTM": {"sigmoid": 3, "tanh": 2}, "GRU": {"sigmoid": 2, "tanh": 1}, "RNN": {"tanh": 1}}


def build_recurrent(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of one recurrent layer."""
    (node,) = nodes
    layer = _Layer(node)
    layer.write()
    macs = layer.steps * layer.batch * layer.directions * layer.gates * layer.hidden * (layer.inputs + layer.hidden)
    cells = layer.steps * layer.batch * layer.directions * layer.hidden
    work = Work(floating_macs=macs) + moved_halves(layer.dtype, 2 * macs)
    work += Work(special=layer.gates + 1, memory=4, steps=2, floating=8).times(cells)
    sizes = f"{layer.steps} steps, {layer.batch} samples, {layer.inputs} inputs, {layer.hidden} units"
    arguments = tuple(layer.arguments)
    code = inline_code(function, f"{node.op}: {sizes}", arguments, node.outputs, layer.code.text, layer.uses)
    told = {"inputs": layer.inputs, "hidden": layer.hidden}
    if "activations" not in node.attrs:
        told |= {f"calls_{name}": count * cells for name, count in _CALLS[node.op].items()}
    return Built(arguments, code, work, told=told)
