"""The host unit: the core that runs the program and every operator that no other unit runs."""

from match_core.contract.hardware import Unit

from match_host.constants import HOST_CONSTANTS

HOST_UNIT = Unit(
    name="host",
    description="host core: C generated for each operator, working in place on the home memory",
    memory=None,
    layout="NHWC",
    requant=None,
    constants=HOST_CONSTANTS,
    spatial_types=("float16", "float32", "int8", "int16", "uint8"),
)
