"""Why static programs cannot meet the remaining node tests, for the page docs/conformance.md.

A static program is a function of its inputs that is fixed before it runs: the same bytes in give the same bytes out, in
tensors whose sizes are known.
"""

from __future__ import annotations

from collections.abc import Mapping

_BERNOULLI = (
    "The operator has no result that a test can expect. Its documentation says: *this operator is non-deterministic "
    "and may not produce the same values in different implementations (even if a seed is specified)*. Take an element"
    " with probability 0 < p < 1: the standard allows both 0 and 1 for it, and the file does not say which one the "
    "suite's author drew (numpy's Mersenne Twister, in the state that its generator had while the test was written). "
    "A program that is a function of its inputs returns one of them; whichever it returns, the standard allows an "
    "expected value that differs. Without a seed (`test_bernoulli`, `test_bernoulli_double`) even the reference "
    "implementation does not repeat its own result. The bodies (`_expanded`) draw from RandomUniformLike, for which "
    "the same holds."
)
_DROPOUT = (
    "In training mode with a ratio 0 < r < 1, each element is dropped with probability r. The standard names a seed "
    "and no generator, so it allows any mask for the same inputs; the expected values come from numpy's "
    "`RandomState(0)`, which the file does not mention. As for Bernoulli, any fixed function of the inputs "
    "contradicts a result that the standard allows. The two tests with a ratio of 0 drop nothing, have one result, "
    "and pass; so do all of inference."
)

#: Operator that a case is about -> the reason, for operators with refused node tests.
PROOFS: Mapping[str, str] = {"Bernoulli": _BERNOULLI, "Dropout": _DROPOUT}
