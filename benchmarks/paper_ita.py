"""ITA in its cluster (Wiese et al., IEEE Design & Test 42:5, 2025): tests of products and attention, table I."""

from __future__ import annotations

from collections.abc import Iterator

from match_core.plugin.facade import Plugins

from benchmarks import ita_peak, transformers
from benchmarks.paper_rows import Row, Section
from benchmarks.published import (
    ITA_CLOCK_HZ,
    ITA_CORES_GEMM,
    ITA_CORES_GIGA_OPERATIONS_PER_JOULE,
    ITA_NETWORKS,
    ITA_PEAKS,
)
from benchmarks.runs import MODELS

LAYOUT = "the same cluster, simulated after layout, 425 MHz"
#: The stored network of one layer, and how many layers the encoder has.
ENCODERS = {
    "mobilebert": ("ita_mobilebert_l1_int8_qdq", 24),
    "dinov2": ("ita_dinov2_l1_int8_qdq", 12),
    "whisper": ("ita_whisper_l1_int8_qdq", 4),
}
_FASTER = (
    "At ITA's published 741 GOp/s the products take 8 to 21 % of the published time; the rest goes to operators on the "
    "cores, copies and waits, whose cycles are not published. Ours are counted instructions limited by the shared "
    "multiplier, without stalls of memory banks and instruction fetches; nothing public confirms them."
)
_FEWER = (
    "For the shapes that the paper gives, we count 2.0, 11.3 and 8.9 GOp, the paper 4.74, 11.7 and 9.74: our "
    "MobileBERT's inference is less than half of the paper's. The difference in GOp/s explains the rest."
)
_ENERGY = (
    "The energy is the published power of each kind of kernel times our shorter time, for as many operations as the "
    "inferences have; idle power and copies without a kernel are not published and count nothing."
)
_POWER = (
    "ITA is busy for a larger part of our shorter time, and its products draw 136.7 mW, the cores 26.0 mW (published)."
)
_CALIBRATED = "cores alone (calibrated to the published GEMM on the cores)"


def peaks(plugins: Plugins) -> Section:
    """GEMM and attention on ITA, and what the cores do alone; the largest of our sizes."""
    rows: list[Row] = []
    for case in (case for case in ita_peak.cases() if case.rows == 512):
        paper, ran = ITA_PEAKS[case.kind], ita_peak.run(case, "ita", plugins)
        for what, ours, published, form in (
            ("GOp/s", ran.giga_operations_per_second, paper.giga_operations_per_second, ".0f"),
            ("share of ITA's peak", ran.of_peak, paper.utilisation, ".1%"),
            ("GOp/J", ran.giga_operations_per_joule, paper.giga_operations_per_joule, ",.0f"),
        ):
            how = "modelled" if what == "GOp/J" else "on the twin"
            rows.append(Row(f"{case.name}, {what}", ours, how, published, LAYOUT, "section V-A", form))
        if case.kind == "GEMM":
            cores = ita_peak.run(case, "snitch", plugins)
            rate, published = cores.giga_operations_per_second, ITA_CORES_GEMM.giga_operations_per_second
            name = f"{case.name}, {_CALIBRATED}, GOp/s"
            rows.append(Row(name, rate, "on the twin", published, LAYOUT, "section V-A", ".3f"))
            name = f"{case.name}, ITA to cores alone (calibrated), throughput"
            times = ran.giga_operations_per_second / rate
            rows.append(Row(name, times, "on the twin", 986, LAYOUT, "section V-A", ".0f"))
            name = f"{case.name}, ITA to cores alone (calibrated), energy"
            times = ran.giga_operations_per_joule / cores.giga_operations_per_joule
            rows.append(Row(name, times, "modelled", 188, LAYOUT, "section V-A", ".0f"))
    return Section(
        "ITA: products and attention",
        "python -m benchmarks.ita_peak",
        tuple(rows),
        ("shares of area and of the standalone accelerator (79.6 %): we have no such figures.",),
        "None of our sources states the sizes of the paper's tests. Ours: 512 rows, columns and products in a sum.",
    )


def networks(plugins: Plugins) -> Section:
    """Table I: as in the paper, one layer is measured by itself and multiplied by the number of layers."""
    rows: list[Row] = []
    for name, (stored, layers) in ENCODERS.items():
        if (MODELS / stored).is_dir():
            rows += _network(name, layers, transformers.measure(MODELS / stored, plugins, None))
    return Section(
        "ITA: encoders",
        "python -m benchmarks.transformers --network ita_mobilebert_l1_int8_qdq",
        tuple(rows),
        (),
        "One layer times the number of layers, as the paper sums layers that it measured one by one. "
        "[benchmarks.md](benchmarks.md#full-encoders) has whole encoders.",
    )


def _network(name: str, layers: int, network: transformers.Network) -> Iterator[Row]:
    paper = ITA_NETWORKS[name]
    per_second = paper.giga_operations * paper.inferences_per_second
    for way, ran in (("one after another", network.before), ("side by side", network.beside)):
        ours = 2 * ran.macs() / ran.cycles * ITA_CLOCK_HZ / 1e9
        yield Row(f"{name}, {way}, GOp/s", ours, "on the twin", per_second, LAYOUT, "table I", ".0f", "", _FASTER)
    ran = network.before
    ours = ITA_CLOCK_HZ / (layers * ran.cycles)
    published = paper.inferences_per_second
    yield Row(f"{name}, inferences/s", ours, "on the twin", published, LAYOUT, "table I", ".2f", "", _FEWER)
    millijoules = layers * ran.picojoules / 1e9
    yield Row(f"{name}, mJ an inference", millijoules, "modelled", paper.millijoules, LAYOUT, "table I", ".2f", _ENERGY)
    power = paper.millijoules * paper.inferences_per_second
    yield Row(f"{name}, mW", ours * millijoules, "modelled", power, LAYOUT, "table I", ".1f", "", _POWER)
    cores = network.cores
    ours = 2 * cores.macs() / cores.cycles * ITA_CLOCK_HZ / 1e9
    published = paper.giga_operations * paper.cores_inferences_per_second
    yield Row(f"{name}, {_CALIBRATED}, GOp/s", ours, "on the twin", published, LAYOUT, "table I", ".3f")
    ours = 2e3 * cores.macs() / cores.picojoules
    published = ITA_CORES_GIGA_OPERATIONS_PER_JOULE
    yield Row(f"{name}, {_CALIBRATED}, GOp/J", ours, "modelled", published, LAYOUT, "table I", ".1f")
