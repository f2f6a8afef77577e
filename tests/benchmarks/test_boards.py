"""A network of ../shared/models on all emulated boards; `make test-boards` runs all of them."""

from __future__ import annotations

import shutil

import pytest
from match_core.plugin.facade import Plugins

from benchmarks.boards import BOARDS, measure, table
from benchmarks.runs import MODELS

TOOLS = ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "qemu-system-arm", "qemu-system-riscv32")
MISSING = ", ".join(tool for tool in TOOLS if shutil.which(tool) is None)


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")
@pytest.mark.parametrize(
    "name", ["mlperf_autoencoder_int8_qdq", pytest.param("mlperf_dscnn_f32", marks=pytest.mark.slow)]
)
def test_a_network_on_all_boards(name):
    folder = MODELS / name
    if not folder.is_dir():
        pytest.skip(f"the network is not on this machine: there is no {folder}")
    runs = list(measure(folder, Plugins.load()))
    assert [run.board for run in runs] == list(BOARDS)
    ((_, *counts, right),) = table(runs).rows
    assert right == "yes"
    assert name != "mlperf_autoencoder_int8_qdq" or counts[1] < counts[0] < counts[2]  # Helium, SMLAD, portable C
