"""The runner ``serial``: a board at a serial line, programmed by the user's own command."""

from __future__ import annotations

import json
import shlex
import struct
import subprocess
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from match_core.contract.errors import ToolError, UsageError
from match_core.contract.runner import RunRequest, RunResult
from match_core.run.execute import by_unit, nodes_of, read_outputs, write_inputs

from match_qemu.build import C_FILES, Board, build_image, call, mark_count
from match_qemu.counting import Counts, counts_of
from match_qemu.line import Frames, Line, broken, frame_bytes, open_line
from match_qemu.machines import Family
from match_qemu.tools import PREFIXES, found

BOARDS = Path(__file__).resolve().parent / "boards"
#: From the end of the flash command until the board answers; of one inference; of the flash command (estimates).
HELLO_SECONDS, RUN_SECONDS, FLASH_SECONDS = 20.0, 600.0, 600.0
#: How often a sample is sent again that arrives damaged, or whose outputs do.
RETRIES = 3
_FILES = ("support.c", "support.ld", "support.json")


@dataclass(frozen=True, slots=True)
class Support:
    """A board's folder of start-up code, linker script and description."""

    folder: Path
    processor: str
    flags: tuple[str, ...]

    @property
    def family(self) -> Family:
        """Which compiler builds for it."""
        return "riscv" if self.processor.startswith("rv") else "arm"


def run_serial(request: RunRequest) -> RunResult:
    """Build, flash, send every sample and read its outputs. UsageError MATCH-U102 for a board without support,
    MATCH-U103 without a line; ToolError MATCH-T010 to T015."""
    port, baud = request.options.get("port"), request.options.get("baud", "115200")
    if port is None or not baud.isdecimal():
        raise _no_line("name the line of the board" if port is None else f"--baud {baud[:20]!r} is not a number")
    support, observer, work = read_support(request), request.observer, request.work
    observer.stage_started("build")
    number = image_number(request)
    sources = (support.folder / "support.c", C_FILES / "serial.c")
    board = Board(support.folder.name, sources, support.folder / "support.ld", (f"MATCH_IMAGE=0x{number:08x}u",))
    image = build_image(request, support, board, support.flags)
    observer.stage_finished("build", {})
    observer.stage_started("run")
    if (command := request.options.get("flash")) is not None:
        _flash(command, image.elf, support)
    line = open_line(port, int(baud))
    try:
        session = _Session(request, line, number)
        samples, stack, counts = session.run()
    finally:
        line.close()
    nodes = nodes_of(request.document, counts.nodes)
    observer.stage_finished("run", {"samples": samples, "cycles": counts.total})
    return RunResult(
        outputs=read_outputs(request.document, work / "outputs.bin", samples),
        cycles_total=counts.total,
        cycles_by_unit=by_unit(nodes),
        cycles_by_clock={},
        nodes=nodes,
        place=f"{support.folder.name} at {port}",
        sizes={**image.sizes, "stack": stack},
    )


def image_number(request: RunRequest) -> int:
    """A number that tells programs apart: that of the digests of their files."""
    return zlib.crc32(json.dumps(request.document["files"], sort_keys=True).encode())


def read_support(request: RunRequest) -> Support:
    """The support folder that the user named. UsageError MATCH-U102 if it is not one, or is for another processor."""
    known = sorted(path.name for path in BOARDS.iterdir() if path.is_dir())
    folder = BOARDS / request.detail if request.detail in known else Path(request.detail).resolve()
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if not request.detail or missing:
        why = f"{folder} has no {', '.join(missing)}" if request.detail else "no board is named"
        raise _no_board(request, why, f"name a folder with {', '.join(_FILES)}, or one of {', '.join(known)}")
    try:
        description = json.loads((folder / "support.json").read_text(encoding="utf-8"))
        processor, flags = description["processor"], tuple(description.get("flags", ()))
        if not isinstance(processor, str) or not all(isinstance(flag, str) for flag in flags):
            raise TypeError("processor is text, flags a list of texts")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _no_board(request, f"support.json cannot be used: {error}", "see docs/runners.md") from error
    if request.soc.processor not in ("", processor):
        why = f"the board has a {processor}, the target a {request.soc.processor}"
        raise _no_board(request, why, "compile for a target with the board's processor, or for host")
    return Support(folder, processor, flags)


class _Session:
    """The exchange with a board that runs the image."""

    def __init__(self, request: RunRequest, line: Line, number: int) -> None:
        self._request, self._line, self._number = request, line, number
        self._frames = Frames(line)

    def run(self) -> tuple[int, int, Counts]:
        """All samples; their number, the depth of the stack in bytes, and what was counted. outputs.bin gets the
        outputs."""
        document, work = self._request.document, self._request.work
        samples = write_inputs(document, self._request.inputs, work / "inputs.bin")
        content = (work / "inputs.bin").read_bytes()
        size = len(content) // samples
        self._hello()
        with (work / "outputs.bin").open("wb") as file:
            for sample in range(samples):
                file.write(self._sample(content[sample * size : (sample + 1) * size]))
        self._line.write(frame_bytes("E"))
        marks = mark_count(document) + 3
        ends = [self._expect("O") for _ in range(2)]
        if [len(end or b"") for end in ends] != [4, 8 * marks]:
            raise broken(self._line.name, "what it counted arrives damaged")
        (stack,) = struct.unpack("<I", ends[0] or b"")
        return samples, stack, counts_of(dict(enumerate(struct.unpack(f"<{marks}Q", ends[1] or b""))), document)

    def _hello(self) -> None:
        end = time.monotonic() + HELLO_SECONDS
        while time.monotonic() < end:
            self._line.write(frame_bytes("Q"))
            frame = self._frames.next(1.0)
            if frame is None or frame.kind != "H" or frame.damaged:
                self._stopped(frame)
                continue
            (number,) = struct.unpack("<I", frame.payload)
            if number != self._number:
                raise broken(self._line.name, "it runs another program: flash this one (--flash COMMAND)")
            return
        raise broken(self._line.name, f"nothing that match understands came within {HELLO_SECONDS:g} s")

    def _sample(self, data: bytes) -> bytes:
        """The outputs of a sample; it is sent again where something was damaged on its way."""
        count = len(self._request.document["outputs"])
        retries = 0 if self._request.document.get("states") else RETRIES  # another run would change the state
        for _ in range(retries + 1):
            self._line.write(frame_bytes("S", data))
            outputs = [self._expect("O")]
            while outputs[-1] is not None and len(outputs) < count:
                outputs.append(self._expect("O"))
            if outputs[-1] is not None:
                return b"".join(output or b"" for output in outputs)
        raise broken(self._line.name, f"a sample or its outputs were damaged {retries + 1} times")

    def _expect(self, kind: str) -> bytes | None:
        """The payload of the next frame, None if it or what the board received was damaged."""
        end = time.monotonic() + RUN_SECONDS
        while time.monotonic() < end:
            frame = self._frames.next(end - time.monotonic())
            self._stopped(frame)
            if frame is None:
                break
            if frame.damaged or frame.kind == "N":
                return None
            if frame.kind == kind:
                return frame.payload
        raise broken(self._line.name, f"no frame came within {RUN_SECONDS:g} s")

    def _stopped(self, frame: object) -> None:
        """ToolError MATCH-T013 if the frame says that the program failed."""
        kind, payload = getattr(frame, "kind", ""), getattr(frame, "payload", b"")
        if kind == "F" and len(payload) == 12:
            exception, address, value = struct.unpack("<3I", payload)
            raise _failed(self._request, f"exception {exception} at address {address:#010x}, value {value:#010x}")
        if kind == "Z" and len(payload) == 4:
            raise _failed(self._request, f"it ended with status {struct.unpack('<i', payload)[0]}")


def _flash(command: str, elf: Path, support: Support) -> None:
    """Run the user's command. ToolError MATCH-T015 if it fails."""
    forms = {"elf": elf, "bin": elf.with_suffix(".bin"), "hex": elf.with_suffix(".hex")}
    for name, output in (("bin", "binary"), ("hex", "ihex")):
        if f"{{{name}}}" in command:
            call([found(f"{PREFIXES[support.family]}objcopy"), "-O", output, str(elf), str(forms[name])], "objcopy")
    why = ""
    try:
        words = shlex.split(command)
        for name, path in forms.items():
            words = [word.replace(f"{{{name}}}", str(path)) for word in words]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=FLASH_SECONDS
        )
        if done.returncode != 0:
            lines = done.stdout.decode("utf-8", "replace").splitlines()
            why = "; ".join(line for line in lines[-3:] if line.strip()) or f"exit status {done.returncode}"
    except subprocess.TimeoutExpired:
        why = f"it did not end within {FLASH_SECONDS:g} s"
    except (OSError, ValueError, IndexError) as error:
        why = f"it cannot be started: {error}"
    if why:
        raise ToolError(
            code="MATCH-T015",
            what="the board cannot be programmed",
            where=f"option --flash {command[:200]}",
            why=why,
            help=("run the command by hand", "{elf}, {bin} and {hex} stand for the image"),
        )


def _failed(request: RunRequest, why: str) -> ToolError:
    return ToolError(
        code="MATCH-T013",
        what="the program failed where it ran",
        where=f"{request.document['name']} for {request.document['target']} on a board",
        why=why,
        help=("check the support files of the board", "run it with --on qemu, which needs no board"),
    )


def _no_line(why: str) -> UsageError:
    return UsageError(
        code="MATCH-U103",
        what="the serial line cannot be opened",
        where="option --on serial",
        why=why,
        help=("--port /dev/ttyACM0", "--port tcp:HOST:PORT"),
    )


def _no_board(request: RunRequest, why: str, help_line: str) -> UsageError:
    return UsageError(
        code="MATCH-U102",
        what="the program cannot run there",
        where=f"option --on serial:{request.detail[:200]}",
        why=why,
        help=(help_line,),
    )
