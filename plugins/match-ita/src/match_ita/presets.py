"""Named sets of figures: the changes of each preset to the table of ``constants``.

``rtl`` is the current hardware description (pulp-platform/ITA at ba96519). ``islped`` is the softmax as first published
(arXiv 2307.03493), ``quantlib`` the one that the public integer networks were made for: both use 32 steps of a logit
per halving, and in ``quantlib`` probabilities reach 127.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Constant

DEFAULT_PRESET = "rtl"

_OLD = "pulp-platform/ITA before 39236c9 (2024-11-29); arXiv 2307.03493"
_SHIFT = Constant("softmax_shift", 5, "bits", _OLD)
_CONTEXTS = Constant("contexts", 2, "jobs", "dual-context register file, IEEE Design & Test 42:5, 2025")

PRESETS: Mapping[str, tuple[Constant, ...]] = MappingProxyType(
    {
        DEFAULT_PRESET: (),
        "quantlib": (
            _SHIFT,
            _CONTEXTS,
            Constant(
                "softmax_numerator", 127 * 256, "1", "Deeploy's ITAPartialMax networks: n_levels / 2 - 1 times 256"
            ),
        ),
        "islped": (_SHIFT, _CONTEXTS),
    }
)
