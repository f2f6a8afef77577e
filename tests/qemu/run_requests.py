"""What the core gives to a runner, for tests that call its parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from match_core.contract.observe import NullObserver
from match_core.contract.runner import RunRequest
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import read_manifest, soc_of_program, units_of_program
from numpy.typing import NDArray


def run_request(program: Path, inputs: Mapping[str, NDArray[np.generic]], work: Path, detail: str = "") -> RunRequest:
    """A request for all samples of a compiled program."""
    document, plugins = read_manifest(program), Plugins.load()
    soc, (_, apis) = soc_of_program(document, plugins), units_of_program(document, plugins)
    work.mkdir(parents=True, exist_ok=True)
    return RunRequest(program, document, inputs, soc, apis, work, NullObserver(), detail)


def integer_inputs(samples: int = 2) -> dict[str, NDArray[np.generic]]:
    """Samples of the integer program from a fixed seed."""
    values = np.random.default_rng(13).integers(-128, 128, (samples, 1, 3, 12, 12))
    return {"input": values.astype(np.int8)}
