"""The limits of convolutions and maximum pooling as named constraints."""

from __future__ import annotations

import numpy as np
from match_core import Constraint, Match

from match_ita.snitch_products_rules import ZERO_POINTS


def _image(match: Match) -> str | None:
    rank = len(match.shape("input"))
    return None if rank == 4 else f"the input has rank {rank}"


IMAGE = Constraint("rank", "images have two dimensions", _image)


def _one_group(match: Match) -> str | None:
    group = int(match.node("conv").attrs.get("group", 1))
    return None if group == 1 else f"there are {group} groups"


ONE_GROUP = Constraint("groups", "there is one group", _one_group)


def _no_conv_zero_points(match: Match) -> str | None:
    rest = [tensor for tensor in match.node("conv").inputs[2:] if not tensor.is_empty()]
    known = all(hasattr(tensor, "values") and not np.any(tensor.values) for tensor in rest)
    return None if known else "there are some"


CONV_ZERO_POINTS = Constraint("zero points", ZERO_POINTS.description, _no_conv_zero_points)


def _plain_pad(match: Match) -> str | None:
    if not match.has("pad"):
        return None
    node = match.node("pad")
    mode, amounts = node.attrs.get("mode", "constant"), getattr(node.inputs[1], "values", None)
    if mode not in ("constant", b"constant") or amounts is None or len(node.inputs) > 3:
        return "it has a mode or axes of its own"
    flat = [int(amount) for amount in amounts]
    if len(flat) != 8 or any(flat[i] for i in (0, 1, 4, 5)) or min(flat) < 0:
        return f"amounts are {flat}"
    inner = [int(p) for p in match.node("conv").attrs.get("pads", [0])]
    value = int(node.inputs[2].values) if len(node.inputs) > 2 and not node.inputs[2].is_empty() else 0
    return None if not any(inner) or value == 0 else f"the convolution pads by {inner} itself"


PLAIN_PAD = Constraint("padding", "padding is constant, in y and x only", _plain_pad)


def _one_result(match: Match) -> str | None:
    outputs = len(match.node("pool").outputs)
    return None if outputs == 1 else f"there are {outputs} results"


ONE_RESULT = Constraint("results", "indices of the largest values are not asked for", _one_result)
