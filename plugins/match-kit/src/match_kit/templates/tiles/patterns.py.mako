"""The array's patterns: dense layers with requantisation, with the rules of its hardware."""

from __future__ import annotations

from match_core import Match, Pattern, Workload
from match_core.patterns import rules_tensors
from match_core.patterns.rule import rule
from match_core.patterns.structures import DENSE, requantised
from match_core.patterns.workloads import Kernels, axis, bounds

from ${module}.hardware import FEATURES_MAX


@rule("features", f"a row has at most {FEATURES_MAX} features")
def features(match: Match) -> str | None:
    count = match.shape("weight")[0]
    return None if count <= FEATURES_MAX else f"it has {count}"


def _workload(match: Match) -> Workload:
    """N rows of C features to K outputs; weights have one row per output."""
    inputs, outputs = match.shape("weight")
    weight = (axis("k", outputs), axis("c", inputs))
    return Kernels().dense(match, "${name}_dense", weight, (), arithmetic=bounds(match))


PATTERNS = (
    Pattern(
        name="${name}_dense",
        description="dense layer with requantisation to uint8",
        structure=requantised(DENSE, "U8"),
        constraints=(rules_tensors.uint8_activations, rules_tensors.int8_weights, features),
        workload=_workload,
    ),
)
