"""Libraries for programs: a stand-in of ours, and the reader's copy of CMSIS-NN."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from match_cmsisnn.library import FOLDERS, GROUPS

sys.path.insert(0, str(Path(__file__).parent))  # tests are imported by path
VARIABLE, HERE = FOLDERS[0], Path(__file__).parent / "stand_in"


@pytest.fixture(scope="session")
def stand_in_folder(tmp_path_factory) -> Path:
    """The library's folders; the first file of each group holds the group's functions."""
    root = tmp_path_factory.mktemp("stand_in")
    (root / "Include").mkdir()
    (root / "Include" / "arm_nnfunctions.h").write_bytes((HERE / "arm_nnfunctions.h").read_bytes())
    for group, (first, *others) in GROUPS.items():
        for name in (first, *others):
            path = root / "Source" / f"{name}.c"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((HERE / f"{group}.c").read_bytes() if name == first else b"/* nothing */\n")
    return root


@pytest.fixture
def stand_in(stand_in_folder, monkeypatch) -> Path:
    """Programs are built with the stand-in."""
    monkeypatch.setenv(VARIABLE, str(stand_in_folder))
    return stand_in_folder


@pytest.fixture
def real_library() -> Path:
    """The reader's copy of CMSIS-NN."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} is not set: there is no copy of CMSIS-NN")
    return Path(folder)
