"""The target of this package: any computer with a C compiler."""

from match_core.contract.hardware import Memory, Soc

#: Addresses and element indices in emitted C have 32 bits, so more memory than this is useless.
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
    generic=True,
    notes=("cycles are modelled for a small in-order core, not for this computer",),
)
