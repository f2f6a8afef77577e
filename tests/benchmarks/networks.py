"""Cycles and accuracy of the MLPerf Tiny networks on GAP9 with all units and with some switched off.

``make bench`` prints two tables as Markdown; ``--update`` also puts them into the READMEs. Every cycle figure is of one
inference: "on the twin" is what running the emitted program on virtual clocks gives, "modelled" what the compiler
predicted. Neither is silicon. Kernels of the host have no twin: the twin charges them what the model says, so they say
nothing about the model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from match_core.plugin.host import Plugins
from match_core.transforms.base import Precision
from match_core.twin.run import NodeCycles
from match_core.verify import VerifyRequest, VerifyResult, verify_model

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / "shared" / "models"
#: Where each table is shown: the page, and the comment in front of it. It ends at the next END.
NETWORKS_AT = (ROOT / "README.md", "<!-- networks -->\n")
MODEL_AT = (ROOT / "plugins" / "match-gap9" / "README.md", "<!-- model -->\n")
END = "<!-- end -->\n"
NETWORKS = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
TARGET, HOST = "gap9", "host"


@dataclass(frozen=True, slots=True)
class Choice:
    """Units that may be used, and the precision of requantisation."""

    name: str
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    precision: Precision = "exact"


CHOICES = (
    Choice("all units"),
    Choice("all units, fast", precision="fast"),
    Choice("without ne16", without=("ne16",)),
    Choice("without cluster", without=("cluster",)),
    Choice("host only", only=(HOST,)),
)


def measure(network: str, choice: Choice, plugins: Plugins) -> VerifyResult:
    """Verify one network with the units of one choice on all stored samples."""
    folder = MODELS / f"mlperf_{network}_int8_qdq"
    request = VerifyRequest(
        folder / "model.onnx",
        TARGET,
        folder / "inputs.npz",
        only_units=choice.only,
        without_units=choice.without,
        precision=choice.precision,
    )
    return verify_model(request, plugins)


def cycles_row(network: str, choice: Choice, result: VerifyResult) -> tuple[str, ...]:
    """One line of the first table."""
    (output,) = result.outputs
    shares = {unit: cycles for unit, cycles in result.run.cycles_by_unit.items() if cycles}
    return (
        network,
        choice.name,
        f"{result.run.cycles_total:,}",
        f"{result.compilation.program.predicted_cycles:,}",
        ", ".join(f"{unit} {cycles / result.run.cycles_total:.0%}" for unit, cycles in shares.items()),
        "yes" if result.bit_exact else "NO",
        f"{output.mean_abs_lsb:.3f}",
        "-" if network == "autoencoder" or output.top1_agreement is None else f"{output.top1_agreement:.1%}",
        str(result.samples),
    )


def model_row(unit: str, nodes: Sequence[NodeCycles]) -> tuple[str, ...]:
    """One line of the second table: modelled cycles over cycles on the twin, layer by layer."""
    ratios = sorted(node.predicted_cycles / node.cycles for node in nodes)
    total = sum(node.predicted_cycles for node in nodes) / sum(node.cycles for node in nodes)
    middle = ratios[len(ratios) // 2]
    return (unit, str(len(nodes)), f"{total:.3f}", f"{ratios[0]:.3f}", f"{middle:.3f}", f"{ratios[-1]:.3f}")


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; all columns but the first two are aligned to the right."""
    rule = ["---" if index < 2 else "--:" for index in range(len(headings))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headings, rule, *rows))


def put(place: tuple[Path, str], table: str) -> None:
    """Replace the table at a place of a page."""
    page, begin = place
    before, rest = page.read_text(encoding="utf-8").split(begin, 1)
    page.write_text(f"{before}{begin}{table}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


def tables(networks: Sequence[str], plugins: Plugins) -> tuple[str, str, bool]:
    """Both tables, and whether everything was bit exact."""
    rows, exact = [], True
    nodes: dict[str, list[NodeCycles]] = {}
    for network in networks:
        for choice in CHOICES:
            result = measure(network, choice, plugins)
            rows.append(cycles_row(network, choice, result))
            exact = exact and result.bit_exact
            for node in result.run.nodes:
                if node.unit != HOST and node.cycles:
                    nodes.setdefault(node.unit, []).append(node)
            sys.stderr.write(f"{network}, {choice.name}: done\n")
    headings = ("network", "units", "cycles on the twin", "modelled cycles", "share of the twin's cycles", "bit exact")
    first = markdown((*headings, "mean LSB", "top-1 as original", "samples"), rows)
    headings = ("unit", "layers", "modelled / twin, all", "least", "median", "largest")
    return first, markdown(headings, [model_row(unit, nodes[unit]) for unit in sorted(nodes)]), exact


def main(arguments: Sequence[str]) -> int:
    """Print both tables; exit code 1 if anything is not bit exact."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}; all if none is given"
    )
    parser.add_argument("--update", action="store_true", help="put the tables into the READMEs")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir():
        sys.stderr.write(f"the networks are not on this machine: there is no {MODELS}\n")
        return 1
    if options.update and options.networks:
        parser.error("--update takes all networks")
    first, second, exact = tables(options.networks or NETWORKS, Plugins.load())
    sys.stdout.write(f"{first}\n\n{second}\n")
    if options.update:
        put(NETWORKS_AT, first)
        put(MODEL_AT, second)
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
