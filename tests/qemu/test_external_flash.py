"""Weights in external flash: a board file names it as the store, the linker places the constants there, and the
emulated board reads them where they are mapped. They are programmed apart from the application."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_core.run.execute import read_outputs, write_inputs
from match_qemu.build import build_image, emulated_board
from match_qemu.machines import machine_named

from tests.end_to_end.models import QdqBuilder
from tests.qemu.conftest import require
from tests.qemu.run_requests import run_request

#: An area of the emulated machine that nothing else uses, instead of flash.
ADDRESS, SIZE = 0x21800000, 8 << 20
BOARD = f"""[soc]
name = "with_ospi"
description = "STM32L4R5 with weights in external flash that is mapped"
home = "ram"
store = "ospi"
host = "cortex_m4"
host_machine = "scalar"

[[units]]
name = "cortex_m4"
soc = "stm32l4r5"

[[memories]]
name = "ram"
from = "stm32l4r5"

[[memories]]
name = "ospi"
from = "stm32l4r5.flash"
size_bytes = {SIZE}
source = "data sheet"
"""


def test_constants_are_read_where_external_flash_is_mapped(tmp_path: Path) -> None:
    require("arm")
    board = tmp_path / "with_ospi.toml"
    board.write_text(BOARD, encoding="utf-8")
    model = QdqBuilder(11, 3, 12, 12).conv(8, 3).conv(8, 3, group=8).conv(12, 1).save(tmp_path / "net.onnx")
    program = tmp_path / "net"
    compile_model(CompileRequest(model, str(board), program, cache=False), Plugins.load())
    inputs = {"input": np.random.default_rng(2).integers(-128, 128, (1, 1, 3, 12, 12)).astype(np.int8)}
    expected = {name: array.tobytes() for name, array in run_program(program, inputs, Plugins.load()).outputs.items()}

    request = run_request(program, inputs, tmp_path / "work")
    machine = machine_named("mps2-an386")
    assert machine is not None and request.soc.mapped and request.soc.store == "ospi"
    emulated = emulated_board(machine, request.work)
    text = emulated.script.read_text(encoding="utf-8")
    text = text.replace("MEMORY\n{", f"MEMORY\n{{\n    ospi (r) : ORIGIN = {ADDRESS:#x}, LENGTH = {SIZE}")
    text = text.replace("    .rodata :", "    .network : { *(.network) } > ospi\n    .rodata :")
    emulated.script.write_text(text, encoding="utf-8")
    image = build_image(request, machine, emulated, ('-DNET_OSPI_CONST_SECTION=__attribute__((section(".network")))',))
    placed = [at for name, (at, _) in image.symbols.items() if name.startswith("net_") and at >= ADDRESS]
    assert placed, "constants have a section of their own"

    flash, application = request.work / "network.bin", request.work / "application.elf"
    copy = ["arm-none-eabi-objcopy"]
    subprocess.run([*copy, "-O", "binary", "--only-section=.network", image.elf, flash], check=True)
    subprocess.run([*copy, "--remove-section=.network", image.elf, application], check=True)
    assert flash.stat().st_size >= request.document["memory"]["ospi"]["constant_bytes"] > 0

    def ran(*devices: str) -> dict[str, bytes]:
        samples = write_inputs(request.document, inputs, request.work / "inputs.bin")
        command = [machine.emulator, *machine.options, "-nographic", "-monitor", "none", "-serial", "none"]
        command += ["-semihosting-config", "enable=on,target=native", *devices, "-kernel", str(application)]
        subprocess.run(command, cwd=request.work, check=True, stdin=subprocess.DEVNULL, timeout=60)
        outputs = request.work / "outputs.bin"
        outputs.write_bytes(outputs.read_bytes()[:-4])
        return {name: array.tobytes() for name, array in read_outputs(request.document, outputs, samples).items()}

    assert ran("-device", f"loader,file={flash},addr={ADDRESS:#x}") == expected
    assert ran() != expected, "without what was programmed, the results are others: the constants are not elsewhere too"
