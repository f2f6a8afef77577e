"""Steps of optimisers (``ai.onnx.preview.training``), as the standard defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from match_core.load.written.writer import UnknownFormError, Writer


def _groups(w: Writer, parts: int) -> Iterator[tuple[int, int, list[str]]]:
    """For each optimised tensor: its number, the number of tensors, and its inputs (value, gradient, states)."""
    count, rest = divmod(len(w.node.input) - 2, parts)
    if rest:
        raise UnknownFormError(f"it has {len(w.node.input)} inputs")
    for number in range(count):
        yield number, count, [w.input(2 + number + part * count) for part in range(parts)]


def _first(w: Writer, name: str) -> str:
    """A scalar: learning rate and step may have one axis."""
    return w.emit("Reshape", name, w.constant(np.array([], np.int64), np.int64))


def _regularised(w: Writer, value: str, gradient: str, position: int) -> str:
    """The gradient plus the gradient of the penalty."""
    norm = w.like(w.attribute("norm_coefficient", 0.0), position)
    return w.emit("Add", w.emit("Mul", norm, value), gradient)


def _scaled(w: Writer, factor: float, value: str, position: int) -> str:
    return w.emit("Mul", w.like(factor, position), value)


def _adagrad(w: Writer) -> None:
    rate, step = _first(w, "in0"), w.emit("CastLike", _first(w, "in1"), "in0")
    decayed = w.emit("Add", w.like(1), w.emit("Mul", step, w.like(w.attribute("decay_factor", 0.0))))
    rate = w.emit("Div", rate, decayed)
    for number, count, (x, g, h) in _groups(w, 3):
        place = 2 + number
        gradient = _regularised(w, x, g, place)
        squares = w.emit("Add", h, w.emit("Mul", gradient, gradient))
        root = w.emit("Add", w.emit("Sqrt", squares), w.like(w.attribute("epsilon", 1e-6), place))
        moved = w.emit("Div", w.emit("Mul", w.emit("CastLike", rate, x), gradient), root)
        w.result(number, w.emit("Sub", x, moved))
        w.result(number + count, squares)


def _adam(w: Writer) -> None:
    alpha, beta = w.attribute("alpha", 0.9), w.attribute("beta", 0.999)
    rate, step = _first(w, "in0"), w.emit("CastLike", _first(w, "in1"), "in0")
    first, second = (w.emit("Sub", w.like(1), w.emit("Pow", w.like(base), step)) for base in (alpha, beta))
    begun = w.emit("Greater", step, w.like(0))
    safe = w.emit("Where", begun, first, w.like(1))
    rate = w.emit("Where", begun, w.emit("Div", w.emit("Mul", rate, w.emit("Sqrt", second)), safe), rate)
    for number, count, (x, g, v, h) in _groups(w, 4):
        place = 2 + number
        gradient = _regularised(w, x, g, place)
        mean = w.emit("Add", _scaled(w, alpha, v, place), _scaled(w, 1 - alpha, gradient, place))
        square = w.emit("Mul", gradient, gradient)
        squares = w.emit("Add", _scaled(w, beta, h, place), _scaled(w, 1 - beta, square, place))
        root = w.emit("Add", w.emit("Sqrt", squares), w.like(w.attribute("epsilon", 1e-6), place))
        moved = w.emit("Mul", w.emit("CastLike", rate, x), w.emit("Div", mean, root))
        kept = 1 - w.attribute("norm_coefficient_post", 0.0)
        w.result(number, _scaled(w, kept, w.emit("Sub", x, moved), place))
        w.result(number + count, mean)
        w.result(number + 2 * count, squares)


def _momentum(w: Writer) -> None:
    alpha, mode = w.attribute("alpha", 0.0), w.attribute("mode", "standard")
    rate, step = _first(w, "in0"), w.emit("CastLike", _first(w, "in1"), "in0")
    begun = w.emit("Greater", step, w.like(0))
    factor = w.emit("Where", begun, w.like(w.attribute("beta", 0.0)), w.like(1))
    for number, count, (x, g, v) in _groups(w, 3):
        place = 2 + number
        gradient = _regularised(w, x, g, place)
        fresh = w.emit("Mul", w.emit("CastLike", factor, x), gradient)
        speed = w.emit("Add", _scaled(w, alpha, v, place), fresh)
        direction = speed if mode == "standard" else w.emit("Add", gradient, _scaled(w, alpha, speed, place))
        w.result(number, w.emit("Sub", x, w.emit("Mul", w.emit("CastLike", rate, x), direction)))
        w.result(number + count, speed)


TRAINING: Mapping[str, Callable[[Writer], None]] = {"Adagrad": _adagrad, "Adam": _adam, "Momentum": _momentum}
