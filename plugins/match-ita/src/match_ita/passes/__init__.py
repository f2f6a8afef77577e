"""The package's passes, in phase TARGET."""

from __future__ import annotations

from match_core import Pass, Soc


def ita_passes(soc: Soc) -> tuple[Pass, ...]:
    """All passes for a Soc with ITA."""
    from match_ita.passes.attention import ATTENTION, SOFTMAX
    from match_ita.passes.convolution import CONVOLUTION
    from match_ita.passes.gelu import GELU_PASS
    from match_ita.passes.linear import LINEAR
    from match_ita.passes.linear_relu import RELU
    from match_ita.passes.split import SPLIT

    return (SOFTMAX, ATTENTION, CONVOLUTION, GELU_PASS, RELU, SPLIT, LINEAR)
