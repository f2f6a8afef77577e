"""Tiles of float32 products in vectors of four outputs: each lane adds its products in the order of a single sum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_host.kernels.products.blocked import After, TileWriter

from match_cortexm.kernels.vectors import LANES, PREFIX, VECTOR, load, operator, store, taken

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_host.kernels.products.blocked import Place, Tile
    from numpy.typing import NDArray

#: Steps of a turn of the loops over sums.
UNROLLED = 4
#: The smallest float16 number is 2^-24: with a bias of 25, its exponent is 1, and the largest are those below 2^7.
HALF_BIAS, MOST_HALF = 10, 128
#: Vectors of sums that have registers beside those of products.
_MOST_SUMS = 4
#: The functions for so many vectors of sums and values.
_KINDS = {(1, 1): "single", (2, 1): "two", (2, 2): "one", (3, 3): "three", (4, 4): "four"}


class LaneWriter(TileWriter):
    """Writes a tile whose outputs fill vectors; other tiles as in scalar code."""

    #: The variable of a loop over steps, and the steps of a turn.
    _turn: tuple[str, tuple[str, ...]] = ("", ("",))

    @property
    def vectors(self) -> int:
        """Vectors of a position's sums, the last of which may have a part of them; 0 for single sums."""
        return -(-self.tile.outputs // LANES) if self.tile.outputs > 1 else 0

    def _lanes(self, vector: int) -> int:
        """Sums of a vector."""
        return min(LANES, self.tile.outputs - LANES * vector)

    #: Whether functions read the weights of the steps in order.
    _next = False

    def _add_next(self, x: Sequence[str]) -> None:
        """The products of two vectors of weights and a value, or of one vector and all values."""
        half = "_half" if self.dtype == np.float16 else ""
        at_once = 2 if self.tile.positions == 1 else 1
        for v in range(0, self.vectors, at_once):
            rows = range(self.tile.positions)
            sums = [self._vector(p, n) for n in range(v, min(v + at_once, self.vectors)) for p in rows]
            kind = _KINDS[len(sums), len(x)]
            names = ", ".join(f"&{name}" for name in sums)
            self.code.line(f"{PREFIX}next_{kind}{half}({names}, &w, {', '.join(x)});")

    @staticmethod
    def takes(weights: NDArray[np.generic]) -> bool:
        """Not subnormal float32 numbers, which vectors flush in every call; float16 below 128."""
        if weights.dtype == np.float16:
            return bool((np.abs(weights) < MOST_HALF).all())
        return bool(((np.abs(weights) >= np.finfo(np.float32).tiny) | (weights == 0) | np.isnan(weights)).all())

    @staticmethod
    def stored(weights: NDArray[np.generic], tile: Tile) -> NDArray[np.generic]:
        """Whole vectors; float16 as bits with an exponent that is larger by ``HALF_BIAS``, so that no number is
        subnormal."""
        if tile.outputs == 1:
            return weights
        weights = np.pad(weights, [*((0, 0) for _ in weights.shape[1:]), (0, -tile.outputs % LANES)])
        if weights.dtype != np.float16:
            return weights
        bits = weights.astype(np.float32).view(np.uint32)
        moved = (bits & 0x7FFFFFFF) - ((127 - 15 - HALF_BIAS) << 23)
        return np.where(weights == 0, bits >> 16, (bits >> 31 << 15) | moved >> 13).astype(np.uint16)

    def open(self) -> None:
        """Declare the sums."""
        if not self.vectors:
            super().open()
            return
        for p in range(self.tile.positions):
            pairs = [(self._vector(p, v), _start(self.start, LANES * v, self._lanes(v))) for v in range(self.vectors)]
            self._declare(VECTOR, pairs)

    def add(self, x: Sequence[str], weight: Place, wraps: bool = False) -> None:
        """Multiply one value per position by one weight per output."""
        if not self.vectors:
            super().add(x, weight, wraps)
            return
        if self._next:
            variable, places = self._turn
            for step, place in enumerate(places):
                pairs = [(f"x{p}_{step}", _moved(value, variable, place)) for p, value in enumerate(x)]
                self._declare("const float", pairs)
                self._add_next([name for name, _ in pairs])
            return
        self._declare("const float", [(f"x{p}", value) for p, value in enumerate(x)])
        rows = range(self.tile.positions)
        for v in range(self.vectors):
            self.code.line(f"const {VECTOR} w{v} = {_loaded(weight('', LANES * v))};")
        products = [(self._vector(p, v), f"w{v}", f"x{p}") for v in range(self.vectors) for p in rows]
        for first, second in zip(products[::2], products[1::2], strict=False):
            texts = (f"&{first[0]}", f"&{second[0]}", first[1], second[1], first[2], second[2])
            self.code.line(f"{PREFIX}add_two({', '.join(texts)});")
        if len(products) % 2:
            name, w, value = products[-1]
            self.code.line(f"{PREFIX}add_one(&{name}, {w}, {value});")

    def channels(self, x: str, weight: str) -> None:
        """Multiply the values from a place on by the weights from a place on."""
        if not self.vectors:
            super().channels(x, weight)
            return
        self.code.line(f"s0_0 = {PREFIX}add(s0_0, {PREFIX}mul({PREFIX}load(&{x}), {PREFIX}load(&{weight})));")

    @contextmanager
    def steps(self, variable: str, size: int, edge: bool = False) -> Iterator[str]:
        """The loop over the steps of a sum, some of them in a turn."""
        pairs = self.tile.positions == 2 or (self.tile.positions == 1 and self.vectors % 2 == 0)
        few = self.vectors * self.tile.positions <= _MOST_SUMS and size > 1 and not edge
        self._next = self.vectors > 0 and (pairs or (few and self.dtype != np.float16))
        if not self._next:
            with super().steps(variable, size, edge) as name:
                yield name
            return
        self.code.line(f"const {'match_half_t' if self.dtype == np.float16 else 'float'} *w = b;")
        count = next(count for count in range(UNROLLED, 0, -1) if size % count == 0)
        self._turn = variable, tuple(map(str, range(count)))
        if size == count:
            yield variable
            return
        self._turn = variable, (variable, *(f"({variable} + {step})" for step in range(1, count)))
        with self.code.block(f"for (int32_t {variable} = 0; {variable} < {size}; {variable} += {count})"):
            yield variable

    def close(self, kept: bool = False) -> None:
        """Store the sums in the array ``sums``."""
        if not self.vectors:
            super().close(kept)
            return
        self.code.line(f"float sums[{self.tile.positions}][{LANES * self.vectors}];")
        for p in range(self.tile.positions):
            for v in range(self.vectors):
                self.code.line(f"{PREFIX}store(&sums[{p}][{LANES * v}], {self._vector(p, v)});")
        self.code.line(f"{PREFIX}stored();")

    def finished(self, after: After) -> bool:
        """Whether outputs are neighbours and only sums, products, Relu and Clip follow, which are written then."""
        nodes = after.body.nodes if after.body else ()
        places = [after.index(after.shape), *([after.addend] if after.addend else [])]
        others = [argument.shape for argument in after.body.arguments] if after.body else []
        if not self.vectors or self.dtype != np.float32 or not all(map(taken, nodes)):
            return False
        if any(_stride(place) != 1 for place in places):
            return False
        if any(shape is None or _stride(after.index(shape)) > 1 for shape in others):
            return False
        for p in range(self.tile.positions):
            for v in range(self.vectors):
                self._finish(after, p, v)
        return True

    def _finish(self, after: After, p: int, v: int) -> None:
        """Write what follows four sums: the texts of ``after`` with the numbers of ``p`` and ``k``."""
        value, lanes, lines = self._vector(p, v), self._lanes(v), list[str]()
        if after.addend:
            lines.append(f"{value} = {PREFIX}add({value}, {load(after.addend, lanes)});")
        known = {after.result: value}
        for number, node in enumerate(after.body.nodes if after.body else ()):
            text, value = operator(node, known, partial(_operand, after=after, lanes=lanes)), f"t{p}_{v}_{number}"
            lines.append(f"const {VECTOR} {value} = {text};")
            known[node.outputs[0].name] = value
        lines.append(store(f"out0[{after.index(after.shape)}]", value, lanes))
        places = {"p": str(p), "k": str(LANES * v)}
        self.code.lines([re.sub(r"\b[pk]\b", lambda found: places[found.group()], line) for line in lines])

    def _vector(self, position: int, vector: int) -> str:
        """The variable of four sums."""
        return f"s{position}_{vector}"


def _start(start: Place, number: int, lanes: int) -> str:
    """The first values of up to four sums, from their texts."""
    texts = [start("", number + lane) for lane in range(lanes)]
    if lanes == 1 or texts[0] == texts[1]:
        return f"{PREFIX}all({texts[0]})"
    texts += ["0.0f"] * (LANES - lanes)
    return f"{PREFIX}of({', '.join(texts)})" if "(" in texts[0] else load(texts[0], lanes)


def _loaded(first: str) -> str:
    """Four weights from the text of the first one on."""
    half = re.fullmatch(r"match_half_to_float\((.*)\)", first)
    return f"{PREFIX}load_half(&{half.group(1)})" if half else f"{PREFIX}load(&{first})"


def _moved(text: str, variable: str, place: str) -> str:
    """C text of a value at another step."""
    return re.sub(rf"\b{variable}\b", place, text) if variable else text


def _stride(place: str) -> int:
    """The factor of ``k`` in an index, 0 if it is not there."""
    found = re.search(r"\bk(?: \* (\d+))?\b", place)
    return 0 if found is None else int(found.group(1) or 1)


def _operand(tensor: gs.Tensor, after: After, lanes: int) -> str:
    """C text of the values of an argument."""
    arguments = after.body.arguments if after.body else ()
    position = next(n for n, argument in enumerate(arguments) if argument.tensor.name == tensor.name)
    index = after.index(arguments[position].shape or ())
    place = f"in{after.first + position}[{index}]"
    return load(place, lanes) if _stride(index) else f"{PREFIX}all({place})"
