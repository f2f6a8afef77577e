"""A run of a compiled program on the twin, for its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.run.compiled_program import read_manifest, run_program

from match_report.measured import measured_json
from match_report.samples import SEED, random_array

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from match_core.plugin.facade import Plugins
    from numpy.typing import NDArray


def with_measured(
    report: Mapping[str, Any], directory: Path, inputs: Mapping[str, NDArray[np.generic]] | None, plugins: Plugins
) -> dict[str, Any]:
    """The report with cycles and events of a run on the twin; ``inputs`` None: seeded random inputs. Only the first
    sample has a timeline."""
    arrays = dict(inputs) if inputs is not None else _random_inputs(read_manifest(directory))
    return {**report, "measured": measured_json(run_program(directory, arrays, plugins))}


def _random_inputs(manifest: Mapping[str, Any]) -> dict[str, NDArray[np.generic]]:
    """One sample for every input."""
    generator = np.random.default_rng(SEED)
    return {
        tensor["name"]: random_array(generator, np.dtype(tensor["dtype"]), (1, *tensor["shape"]))
        for tensor in manifest["inputs"]
    }
