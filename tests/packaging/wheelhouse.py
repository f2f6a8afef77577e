"""``python -m tests.packaging.wheelhouse FOLDER``: put what the wheels in a folder require into it, their extras
included, so that they install without a network."""

from __future__ import annotations

import email
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT


def wheelhouse_command(folder: Path, wheels: Sequence[Path]) -> list[str]:
    """The call of pip that downloads everything else, in the versions that are tested together."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--only-binary=:all:", "--constraint", str(ROOT / "requirements-dev.txt"), "--find-links", str(folder)]
    return [*command, *options, "--dest", str(folder), "pip", *map(with_extras, wheels)]  # pip: pipx wants a recent one


def with_extras(wheel: Path) -> str:
    """The wheel with all of its extras, as pip takes it."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        extras = email.message_from_string(archive.read(name).decode("utf-8")).get_all("Provides-Extra") or []
    return f"{wheel}[{','.join(extras)}]" if extras else str(wheel)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    subprocess.run(wheelhouse_command(target, sorted(target.glob("match_*.whl"))), check=True)
