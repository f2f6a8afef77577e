"""The host unit: the core that runs the program and every operator that nobody else takes."""

from match_core.hardware import Unit

HOST_UNIT = Unit(
    name="host",
    description="host core: C generated for each operator, working in place on the home memory",
    memory=None,
    layout="NHWC",
    requant=None,
    spatial_types=("float16", "float32", "int8", "uint8"),
)
