"""``python -m tests.packaging.wheelhouse FOLDER``: put what the wheels in a folder need beside them, so that they
install without a network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT


def wheelhouse_command(folder: Path, wheels: Sequence[Path]) -> list[str]:
    """The call of pip that downloads everything else, in the versions that are tested together."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--only-binary=:all:", "--constraint", str(ROOT / "requirements-dev.txt"), "--find-links", str(folder)]
    return [*command, *options, "--dest", str(folder), *map(str, wheels)]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    subprocess.run(wheelhouse_command(target, sorted(target.glob("match_*.whl"))), check=True)
