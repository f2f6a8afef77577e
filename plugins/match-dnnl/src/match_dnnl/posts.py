"""The links of a chain as post-operations and as a bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import constant_input

from match_dnnl.chains import Chain, Link, channel_axis
from match_dnnl.engine import Engine, Floats, Post
from match_dnnl.functions import posts_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Two operands, one result: the names that oneDNN has for them.
BINARY = {"Add": "add", "Div": "div", "Max": "max", "Min": "min", "Mul": "mul", "Sub": "sub"}


def chain_bias(chain: Chain, channels: int) -> Floats | None:
    """The bias plus constants that are added to each channel after the operator; None if there are none."""
    own = constant_input(chain.node, 2)
    total = None if own is None else np.broadcast_to(own.astype(np.float32).reshape(-1), (channels,))
    for link in chain.links:
        if link.kind == "bias":
            added = np.broadcast_to(_values(link).reshape(-1), (channels,))
            total = added if total is None else total + added
    return None if total is None else np.asarray(total, np.float32)


def chain_posts(engine: Engine, chain: Chain, sizes: Sequence[int]) -> list[Post]:
    """Post-operations on the result, whose shape is ``sizes`` in the primitive."""
    posts: list[Post] = []
    for link in chain.links:
        if link.kind == "function":
            posts += posts_of(link.node) or ()
        elif link.kind == "sum" and link.operand is not None:
            posts.append(Post("sum", operand=engine.reshaped(engine.of(link.operand), sizes)))
        elif link.kind == "channel":
            posts.append(Post(BINARY[qualified_op(link.node)], operand=_channels(engine, chain.node, link, sizes)))
    return posts


def _channels(engine: Engine, node: gs.Node, link: Link, sizes: Sequence[int]) -> gs.Tensor:
    array, axis = _values(link).reshape(-1), channel_axis(node, len(sizes))
    return engine.constant(array.reshape([array.size if number == axis else 1 for number in range(len(sizes))]))


def _values(link: Link) -> Floats:
    return np.asarray(link.operand.values, np.float32) if link.operand is not None else np.zeros(1, np.float32)
