"""One operator of the host with its rules and the builder of its kernel; and rules that families share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant

from match_host.graph import elements, values_of
from match_host.kernels.built import Builder

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

BYTES = ("int8", "uint8")
#: The number of products of two differences of 8-bit values that always fit a 32-bit sum: (2^31 - 1) / 255^2.
MOST_PRODUCTS = 33025


@dataclass(frozen=True, slots=True)
class Operator:
    """``name`` is ``domain::Op`` outside the default domain; ``family`` groups the support table."""

    name: str
    family: str
    rules: tuple[NodeRule, ...]
    build: Builder

    @property
    def pattern(self) -> str:
        """The name of its pattern."""
        return "host_" + snake(self.name)


def snake(name: str) -> str:
    """``match.nhwc::ConvInteger`` -> ``nhwc_conv_integer``; ``RequantU8`` -> ``requant_u8``."""
    domain, _, op = name.rpartition("::")
    prefix = "" if not domain or domain == "match.arith" else domain.rsplit(".", 1)[-1] + "_"
    result = ""
    for previous, char in zip(" " + op, op, strict=False):
        starts = char.isupper() and (previous.islower() or previous.isdigit())
        result += ("_" if starts else "") + char
    return prefix + result.lower()


def _products(node: gs.Node) -> str | None:
    weight = shape_of(node.inputs[1])
    count = elements(weight[1:]) if "Conv" in node.op else weight[-2 if len(weight) > 1 else 0]
    return None if count <= MOST_PRODUCTS else f"{count} products are summed"


def _int16_products(node: gs.Node) -> str | None:
    if not is_constant(node.inputs[1]) or values_of(node.inputs[1]).dtype != np.int8:
        return "weights are computed or not int8"
    sizes = np.abs(values_of(node.inputs[1]).astype(np.int64))
    axes = tuple(range(1, sizes.ndim)) if "Conv" in node.op else -2 if sizes.ndim > 1 else 0
    reach = int(sizes.sum(axis=axes).max()) << 15
    return None if reach < 1 << 31 else f"a sum reaches {reach}"


PRODUCTS = NodeRule("products", f"at most {MOST_PRODUCTS} products per sum (32-bit sums)", _products)
#: Of values of int16 and weights of int8.
INT16_PRODUCTS = (NodeRule("products", "weights are constant int8 values whose sums fit 32 bits", _int16_products),)
