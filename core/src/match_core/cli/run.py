"""``match run``: run a compiled program on the twin."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from match_core.cli.headline import command_line, headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, QuietOption, SanitizeOption
from match_core.cli.results import cycles_table, nodes_json
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Terminal


def run_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Output of match compile.")],
    inputs: Annotated[Path, typer.Option("--inputs", metavar="X.npz", help="One array per graph input.")],
    outputs: Annotated[Path, typer.Option("--outputs", metavar="Y.npz", help="Where to write the outputs.")],
    sanitize: SanitizeOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Run a compiled program on the twin, write its outputs to a file and print the cycles.

    Example: match run build --inputs inputs.npz --outputs outputs.npz
    """
    with Terminal(as_json=json, quiet=quiet, stages=("build", "run")) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.io.arrays import read_arrays, write_arrays
            from match_core.run.compiled_program import input_specs, read_manifest, run_program

            manifest = read_manifest(directory)
            arrays, preset = read_arrays(inputs, input_specs(manifest)), manifest["options"]["preset"]
            result = run_program(directory, arrays, plugins, sanitize=sanitize, observer=terminal, origin=str(inputs))
            write_arrays(outputs, result.outputs)
            clock = plugins.soc(manifest["target"]).clock_hz
        report = {
            **manifest,
            "target": {"name": manifest["target"], "clock_hz": None if clock is None else asdict(clock)},
            "measured": {"cycles": result.cycles_total, "units": result.cycles_by_unit},
            "layers": (),
            "memories": [{"name": name, **use} for name, use in manifest["memory"].items()],
        }
        document = {
            "schema": "match.run",
            "ok": True,
            "headline": headline(report, manifest["target"]),
            "preset": preset,
            "outputs": str(outputs),
            "shapes": {name: list(array.shape) for name, array in result.outputs.items()},
            "cycles": {"total": result.cycles_total, "units": dict(result.cycles_by_unit)},
            "nodes": nodes_json(result.nodes),
            "next": command_line("report", directory, "--inputs", inputs),
        }
        terminal.document(document)
        show_headline(terminal, document["headline"])
        terminal.table(cycles_table(result.cycles_total, result.cycles_by_unit, preset))
        terminal.line(f"outputs written to {outputs}")
        show_next(terminal, document["next"])
    return 0
