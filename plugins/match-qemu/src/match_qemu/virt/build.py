"""One image from an emitted program and the port's own files, with Debian's cross compiler and picolibc."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.runner import RunRequest
from match_core.io.cache_dir import cache_directory, write_whole
from match_core.lower.templates import Templates

from match_qemu.build import C_FILES, call, mark_count, program_sources, symbols_of
from match_qemu.tools import PREFIXES, flags_of, found
from match_qemu.virt.parts import HARTS, HERE, KERNELS, REPLACED, parts_of

Width = Literal[32, 64]
PROCESSORS: Mapping[Width, str] = {64: "rv64imafdc", 32: "rv32imafc"}
#: A hart of 64 bits at this address needs the medium code model, which ``flags_of`` states.
FLAGS = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
TICKS_PER_SECOND = 10_000_000
#: How long the host sleeps at most. Without doorbells nobody wakes it, so that it looks often.
SLEEP_TICKS = {"event": TICKS_PER_SECOND // 50, "poll": TICKS_PER_SECOND // 10_000}


@dataclass(frozen=True, slots=True)
class Options:
    """``width``: of the harts' registers; ``timeout_seconds``: how long nothing may go on until a run is given up;
    ``counted``: nodes mark where they begin and end; ``defines``: macros for all files but the kernels; ``sources``:
    more C files."""

    width: Width = 64
    timeout_seconds: int = 60
    counted: bool = False
    defines: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class VirtImage:
    """What QEMU loads. ``symbols``: (address, bytes) by name. ``text_bytes``: instructions and constants by image of
    the program (host, units), of the port and of the inputs (``data``), before the linker drops what nothing uses;
    behind that as ``linked``."""

    elf: Path
    width: Width
    document: Mapping[str, Any]
    samples: int
    symbols: Mapping[str, tuple[int, int]]
    text_bytes: Mapping[str, int]
    harts: int = HARTS


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A graph input or output in C; ``offset``: bytes from the sample's begin."""

    field: str
    ctype: str
    elements: int
    offset: int


def build_virt(request: RunRequest, options: Options | None = None) -> VirtImage:
    """Build the program for all samples inside ``request.work``. ToolError as for ``build_image``."""
    options = options or Options()
    document, work = request.document, request.work
    work.mkdir(parents=True, exist_ok=True)
    samples = _write_data(request)
    parts = parts_of(request)
    left = [path for path in program_sources(request) if path.name not in REPLACED]
    counting = [C_FILES / "match_counts.c"] if options.counted else []
    own = [*parts.sources, work / "main.c", work / "data.S", *counting, *options.sources]
    includes = [f"-I{path}" for path in (HERE, *parts.includes, request.folder, work, C_FILES)]
    flags = (*flags_of("riscv", PROCESSORS[options.width]), *FLAGS)
    compiler = _Compiler(flags, includes, _defines(document, options), work)
    objects = compiler.compile_all([*left, *own])
    elf = work / f"{document['name']}.elf"
    compiler.link(objects.values(), elf)
    symbols = symbols_of(call([f"{compiler.prefix}nm", "-S", str(elf)], "nm"))
    return VirtImage(elf, options.width, document, samples, symbols, compiler.sizes(document, objects, own, elf))


def _defines(document: Mapping[str, Any], options: Options) -> list[str]:
    signalling = document["signalling"] or {"kind": "event"}
    sleep, limit = SLEEP_TICKS[signalling["kind"]], options.timeout_seconds * TICKS_PER_SECOND
    values = (
        f"PORT_SLEEP_TICKS={sleep}u",
        f"PORT_ANSWER_TICKS={limit}u",
        f"{document['name'].upper()}_WAIT_LIMIT={limit // sleep}u",
        *(("MATCH_PROFILE=1", "MATCH_COUNTED_OUTSIDE=1") if options.counted else ()),
        *options.defines,
    )
    return [f"-D{value}" for value in values]


# ---- what the compiler gets --------------------------------------------------------------------------------------


def _write_data(request: RunRequest) -> int:
    """main.c, and the inputs and streamed constants as parts of the image; the number of samples."""
    document, work = request.document, request.work
    tensors, sample_bytes = _tensors(document["inputs"])
    arrays = [np.ascontiguousarray(request.inputs[io["name"]], dtype=io["dtype"]) for io in document["inputs"]]
    samples = len(arrays[0]) if arrays else 1
    data = np.zeros((samples, sample_bytes), np.uint8)
    for tensor, array in zip(tensors, arrays, strict=True):
        flat = array.reshape(samples, -1).view(np.uint8)
        data[:, tensor.offset : tensor.offset + flat.shape[1]] = flat
    (work / "inputs.bin").write_bytes(data.tobytes())
    parts = {"inputs": work / "inputs.bin", **{s["field"]: request.folder / s["file"] for s in document["stores"]}}
    lines = [f'.balign 64\n.globl port_{name}\nport_{name}: .incbin "{path}"\n' for name, path in parts.items()]
    (work / "data.S").write_text('.section .rodata.port, "a"\n' + "".join(lines), encoding="utf-8")
    view = {
        **{name: document[name] for name in ("name", "arenas", "stores", "swap", "state")},
        "guard": document["name"].upper(),
        "samples": samples,
        "sample_bytes": sample_bytes,
        "inputs": tensors,
        "outputs": _tensors(document["outputs"])[0],
        "nodes": mark_count(document),
    }
    (work / "main.c").write_text(Templates((HERE,)).render("main.c.mako", view), encoding="utf-8")
    counts = Templates((C_FILES,)).render("match_counts.h.mako", view)
    (work / "match_counts.h").write_text(counts, encoding="utf-8")
    return samples


def _tensors(rows: list[Mapping[str, Any]]) -> tuple[list[_Tensor], int]:
    """The tensors of a sample, one behind the other from multiples of 64 bytes, and the bytes of them all."""
    tensors, offset = [], 0
    for row in rows:
        elements = prod(row["shape"])
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
    prefix: str = PREFIXES["riscv"]

    def compile_all(self, sources: list[Path]) -> dict[Path, Path]:
        """Objects by source, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            jobs = {source: pool.submit(self._object, source) for source in sources}
        return {source: job.result() for source, job in jobs.items()}

    def link(self, objects: Iterable[Path], elf: Path) -> None:
        script = (f"-T{HERE / 'virt.ld'}", "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments")
        call([self._gcc, *self.flags, *script, *map(str, objects), "-lm", "-o", str(elf)], "virt")

    def sizes(
        self, document: Mapping[str, Any], objects: Mapping[Path, Path], own: list[Path], elf: Path
    ) -> dict[str, int]:
        """Bytes of text by image."""
        owners = {name: image for image, names in document["images"].items() for name in names}
        sizes: dict[str, int] = {}
        for source, target in objects.items():
            is_data = source.name == "data.S"
            image = "data" if is_data else "port" if source in own else owners.get(source.name, "program")
            sizes[image] = sizes.get(image, 0) + self._text_bytes(target)
        return {**dict(sorted(sizes.items())), "linked": self._text_bytes(elf)}

    @property
    def _gcc(self) -> str:
        return found(f"{self.prefix}gcc")

    def _text_bytes(self, file: Path) -> int:
        return int(call([f"{self.prefix}size", str(file)], "size").splitlines()[1].split()[0])

    def _object(self, source: Path) -> Path:
        target = self.work / f"{source.stem}.o"
        is_kernel = source.name.startswith(KERNELS)
        kept = cache_directory("qemu") / self._key(source) if is_kernel else None
        if kept is not None and kept.is_file():
            target.write_bytes(kept.read_bytes())
            return target
        defines = [] if is_kernel else self.defines
        call([self._gcc, *self.flags, *defines, *self.includes, "-c", str(source), "-o", str(target)], source.name)
        if kept is not None:
            write_whole(kept, target.read_bytes())
        return target

    def _key(self, kernel: Path) -> str:
        """Digest of all that decides about the object: compiler, flags, the kernel and the headers it may include."""
        version = call([self._gcc, "--version"], "gcc")
        digest = hashlib.sha256("\0".join((version, *self.flags, kernel.name)).encode())
        headers = [*kernel.parent.glob("match_*.h"), *(HERE / "include").glob("*.h")]
        for path in (kernel, *sorted(headers)):
            digest.update(b"\0" + path.read_bytes())
        return f"{digest.hexdigest()[:24]}.o"
