"""One image from an emitted program and the port's own files, with Debian's cross compiler and picolibc."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from match_core.io.cache_dir import cache_directory, write_whole
from match_core.lower.ctypes import c_type
from match_core.lower.templates import Templates
from numpy.typing import NDArray

from ports.qemu_virt.parts import Parts, parts_of

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
TICKS_PER_SECOND = 10_000_000
#: How long the host sleeps at most. Without doorbells nobody wakes it, so that it looks often.
SLEEP_TICKS = {"event": TICKS_PER_SECOND // 50, "poll": TICKS_PER_SECOND // 10_000}

Arrays = Mapping[str, NDArray[np.generic]]


class BuildError(Exception):
    """The compiler refused something; its output."""


@dataclass(frozen=True, slots=True)
class Options:
    """``width``: of the harts' registers; ``timeout_seconds``: how long nothing may go on until a run is given up;
    ``defines``: macros for all files but the kernels; ``sources``: more C files; ``flags``: more of the compiler's,
    behind the usual ones."""

    width: Width = 64
    timeout_seconds: int = 60
    defines: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """What QEMU loads. ``text_bytes``: instructions and constants by image of the program (host, units), of the port
    and of the inputs (``data``), before the linker drops what nothing uses; behind that as ``linked``. ``objects``: of
    the program alone."""

    elf: Path
    width: Width
    document: Mapping[str, Any]
    samples: int
    harts: int
    text_bytes: Mapping[str, int] = field(default_factory=dict)
    objects: tuple[Path, ...] = ()


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
    parts = parts_of(document, work)
    left = sorted(path for path in program.glob("*.c") if path.name not in parts.left_out)
    own = [*parts.sources, work / "main.c", work / "data.S", *options.sources]
    includes = [f"-I{path}" for path in (HERE, *parts.includes, program, work)]
    compiler = _Compiler(
        (*ABIS[options.width], *FLAGS, *options.flags), includes, _defines(document, options), work, parts
    )
    objects = compiler.compile_all([*left, *own])
    elf = work / f"{document['name']}.elf"
    compiler.link(objects.values(), elf)
    sizes = _sizes(document, objects, own, elf)
    return Image(elf, options.width, document, samples, parts.harts, sizes, tuple(objects[path] for path in left))


def _defines(document: Mapping[str, Any], options: Options) -> list[str]:
    signalling = document["signalling"] or {"kind": "event"}
    sleep, limit = SLEEP_TICKS[signalling["kind"]], options.timeout_seconds * TICKS_PER_SECOND
    values = (
        f"PORT_SLEEP_TICKS={sleep}u",
        f"PORT_ANSWER_TICKS={limit}u",
        f"{document['name'].upper()}_WAIT_LIMIT={limit // sleep}u",
        *options.defines,
    )
    return [f"-D{value}" for value in values]


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


# ---- the compiler ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Compiler:
    """The cross compiler with its flags. Kernels, which are the same in every program, take most of the time: their
    objects are kept in a cache directory."""

    flags: tuple[str, ...]
    includes: list[str]
    defines: list[str]
    work: Path
    parts: Parts

    def compile_all(self, sources: list[Path]) -> dict[Path, Path]:
        """Objects by source, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            jobs = {source: pool.submit(self._object, source) for source in sources}
        return {source: job.result() for source, job in jobs.items()}

    def link(self, objects: Iterable[Path], elf: Path) -> None:
        script = (f"-T{HERE / 'virt.ld'}", "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments")
        _call(f"{PREFIX}gcc", *self.flags, *script, *map(str, objects), "-lm", "-o", str(elf))

    def _object(self, source: Path) -> Path:
        target = self.work / f"{source.stem}.o"
        is_kernel = bool(self.parts.kernels) and source.name.startswith(self.parts.kernels)
        kept = cache_directory("qemu") / self._key(source) if is_kernel else None
        if kept is not None and kept.is_file():
            target.write_bytes(kept.read_bytes())
            return target
        defines = [] if is_kernel else self.defines
        _call(f"{PREFIX}gcc", *self.flags, *defines, *self.includes, "-c", str(source), "-o", str(target))
        if kept is not None:
            write_whole(kept, target.read_bytes())
        return target

    def _key(self, kernel: Path) -> str:
        """Digest of all that decides about the object: compiler, flags, the kernel and the headers it may include."""
        version = _call(f"{PREFIX}gcc", "--version")
        digest = hashlib.sha256("\0".join((version, *self.flags, kernel.name)).encode())
        headers = [*kernel.parent.glob("match_*.h"), *(HERE / "include").glob("*.h")]
        for path in (kernel, *sorted(headers)):
            digest.update(b"\0" + path.read_bytes())
        return f"{digest.hexdigest()[:24]}.o"


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(done.stderr)
    return done.stdout


def _sizes(document: Mapping[str, Any], objects: Mapping[Path, Path], own: list[Path], elf: Path) -> dict[str, int]:
    owners = {name: image for image, names in document["images"].items() for name in names}
    sizes: dict[str, int] = {}
    for source, target in objects.items():
        is_data = source.name == "data.S"
        image = "data" if is_data else "port" if source in own else owners.get(source.name, "program")
        sizes[image] = sizes.get(image, 0) + _text_bytes(target)
    return {**dict(sorted(sizes.items())), "linked": _text_bytes(elf)}


def _text_bytes(file: Path) -> int:
    return int(_call(f"{PREFIX}size", str(file)).splitlines()[1].split()[0])
