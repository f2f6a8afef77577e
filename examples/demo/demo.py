"""The demo: compile the trained network for GAP9, run all test images on the twin, show what came out.

Run with ``make demo``. The compiled program is left in ``build/demo`` to look at.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from demo_data import TEST_IMAGES, load_demo_inputs, load_demo_labels, top1_accuracy
from match_core.cli.terminal import Table, Terminal
from match_core.contract.errors import MatchError
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, reference_of_file, verify_model

HERE = Path(__file__).resolve().parent
MODEL = HERE / "resnet8_shapes.onnx"
PROGRAM = HERE.parent.parent / "build" / "demo"


def main() -> int:
    """Exit code 0 if every image is bit exact."""
    plugins = Plugins.load()
    with Terminal() as terminal:
        try:
            compile_model(CompileRequest(MODEL, "gap9", PROGRAM), plugins)
            inputs, labels = load_demo_inputs(TEST_IMAGES), load_demo_labels(TEST_IMAGES)
            result = verify_model(VerifyRequest(MODEL, "gap9", arrays=inputs), plugins, terminal)
        except MatchError as error:
            terminal.error(error)
            return error.exit_code
        before = reference_of_file(MODEL, inputs, len(labels))
        show(terminal, result, len(labels))
        name = result.outputs[0].name
        trained = json.loads((HERE / "accuracy.json").read_text(encoding="utf-8"))["top1"]["float32"]["test"]
        accuracies = (
            ("float32, as trained (recorded in accuracy.json)", trained),
            ("int8 ONNX in ONNX Runtime (before deployment)", top1_accuracy(before[name], labels)),
            ("C program on the GAP9 twin (after deployment)", top1_accuracy(result.run.outputs[name], labels)),
        )
        rows = tuple((text, f"{100 * value:.1f} %") for text, value in accuracies)
        terminal.table(Table(f"top-1 accuracy on {len(labels)} test images", ("what", "accuracy"), rows))
        terminal.line(f"C program: {PROGRAM}")
        terminal.line("bit exact" if result.bit_exact else "NOT bit exact")
    return 0 if result.bit_exact else 1


def show(terminal: Terminal, result: VerifyResult, images: int) -> None:
    """Layers with their units and cycles; memory."""
    rows = tuple((node.title, node.unit, f"{node.cycles:,}", f"{node.predicted_cycles:,}") for node in result.run.nodes)
    program = result.compilation.program
    total = ("total", "", f"{result.run.cycles_total:,}", f"{program.predicted_cycles:,}")
    cycles = ("cycles (twin)", "cycles (modelled)")
    terminal.table(
        Table(
            f"layers of one inference (preset {program.soc.preset})",
            ("layer", "unit", *cycles),
            (*rows, total),
            frozenset(cycles),
        )
    )
    memory = tuple((use.memory, f"{use.used_bytes:,}", f"{use.available_bytes:,}") for use in program.memory)
    sizes = ("used bytes", "available bytes")
    terminal.table(Table("memory", ("level", *sizes), memory, frozenset(sizes)))


if __name__ == "__main__":
    sys.exit(main())
