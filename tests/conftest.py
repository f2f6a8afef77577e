"""Where tests find files; the fixtures are in the conftest.py of the whole repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SHARED_MODELS = ROOT.parent / "shared" / "models"


def load_inputs(folder: Path, limit: int | None = None) -> dict[str, np.ndarray]:
    """The stored inputs of a shared model, at most ``limit`` samples."""
    with np.load(folder / "inputs.npz") as archive:
        return {name: archive[name][:limit] for name in archive.files}
