"""The tools that these tests need."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from ports.qemu_virt.build import PREFIX

TOOLS = (f"{PREFIX}gcc", "qemu-system-riscv64", "qemu-system-riscv32")


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    """Where CI is true everything must be there; elsewhere the tests are skipped."""
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing and os.environ.get("CI") == "true":
        pytest.fail(f"not installed: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: qemu-system-misc, gcc-riscv64-unknown-elf)")
    specs = subprocess.run([TOOLS[0], "--specs=picolibc.specs", "--version"], capture_output=True, check=False)
    assert specs.returncode == 0, "the compiler has no picolibc (Debian: picolibc-riscv64-unknown-elf)"
