"""``make test-modes``: programs with units side by side in every way of running them, as a table. Exit code 1 if two
ways disagree. ``python -m tests.end_to_end.modes [MODEL ...]`` takes other models of ../shared/models."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from match_core.plugin.facade import Plugins

from tests.conftest import SHARED_MODELS
from tests.end_to_end.side_by_side import MODELS, compiled, differences


def main(names: Sequence[str]) -> int:
    """Print a line for each model and mode; 1 if one gives other bytes, or lazy other cycles than eager."""
    plugins, failed = Plugins.load(), False
    print("| model | mode | cycles on the twin | differs by |\n|---|---|---|---|")
    for name in names or MODELS:
        model = SHARED_MODELS / name / "model.onnx"
        if not model.is_file():
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(model, Path(folder), plugins)
            for mode, result, what in differences(program.runs(Path(folder), sanitize=False)):
                failed |= bool(what)
                print(f"| {name} | {mode} | {result.cycles_total or ''} | {what} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
