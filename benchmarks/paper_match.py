"""The MATCH paper (IEEE TCAD 2025, arXiv 2410.08855): networks and layers on GAP9 and DIANA."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from match_core.plugin.facade import Plugins
from match_gap9.constants import values

from benchmarks import diana_grid, diana_networks, networks
from benchmarks.diana_networks import L1_BYTES
from benchmarks.gap9_simulator import FAMILIES, PRESET, REFEREE, errors, halves, referee_rows, samples
from benchmarks.paper_rows import Row, Section
from benchmarks.published import (
    CLOCK_HZ,
    DIANA_HTVM_REDUCTION,
    DIANA_MACS_PER_CYCLE,
    DIANA_NETWORK_MS,
    DIANA_TVM_RATIO,
    DORY_RATIO,
    FIDELITY,
    HTVM_TVM_RATIO,
    NETWORK_MS,
)
from benchmarks.runs import NETWORKS

GAP9_SILICON = "GAP9 silicon, 260 MHz"
DIANA_SILICON = "DIANA silicon, 260 MHz"
TABLES = "tables III and IV"

_SIMULATED = (
    "Our figures come from a model fitted to the open simulator, which has no bank conflicts and a thin runtime. The "
    "published tool spends 920 cycles on a transfer, ours about 90. NNTool on silicon is faster than our figure, so "
    "such a speed is possible. How much of it our programs keep on silicon is not known."
)
_HOST_C = (
    "MATCH runs TVM's C on one core, we run our own: 3.6 to 4.5 instructions per multiply-accumulate on an emulator "
    "([benchmarks.md](benchmarks.md#on-risc-v)). The host model states their cycles; no chip confirms it."
)
_NE16_BELOW = "Layers that NE16 cannot run cost less on our host, as the rows CPU show; others run as with all units."
_NE16_DENSE = "Dense layers run on NE16 as pointwise convolutions; the published column equals its CPU column here."
_NE16_ABOVE = (
    "The host computes the three sums. The host model charges 29 cycles an element for them: 72 % of the time. How "
    "the published program computes them is not known."
)
_CLUSTER_ABOVE = "Our cluster kernels are fitted to the simulator's XpulpV2 code without hardware loops."


def _ms(cycles: float) -> float:
    return 1e3 * cycles / CLOCK_HZ


def gap9(plugins: Plugins) -> Section:
    """Tables III and IV on GAP9, and the ratios that the abstract states."""
    runs = networks.measure(NETWORKS, (PRESET,), ("fast",), plugins)
    ms = {(run.network, run.setting.units): _ms(run.cycles) for run in runs}
    rows: list[Row] = []
    for name in NETWORKS:
        known = NETWORK_MS[name]
        for units in ("CPU", "cluster", "NE16", "all"):
            below = {"CPU": _HOST_C, "NE16": _NE16_BELOW}.get(units, _SIMULATED)
            below = _NE16_DENSE if (name, units) == ("autoencoder", "NE16") else below
            above = {"NE16": _NE16_ABOVE, "cluster": _CLUSTER_ABOVE}.get(units, "")
            what = f"{name}, {'NE16 + CPU' if units == 'NE16' else units}, ms"
            how = "modelled" if units == "CPU" else "on the twin"
            rows.append(Row(what, ms[name, units], how, known[units], GAP9_SILICON, TABLES, below=below, above=above))
        rows += _simulated(name)
        for tool in ("DORY", "NNTool"):
            what = f"{name}, all, ms, beside {tool}"
            source = f"{TABLES}, {tool}"
            above = "NNTool's kernels are not public, so we cannot say why they are faster."
            rows.append(
                Row(
                    what,
                    ms[name, "all"],
                    "on the twin",
                    known[tool],
                    GAP9_SILICON,
                    source,
                    below=_SIMULATED,
                    above=above,
                )
            )
    mean = statistics.mean
    ours = mean(NETWORK_MS[name]["DORY"] / ms[name, "all"] for name in NETWORKS)
    rows.append(
        Row("times faster than DORY, mean", ours, "on the twin", DORY_RATIO, GAP9_SILICON, "abstract", above=_SIMULATED)
    )
    ours = mean(ms[name, "CPU"] / ms[name, "all"] for name in NETWORKS)
    published = mean(NETWORK_MS[name]["CPU"] / NETWORK_MS[name]["all"] for name in NETWORKS)
    above = "Both sides of our ratio are faster than the published ones; units gain more than the host's C."
    rows.append(Row("times faster than the CPU, mean", ours, "modelled", published, GAP9_SILICON, TABLES, above=above))
    about = f"Preset `{PRESET}`, precision `fast`, one task after another. The host model gives our CPU rows."
    return Section(
        "MATCH: networks on GAP9",
        "python -m benchmarks.networks --preset open-sdk --precision fast",
        tuple(rows),
        (
            "the memory sweep: the curves of its figures are published as pictures; "
            "`python -m benchmarks.l1_sweep` has ours.",
        ),
        about,
    )


def _simulated(name: str) -> Iterator[Row]:
    """Whole networks on the simulator: programs of an earlier choice with the runtime's changes as patches."""
    if not REFEREE.is_dir():
        return
    for row in referee_rows("gains.csv"):
        if (row["network"], row["precision"]) == (name, "fast") and row["patch"].startswith("add+pool"):
            what = f"{name}, all, ms, patched program of an earlier version"
            how = "measured on the simulator"
            yield Row(
                what, _ms(int(row["cycles"])), how, NETWORK_MS[name]["all"], GAP9_SILICON, TABLES, below=_SIMULATED
            )


def gap9_layers() -> Section:
    """Measured over predicted throughput. Ours: the rows of the simulator that the figures were not fitted to."""
    rows = []
    if REFEREE.is_dir():
        for kind, family in (("standard", FAMILIES[0]), ("depthwise", FAMILIES[2])):
            checked = errors(halves(list(samples(family)))[1], values(PRESET))
            share = float(1 + statistics.median(checked))
            what = f"cluster, {kind}: measured over predicted throughput"
            how = "measured on the simulator"
            above = "The published model leaves out what the simulator's rows were fitted to."
            published = FIDELITY["cluster", kind]
            rows.append(Row(what, share, how, published, GAP9_SILICON, "section VI", ".0%", above=above))
    return Section(
        "MATCH: single layers on GAP9",
        "python -m benchmarks.gap9_simulator",
        tuple(rows),
        (
            "NE16: our formulas are those of the simulator, so 100 % would say nothing.",
            "throughput over sizes: the curves of its figures are published as pictures; "
            "`python -m benchmarks.micro_grid` has ours.",
        ),
        "A model's prediction against another machine that runs the layer: the median of rows not fitted to.",
    )


def diana(plugins: Plugins) -> Section:
    """Table III on DIANA, beside TVM and HTVM, and the layer whose throughput is published."""
    points = diana_networks.measure(NETWORKS, L1_BYTES[:1], plugins)
    rows: list[Row] = []
    ratios, reductions = [], []
    for point in points:
        ours, known = point.ms, DIANA_NETWORK_MS[point.network]
        assert ours is not None
        ratios.append(point.host_ms / ours)
        reductions.append(1 - ours / known["HTVM"])
        for tool in ("MATCH", "HTVM"):
            rows.append(
                Row(
                    f"{point.network}, ms, beside {tool}",
                    ours,
                    "on the twin",
                    known[tool],
                    DIANA_SILICON,
                    "table III",
                    below=_DIANA_BELOW[point.network],
                    above=_DIANA_ABOVE,
                )
            )
    rows.append(
        Row(
            "times faster than the host alone, mean (published: than TVM)",
            statistics.mean(ratios),
            "modelled",
            DIANA_TVM_RATIO,
            DIANA_SILICON,
            "abstract",
            ".1f",
            above=_HOST_RATIO,
            below=_HOST_RATIO,
        )
    )
    most = "largest ratio to the host alone (published: HTVM to TVM)"
    rows.append(
        Row(
            most,
            max(ratios),
            "modelled",
            HTVM_TVM_RATIO,
            "DIANA silicon",
            "HTVM, abstract",
            ".0f",
            _HTVM_RATIO,
            _HTVM_RATIO,
        )
    )
    what = "time saved against HTVM, mean"
    above = "Depthwise layers as blocks of 16 channels and the folded layer of 10x4 save most; see the networks above."
    rows.append(
        Row(
            what,
            statistics.mean(reductions),
            "on the twin",
            DIANA_HTVM_REDUCTION,
            DIANA_SILICON,
            "abstract",
            ".0%",
            "",
            above,
        )
    )
    (layer,) = diana_grid.measure([diana_grid.PUBLISHED], plugins)
    assert layer.throughput is not None
    what = "3x3 convolution of 64 to 64 channels, 32x32, MAC/cycle"
    rows.append(Row(what, layer.throughput, "on the twin", DIANA_MACS_PER_CYCLE, DIANA_SILICON, "section VI"))
    return Section(
        "MATCH: networks and layers on DIANA",
        "python -m benchmarks.diana_networks --no-sweep",
        tuple(rows),
        (
            "TVM's milliseconds for each network: our sources state only their mean ratio, and that MobileNet ran "
            "out of memory on the host alone. Ours on the host alone are in [benchmarks.md](benchmarks.md#diana).",
            "measured over predicted throughput (95 % and 77 %): only our own twin runs our programs for DIANA.",
        ),
    )


_DIANA_BELOW = {
    "mobilenetv1_025": "Depthwise layers run as blocks of 16 channels. By the published cost model, this takes less "
    "than half the cycles of the published function. The twin models neither waiting for L2 nor the published tools' "
    "launch code.",
    "dscnn": "The layer of 10x4 is folded into one that the array supports; the published tools leave it to the host. "
    "Depthwise layers run as blocks of 16 channels.",
    "resnet8": "The twin models neither waiting for L2 nor the published tools' launch code.",
    "autoencoder": "The twin models neither waiting for L2 nor the published tools' launch code.",
}
_DIANA_ABOVE = (
    "The host takes four tenths of the time: it pads the image, converts it to the array's byte order and computes the "
    "mean. How the published program does that is not known; the array alone takes 0.63 ms."
)
_HOST_RATIO = (
    "The hosts run different C: ours takes 4.2 to 4.9 modelled cycles per multiply-accumulate; TVM's figure is not "
    "known. There, MobileNet did not fit on the host alone; our mean includes all four networks."
)
_HTVM_RATIO = (
    "The abstract of HTVM names neither the network nor the array. Ours is ResNet8 on the digital array, with "
    "different C on the host."
)
