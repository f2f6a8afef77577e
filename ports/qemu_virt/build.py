"""One image from an emitted program and the port's own files, with Debian's cross compiler and picolibc."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from match_core.emit.ctypes import c_type
from match_core.emit.templates import Templates
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
PREFIX = "riscv64-unknown-elf-"
Width = Literal[32, 64]
#: Instruction set and calling convention by width; picolibc is there for both.
ABIS: Mapping[Width, tuple[str, ...]] = {
    64: ("-march=rv64imafdc", "-mabi=lp64d"),
    32: ("-march=rv32imafc", "-mabi=ilp32f"),
}
#: Products and sums are rounded one by one, as the kernels ask for.
FLAGS = (
    *("--specs=picolibc.specs", "-mcmodel=medany", "-O2", "-ffp-contract=off", "-ffunction-sections"),
    *("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"),
)
#: Runtime files of the target that the port takes the place of.
REPLACED = tuple(f"match_carfield_{name}.c" for name in ("host", "dma", "pulp", "pulp_dma", "spatz", "spatz_dma"))
#: Applications, which the port has one of its own for.
APPLICATIONS = ("example_main.c", *(f"match_carfield_{name}.c" for name in ("main", "pulp_main", "spatz_main")))
PORT_SOURCES = ("start.S", "virt.c", "units.c", "copies.c", "redmule.c")
TICKS_PER_SECOND = 10_000_000
#: How long the host sleeps at most. Without doorbells nobody wakes it, so that it looks often.
SLEEP_TICKS = {"event": TICKS_PER_SECOND // 50, "poll": TICKS_PER_SECOND // 10_000}

Arrays = Mapping[str, NDArray[np.generic]]


class BuildError(Exception):
    """The compiler refused something; its output."""


@dataclass(frozen=True, slots=True)
class Options:
    """``timeout_seconds``: how long nothing may go on until a run is given up; ``defines``: macros for all files;
    ``sources``: more C files."""

    width: Width = 64
    timeout_seconds: int = 60
    defines: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """What QEMU loads. ``text_bytes``: instructions and constants by image of the program (host, units) and of the
    port, before the linker drops what nothing uses."""

    elf: Path
    width: Width
    document: Mapping[str, Any]
    samples: int
    text_bytes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A graph input or output in C; ``offset``: bytes from the sample's begin."""

    field: str
    ctype: str
    elements: int
    offset: int


def build(program: Path, inputs: Arrays, work: Path, options: Options | None = None) -> Image:
    """Build the program in directory ``program`` for all samples (first axis of every input) inside ``work``.
    BuildError with what the compiler says."""
    options = options or Options()
    document = json.loads((program / "match.lock.json").read_text(encoding="utf-8"))
    work.mkdir(parents=True, exist_ok=True)
    samples = _write_data(program, document, inputs, work)
    left = sorted(path for path in program.glob("*.c") if path.name not in (*REPLACED, *APPLICATIONS))
    own = [*(HERE / name for name in PORT_SOURCES), work / "main.c", work / "data.S", _redmule(work), *options.sources]
    command = (f"{PREFIX}gcc", *ABIS[options.width], *FLAGS, *_defines(document, options))
    includes = [f"-I{path}" for path in (HERE, HERE / "include", _twin_headers(), program, work)]
    objects = _compile([*left, *own], (*command, *includes), work)
    elf = work / f"{document['name']}.elf"
    link = (*command, "-nostartfiles", f"-T{HERE / 'virt.ld'}", "-Wl,--no-warn-rwx-segments", "-Wl,--gc-sections")
    _call(*link, *map(str, objects.values()), "-lm", "-o", str(elf))
    return Image(elf, options.width, document, samples, _sizes(document, objects, own))


def _defines(document: Mapping[str, Any], options: Options) -> tuple[str, ...]:
    signalling = document["signalling"] or {"kind": "event"}
    sleep, limit = SLEEP_TICKS[signalling["kind"]], options.timeout_seconds * TICKS_PER_SECOND
    return (
        f"-DPORT_SLEEP_TICKS={sleep}u",
        f"-DPORT_ANSWER_TICKS={limit}u",
        f"-D{document['name'].upper()}_WAIT_LIMIT={limit // sleep}u",
        *(f"-D{define}" for define in options.defines),
    )


# ---- what the compiler gets --------------------------------------------------------------------------------------


def _write_data(program: Path, document: Mapping[str, Any], inputs: Arrays, work: Path) -> int:
    """main.c, and the inputs and streamed constants as parts of the image; the number of samples."""
    tensors, sample_bytes = _tensors(document["inputs"])
    arrays = [np.ascontiguousarray(inputs[io["name"]], dtype=io["dtype"]) for io in document["inputs"]]
    samples = len(arrays[0]) if arrays else 1
    data = np.zeros((samples, sample_bytes), np.uint8)
    for tensor, array in zip(tensors, arrays, strict=True):
        flat = array.reshape(samples, -1).view(np.uint8)
        data[:, tensor.offset : tensor.offset + flat.shape[1]] = flat
    (work / "inputs.bin").write_bytes(data.tobytes())
    parts = {"inputs": work / "inputs.bin", **{s["field"]: program / s["file"] for s in document["stores"]}}
    lines = [f'.balign 64\n.globl port_{name}\nport_{name}: .incbin "{path}"\n' for name, path in parts.items()]
    (work / "data.S").write_text('.section .rodata.port, "a"\n' + "".join(lines), encoding="utf-8")
    view = {
        **{name: document[name] for name in ("name", "arenas", "stores", "swap", "state")},
        "guard": document["name"].upper(),
        "samples": samples,
        "sample_bytes": sample_bytes,
        "inputs": tensors,
        "outputs": _tensors(document["outputs"])[0],
    }
    (work / "main.c").write_text(Templates((HERE,)).render("main.c.mako", view), encoding="utf-8")
    return samples


def _tensors(rows: list[Mapping[str, Any]]) -> tuple[list[_Tensor], int]:
    """The tensors of a sample, one behind the other from multiples of 64 bytes, and the bytes of them all."""
    tensors, offset = [], 0
    for row in rows:
        elements = int(np.prod(row["shape"], dtype=np.int64))
        tensors.append(_Tensor(row["field"], c_type(row["dtype"]), elements, offset))
        offset += -(-elements * np.dtype(row["dtype"]).itemsize // 64) * 64
    return tensors, offset


def _package() -> Path:
    import match_carfield

    return Path(match_carfield.__file__).resolve().parent


def _twin_headers() -> Path:
    return _package() / "twin" / "include"


def _redmule(work: Path) -> Path:
    """The twin's RedMulE, in a place where it meets the port's headers instead of the twin's."""
    return Path(shutil.copyfile(_package() / "twin" / "src" / "carfield_redmule.c", work / "carfield_redmule.c"))


# ---- the compiler ------------------------------------------------------------------------------------------------


def _compile(sources: list[Path], command: tuple[str, ...], work: Path) -> dict[Path, Path]:
    """Objects by source, two at a time."""
    from concurrent.futures import ThreadPoolExecutor

    targets = {source: work / f"{source.stem}.o" for source in sources}
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(_call, *command, "-c", str(path), "-o", str(out)) for path, out in targets.items()]
    for job in jobs:
        job.result()
    return targets


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(done.stderr)
    return done.stdout


def _sizes(document: Mapping[str, Any], objects: Mapping[Path, Path], own: list[Path]) -> dict[str, int]:
    owners = {name: image for image, names in document["images"].items() for name in names}
    sizes: dict[str, int] = {}
    for source, target in objects.items():
        image = "port" if source in own else owners.get(source.name, "program")
        row = _call(f"{PREFIX}size", str(target)).splitlines()[1].split()
        sizes[image] = sizes.get(image, 0) + int(row[0])
    return sizes
