"""``match run``: run a compiled program on the twin, or where a runner runs it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from match_core.cli.headline import command_line, headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, QuietOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Terminal

from match_verify.verbs.counts import counts_table, layers_table, show_sizes
from match_verify.verbs.options import BaudOption, FlashOption, OnOption, PortOption, SanitizeOption


def run_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Output of match compile.")],
    inputs: Annotated[Path, typer.Option("--inputs", metavar="X.npz", help="One array per graph input.")],
    outputs: Annotated[Path, typer.Option("--outputs", metavar="Y.npz", help="Where to write the outputs.")],
    on: OnOption = "twin",
    port: PortOption = None,
    baud: BaudOption = None,
    flash: FlashOption = None,
    sanitize: SanitizeOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Run a compiled program on the twin or with a runner, write its outputs to a file and print what was counted.

    Example: match run build --inputs inputs.npz --outputs outputs.npz
    """
    with Terminal(as_json=json, quiet=quiet, stages=("build", "run")) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.run.compiled_program import input_specs, read_manifest, run_program
            from match_report.npz import read_arrays, write_arrays

            from match_verify.counts import run_json
            from match_verify.places import place_at

            place = place_at(on, {"port": port, "baud": baud, "flash": flash}, plugins, sanitize)
            manifest = read_manifest(directory)
            arrays, preset = read_arrays(inputs, input_specs(manifest)), manifest["options"]["preset"]
            result = run_program(
                directory, arrays, plugins, sanitize=sanitize, observer=terminal, origin=str(inputs), place=place
            )
            write_arrays(outputs, result.outputs)
            on_twin = place is None
            clock = plugins.soc(manifest["target"]).clock_hz
        report = {
            **manifest,
            "target": {"name": manifest["target"], "clock_hz": None if clock is None else asdict(clock)},
            "measured": {"cycles": result.cycles_total, "units": result.cycles_by_unit} if on_twin else None,
            "layers": [node for node in manifest["nodes"] if node["emitted"]],
            "memories": [{"name": name, **use} for name, use in manifest["memory"].items()],
        }
        document = {
            "schema": "match.run",
            "ok": True,
            "headline": headline(report, manifest["target"]),
            "preset": preset,
            "outputs": str(outputs),
            "shapes": {name: list(array.shape) for name, array in result.outputs.items()},
            **run_json(result),
            "next": command_line("report", directory, "--inputs", inputs),
        }
        terminal.document(document)
        show_headline(terminal, document["headline"])
        if not on_twin:
            terminal.table(layers_table(document, preset))
        terminal.table(counts_table(document, preset))
        show_sizes(terminal, document)
        terminal.line(f"outputs written to {outputs}")
        show_next(terminal, document["next"])
    return 0
