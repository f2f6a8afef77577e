"""What the tests of RISC-V code need: clang, as ziglang brings it, and emulators."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest


def needs(*emulators: str) -> pytest.MarkDecorator:
    """Skips where ziglang or an emulator is absent; where CI is set the tests run, and fail."""
    missing = [name for name in emulators if shutil.which(name) is None]
    if importlib.util.find_spec("ziglang") is None:
        missing.append("ziglang (pip)")
    skipped = bool(missing) and not os.environ.get("CI")
    return pytest.mark.skipif(skipped, reason=f"{', '.join(missing)}: not installed")
