"""Which place ``--on`` names, and which machine runs a program: no tool is needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from match_core.contract.errors import MatchError
from match_core.plugin.facade import Plugins
from match_qemu.build import _sizes
from match_qemu.counting import counts_of
from match_qemu.emulator import choose
from match_qemu.machines import MACHINES, machine_for, machine_named
from match_qemu.serial import read_support
from match_qemu.tools import TOOLS, flags_of, found
from match_verify.places import place_at

from tests.qemu.run_requests import integer_inputs, run_request

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load()


def test_places(plugins: Plugins) -> None:
    assert place_at("twin", {"port": None}, plugins) is None
    place = place_at("serial:mps2-an386", {"port": "/dev/ttyACM0", "baud": None}, plugins)
    assert place is not None and place.runner.name == "serial" and place.detail == "mps2-an386"
    assert place.options == {"port": "/dev/ttyACM0"}


@pytest.mark.parametrize(
    ("on", "options", "of_twin", "code", "why"),
    [
        ("qem", {}, False, "MATCH-U100", "the installed runners are twin, qemu, serial"),
        ("", {}, False, "MATCH-U100", "the installed runners are"),
        ("qemu", {"port": "/dev/null"}, False, "MATCH-U101", "its options are none"),
        ("twin", {"flash": "true"}, False, "MATCH-U101", "its options are none"),
        ("twin:fast", {}, False, "MATCH-U101", "there is one twin for each target"),
        ("qemu", {}, True, "MATCH-U101", "only the twin has them"),
    ],
)
def test_places_that_are_none(
    on: str, options: dict[str, str | None], of_twin: bool, code: str, why: str, plugins: Plugins
) -> None:
    with pytest.raises(MatchError) as caught:
        place_at(on, options, plugins, of_twin)
    assert caught.value.code == code and why in caught.value.why


@pytest.mark.parametrize(
    ("processor", "detail", "machine"),
    [
        ("", "", "mps2-an386"),
        ("", "virt32", "virt32"),
        ("cortex-m0plus", "", "mps2-an385"),
        ("cortex-m4", "", "mps2-an386"),
        ("cortex-m7", "", "mps2-an500"),
        ("cortex-m33", "", "mps2-an505"),
        ("cortex-m55", "", "mps3-an547"),
        ("rv32imac", "", "virt32"),
        ("cortex-m4", "mps2-an386", "mps2-an386"),
    ],
)
def test_the_machine_of_a_processor(
    processor: str, detail: str, machine: str, integer_program: Path, tmp_path: Path
) -> None:
    request = run_request(integer_program, integer_inputs(), tmp_path, detail)
    assert choose(replace(request, soc=replace(request.soc, processor=processor))).name == machine


@pytest.mark.parametrize(
    ("processor", "detail", "why"),
    [
        ("", "mps2-an368", "the machines are mps2-an386, mps2-an385"),
        ("cortex-a53", "", "no machine has its processor, cortex-a53"),
        ("cortex-m55", "mps2-an386", "mps2-an386 runs cortex-m4, cortex-m4+nofp, the target has a cortex-m55"),
    ],
)
def test_machines_that_do_not_run_a_program(
    processor: str, detail: str, why: str, integer_program: Path, tmp_path: Path
) -> None:
    request = run_request(integer_program, integer_inputs(), tmp_path, detail)
    with pytest.raises(MatchError, match="MATCH-U102") as caught:
        choose(replace(request, soc=replace(request.soc, processor=processor)))
    assert why in caught.value.why
    assert ("run it on mps3-an547: --on qemu" in caught.value.help) == (processor == "cortex-m55")


def test_a_tool_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MatchError, match="MATCH-T010") as caught:
        found("arm-none-eabi-gcc")
    assert caught.value.help[0] == "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"
    assert {tool.command for tool in TOOLS} >= {"arm-none-eabi-gcc", *(machine.emulator for machine in MACHINES)}


def test_flags_follow_the_processor() -> None:
    assert "-mfloat-abi=hard" in flags_of("arm", "cortex-m4") and "-mfloat-abi=soft" in flags_of("arm", "cortex-m3")
    assert "-mfloat-abi=soft" in flags_of("arm", "cortex-m4+nofp")
    assert {"-mabi=ilp32f", "-march=rv32imafc"} <= set(flags_of("riscv", "rv32imafc"))
    assert "-mabi=lp64d" in flags_of("riscv", "rv64imafdc") and "-mabi=ilp32" in flags_of("riscv", "rv32imac")


def test_every_processor_has_one_machine() -> None:
    names = [processor for machine in MACHINES for processor in machine.processors]
    assert len(names) == len(set(names))
    for machine in MACHINES:
        assert machine_named(machine.name) is machine and machine_for(machine.processor) is machine
        assert {machine.arenas, machine.vectors, "code", "ram"} <= {area.name for area in machine.areas}


def test_counting_costs_nothing() -> None:
    """Two nodes that took 10 and 20, a pair of calls that counts 3 of itself and costs 8 in whole, 5 between them."""
    document = {"nodes": [{"index": 0}, {"index": 1}]}
    raw = {0: 10 + 3, 1: 20 + 3, 2: 10 + 20 + 5 + 2 * 8 + 3, 3: 8 + 3, 4: 3}
    counts = counts_of(raw, document)
    assert counts.nodes == {0: 10, 1: 20} and counts.total == 35
    with pytest.raises(ValueError, match="counts of the run are missing"):
        counts_of({0: 13, 1: 23}, document)


def test_sizes_by_kind_of_section() -> None:
    text = (
        "a.o  :\nsection size addr\n.text 0 0\n.text.run 100 0\n.rodata.w 40 0\n.data 4 0\n.bss.s 8 0\n.comment 39 0\n"
    )
    assert _sizes(text) == {"text": 100, "constants": 40, "data": 4, "bss": 8}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (None, "no board is named"),
        ({}, "has no support.c, support.ld, support.json"),
        ({"support.c": "", "support.ld": ""}, "has no support.json"),
        ({"support.c": "", "support.ld": "", "support.json": "{"}, "support.json cannot be used"),
        ({"support.c": "", "support.ld": "", "support.json": "[]"}, "support.json cannot be used"),
        ({"support.c": "", "support.ld": "", "support.json": '{"processor": 4}'}, "processor is text"),
    ],
)
def test_support_files_that_are_incomplete(
    files: dict[str, str] | None, why: str, integer_program: Path, tmp_path: Path
) -> None:
    for name, text in (files or {}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    detail = "" if files is None else str(tmp_path)
    with pytest.raises(MatchError, match="MATCH-U102") as caught:
        read_support(run_request(integer_program, integer_inputs(), tmp_path / "work", detail))
    assert why in caught.value.why


def test_a_board_with_another_processor(integer_program: Path, tmp_path: Path) -> None:
    request = run_request(integer_program, integer_inputs(), tmp_path, "mps2-an386")
    assert read_support(request).processor == "cortex-m4"
    with pytest.raises(MatchError, match="MATCH-U102") as caught:
        read_support(replace(request, soc=replace(request.soc, processor="cortex-m55")))
    assert caught.value.why == "the board has a cortex-m4, the target a cortex-m55"


def test_options_of_another_runner(integer_program: Path, match_command: Command, tmp_path: Path) -> None:
    """Both verbs say so before anything is built."""
    np.savez(tmp_path / "x.npz", input=integer_inputs()["input"])
    samples = ("--inputs", tmp_path / "x.npz", "--outputs", tmp_path / "y.npz")
    run = match_command(
        "run", integer_program, *samples, "--on", "qemu", "--port", "x", "--baud", "9600", "--flash", "y"
    )
    model = integer_program.parent / "net.onnx"
    verify = match_command("verify", model, "-t", "host", "--on", "qemu", "--port", "x", "--baud", "1", "--flash", "y")
    for done in (run, verify):
        assert done.returncode == 2 and "MATCH-U101" in done.stderr and "--port, --baud, --flash" in done.stderr
    assert not (tmp_path / "y.npz").exists()
