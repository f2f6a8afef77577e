"""The kernels of single bytes by pattern, with the files that only their programs need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from match_core import Kernel, KernelInterface, RuntimeFile
from match_core.lower.interfaces import context_header
from match_core.patterns.packing import Pack, nothing
from match_host.chip import runtime_files

from match_gap9.elements.patterns import DEQUANTIZE, INTERFACES, LUT, PRODUCT, REQUANT, pack_scales, pack_table

_FOLDER = Path(__file__).resolve().parent.parent / "runtime" / "bytes"


def files(name: str, *interfaces: KernelInterface) -> tuple[RuntimeFile, ...]:
    """The files of ``runtime/bytes`` that begin with this name, what they share, and the headers of their contexts."""
    own = (file for file in runtime_files(_FOLDER) if file.name.startswith((name, "match_gap9_share")))
    return (*own, *map(context_header, interfaces))


_FILES = files("match_gap9_elements", *INTERFACES)


def _kernel(interface: KernelInterface, name: str, pack: Pack = nothing) -> Kernel:
    return Kernel(interface, launch=f"match_gap9_{name}", wait="match_gap9_team_wait", pack=pack, files=_FILES)


ELEMENT_KERNELS: Mapping[str, Kernel] = {
    "lut": _kernel(LUT, "lut", pack_table),
    "product": _kernel(PRODUCT, "product"),
    "product_wide": _kernel(PRODUCT, "product_wide"),
    "requant": _kernel(REQUANT, "requant", pack_scales),
    "dequantize": _kernel(DEQUANTIZE, "dequantize"),
}
