"""The MATCHA paper (arXiv 2604.09124): units side by side on Carfield, and against its host alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from match_core.plugin.facade import Plugins

from benchmarks.beside_alone import Alone, against_host
from benchmarks.beside_runs import NETWORKS_OF, Case, make, pair
from benchmarks.beside_tables import short
from benchmarks.paper_rows import Row, Section
from benchmarks.published import OPTIMISER_MACS_PER_CYCLE, SPEED_UPS, WHOLE_LAYERS_GAIN
from benchmarks.runs import told

#: The paper reports no gain for these.
DEPTHWISE = ("matcha_dscnn_f16", "matcha_mobilenet_f16")
_GAIN_ABOVE = (
    "Shares of an operator are views into one tensor, and tasks begin on rows that are ready; the paper's shares are "
    "sliced and joined by copies. [The ablation](benchmarks.md#units-side-by-side) shows what each part gains here."
)
_GAIN_BELOW = "Our two clusters differ more in speed for these layers, so that the slower one can take less of them."
_DEPTHWISE_ABOVE = (
    "The paper names slices and joins of depthwise layers as the reason for no gain; ours are views, without copies."
)
_WHOLE_ABOVE = (
    "Whole branches overlap well only if both clusters run them equally fast. The paper does not state the speeds of "
    "its kernels; ours are counted instructions."
)
_WHOLE_BELOW = (
    "In ResNet8 only the convolutions of two shortcuts are independent of others. The paper's text calls the network "
    "ResNet-18, which has more; its repository has ResNet8."
)
_ALONE_ABOVE = (
    "Our host alone takes 12 to 16 modelled cycles per multiply-accumulate. It has no instructions for binary16, so "
    "more than half of these cycles convert it. The paper does not say how its host computes binary16."
)
_ALONE_BELOW = "Our host's C takes fewer cycles than TVM's, by its model."
_ASSUMED_ABOVE = (
    "Our programs compute up to 28 multiply-accumulates a cycle (carfield_matcha; more with RedMulE) by counted "
    "instructions; the paper's optimiser assumes 8 and 6 for its two clusters."
)
#: What the host is taken to need in the second pair of rows.
_ASSUMED = 1 / OPTIMISER_MACS_PER_CYCLE["host"]


def matcha(target: str, plugins: Plugins) -> Section:
    """Gains of one target's networks, with shares and with whole layers only, and speed-ups over the host alone."""
    rows: list[Row] = []
    found = []
    for network in NETWORKS_OF[target]:
        case = Case(network, target)
        one = against_host(pair(case, plugins, 1), plugins)
        rows += _gains(case, one, plugins)
        found.append(one)
        told(f"{target}, {network}: done")
    return Section(
        f"MATCHA: units side by side on the target {target}",
        f"python -m benchmarks.side_by_side --target {target}",
        (*rows, *_speed_ups(found)),
        ("cycles or milliseconds: the paper's text states shares and ratios only.",),
        "Figures of the paper's text for its figure 7 and table 2. The gain is the share of cycles that concurrent "
        "programs save compared with sequential ones with the same kernels.",
    )


def _gains(case: Case, one: Alone, plugins: Plugins) -> Iterator[Row]:
    name, platform = short(case.network), case.published_on or ""
    above = _DEPTHWISE_ABOVE if case.network in DEPTHWISE else _GAIN_ABOVE
    gain = 100 * one.pair.gain
    what = f"{name}, gain, %"
    yield Row(what, gain, "on the twin", case.published_gain, platform, "section 4", ".1f", _GAIN_BELOW, above)
    if case.network in WHOLE_LAYERS_GAIN:
        whole = make(case, "concurrent", plugins, 1, "whole")
        gain = 100 * (1 - whole.cycles / one.pair.before.cycles)
        published, what = WHOLE_LAYERS_GAIN[case.network], f"{name}, gain with whole layers only, %"
        yield Row(what, gain, "on the twin", published, platform, "section 4", ".1f", _WHOLE_BELOW, _WHOLE_ABOVE)


def _speed_ups(found: Sequence[Alone]) -> Iterator[Row]:
    """The ends of the published ranges: with our host, and with the one that the paper's optimiser assumes."""
    platform = found[0].pair.case.published_on or ""
    hosts = (
        ("our host alone, modelled", None, _ALONE_ABOVE),
        (f"a host of {_ASSUMED:.0f} cycles per multiply-accumulate", 1 / _ASSUMED, _ASSUMED_ABOVE),
    )
    for kind, ends in SPEED_UPS.items():
        some = [one for one in found if ("_block_" in one.pair.case.network) == (kind == "block")]
        for host, macs_per_cycle, above in hosts:
            ours = [one.faster(one.pair.beside, macs_per_cycle) for one in some]
            for which, end, published in zip(("least", "largest"), (min(ours), max(ours)), ends, strict=True):
                what = f"{kind}s, {which} speed-up over {host}"
                yield Row(what, end, "modelled", published, platform, "section 4", ".1f", _ALONE_BELOW, above)
