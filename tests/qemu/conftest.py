"""The tools that these tests need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_qemu.tools import PACKAGES

from tests.end_to_end.models import QdqBuilder

#: By family of processors.
TOOLS = {
    "arm": ("arm-none-eabi-gcc", "qemu-system-arm"),
    "riscv": ("riscv64-unknown-elf-gcc", "qemu-system-riscv64", "qemu-system-riscv32"),
}


def require(*families: str) -> None:
    """Where CI is true every tool must be there; elsewhere the tests are skipped."""
    missing = [name for family in families for name in TOOLS[family] if shutil.which(name) is None]
    said = f"not installed: {', '.join(missing)} (Debian: {', '.join(dict.fromkeys(PACKAGES[m] for m in missing))})"
    if missing and os.environ.get("CI") == "true":
        pytest.fail(said)
    if missing:
        pytest.skip(said)


@pytest.fixture(scope="session")
def integer_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Convolutions of all kinds and a pooling, between 8-bit tensors, compiled for the host alone."""
    folder = tmp_path_factory.mktemp("integer")
    builder = QdqBuilder(11, 3, 12, 12).conv(8, 3).conv(8, 3, group=8).conv(12, 1).max_pool(2, 2).conv(4, 3, stride=2)
    builder.save(folder / "net.onnx")
    compile_model(CompileRequest(folder / "net.onnx", "host", folder / "net", cache=False), Plugins.load())
    return folder / "net"


Edit = Callable[[str], Path]


@pytest.fixture
def broken_program(integer_program: Path, tmp_path: Path) -> Edit:
    """Makes a program whose second task begins with a statement."""

    def made(statement: str) -> Path:
        folder = Path(shutil.copytree(integer_program, tmp_path / "broken"))
        file = folder / "net.c"
        text = file.read_text(encoding="utf-8")
        assert "    case 1u:\n" in text
        file.write_text(text.replace("    case 1u:\n", f"    case 1u:\n        {statement}\n"), encoding="utf-8")
        return folder

    return made
