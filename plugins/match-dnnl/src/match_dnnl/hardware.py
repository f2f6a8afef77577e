"""The computer as data: a host that runs C, and oneDNN on the same memory."""

from __future__ import annotations

from match_core import Hardware, Memory, Soc, Unit

from match_dnnl.figures import FIGURES, HOST_FIGURES

UNIT = "dnnl"
#: The preset without Winograd's transformation: convolutions sum the products of their definition.
DIRECT = "direct"
#: Addresses in emitted C and element indices are 32-bit, so more memory than this is of no use.
_LARGEST_BYTES = 1 << 31

DNNL = Unit(
    name=UNIT,
    description="oneDNN 2.6: float32 regions as programs of primitives, in place on the home memory",
    memory=None,
    # oneDNN takes either order of axes. NHWC, in the types of the host, so that what stays there keeps its kernels.
    layout="NHWC",
    spatial_types=("float16", "float32", "int8", "uint8"),
    constants=(*FIGURES, *HOST_FIGURES),
)
SOC = Soc(
    name="dnnl",
    description="a computer with Linux and oneDNN: the host unit and the library",
    host="host",
    units=("host", UNIT),
    memories=(
        Memory("ram", level=1, size_bytes=_LARGEST_BYTES, alignment_bytes=64, source="largest that 32 bits address"),
    ),
    links=(),
    home="ram",
    presets=("winograd", DIRECT),
    preset="winograd",
    host_machine="avx512",
    notes=("cycles are modelled nanoseconds of one thread, fitted on the machine that the package's README names",),
)
HARDWARE = Hardware(units=(DNNL,), socs=(SOC,))
