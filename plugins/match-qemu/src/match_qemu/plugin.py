"""The hook of match-qemu: its runners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.runner import Runner, RunRequest, RunResult
from match_core.plugin.markers import hookimpl

from match_qemu.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

match_contract = 1


@hookimpl
def match_runners() -> Sequence[Runner]:
    """Boards that QEMU emulates, and boards at a serial line."""
    return (
        Runner("qemu", "emulated boards: Cortex-M and RISC-V, with exact instruction counts", _emulated, TOOLS),
        Runner("serial", "a board at a serial line", _at_line, options=("port", "baud", "flash")),
    )


def _emulated(request: RunRequest) -> RunResult:
    from match_qemu.emulator import run_emulated

    return run_emulated(request)


def _at_line(request: RunRequest) -> RunResult:
    from match_qemu.serial import run_serial

    return run_serial(request)
