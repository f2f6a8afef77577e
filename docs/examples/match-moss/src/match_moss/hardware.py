"""The chip as data. Every figure is an assumption of the order of public microcontrollers of this kind."""

from match_core import Constant, Hardware, Memory, RequantSpec, Soc, Unit
from match_quant.powers import ShiftUnit
from match_regions.engine import ConvEngine

_EXAMPLE = "an assumption for a tutorial"
FIGURES = (
    Constant("processors", 64, "channels", _EXAMPLE, estimate=True),  # input channels in one pass
    Constant("setup_cycles", 150, "engine cycles", _EXAMPLE, estimate=True),
    Constant("clock_ratio", 2, "host cycles", _EXAMPLE, estimate=True),  # 100 MHz host, 50 MHz engine
    Constant("word_cycles", 2, "host cycles", _EXAMPLE, estimate=True),  # the host writes or reads 32 bits
    Constant("wake_cycles", 100, "host cycles", _EXAMPLE, estimate=True),  # from the flag to the host
)
VALUES = {figure.name: int(figure.value) for figure in FIGURES}
DATA_BYTES, WEIGHT_BYTES, BIAS_BYTES = 512 << 10, 442 << 10, 2 << 10
SHIFT_MAX = 15
#: One start of the engine: stride 2 is computed as stride 1, and the host drops pixels.
KERNELS = ConvEngine((1, 3), dropped=(2,), pads=(0, 1), pools=(2,), channels_max=1024, group=4)
#: Sums are shifted, not multiplied.
SHIFTS = ShiftUnit("moss", RequantSpec(1, False, 32, shift_max=SHIFT_MAX), (1, 3), strides=(1, 2), any_padding=True)
ENGINE = Unit(
    name="moss_conv",
    description="64 processors in 4 quadrants: convolution, dense layers, sums, with weights of their own",
    layout="NHWC",
    spatial_types=("int8",),
    constants=FIGURES,
)
SOC = Soc(
    name="moss",
    description="Cortex-M4F, 128 KiB of RAM, 512 KiB of flash, a convolution engine",
    host="host",
    units=("host", ENGINE.name),
    memories=(
        Memory("ram", 1, 128 << 10, 4, _EXAMPLE),
        Memory("moss_weights", 1, WEIGHT_BYTES, 4, _EXAMPLE, kind="held"),
        Memory("moss_biases", 1, BIAS_BYTES, 4, _EXAMPLE, kind="held"),
        Memory("flash", 2, 512 << 10, 4, _EXAMPLE, kind="read-only"),
    ),
    links=(),
    home="ram",
    store="flash",
    mapped=True,
    clock_hz=Constant("clock", 100e6, "Hz", _EXAMPLE, estimate=True),
    host_machine="scalar",
    processor="cortex-m4",
)
HARDWARE = Hardware(units=(ENGINE,), socs=(SOC,))
