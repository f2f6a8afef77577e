"""The Soc that the core itself offers: any computer with a C compiler."""

from match_core.hardware import Memory, Soc

#: Addresses in emitted C and element indices are 32-bit, so more memory than this is of no use.
_LARGEST_BYTES = 1 << 31

HOST_SOC = Soc(
    name="host",
    description="any computer with a C compiler: the host unit alone",
    host="host",
    units=("host",),
    memories=(
        Memory("ram", level=1, size_bytes=_LARGEST_BYTES, alignment_bytes=16, source="largest that 32 bits address"),
    ),
    links=(),
    home="ram",
    presets=("generic", "avx512", "scalar"),
    preset="generic",
    notes=("cycles are modelled for a small in-order core, not for this computer",),
)
