"""DIANA as data: memories, link, units."""

from __future__ import annotations

from collections.abc import Mapping

from match_core import Hardware, Link, Memory, Soc, Unit

from match_diana.analog.constants import ANALOG_CONSTANTS
from match_diana.constants import DIGITAL_CONSTANTS, PLATFORM_CONSTANTS, constants, values
from match_diana.forms import FORMS
from match_diana.job_constants import JOB_CONSTANTS

#: Weights are fetched from L2 by the array itself at every call; the memory of its own limits how many a tile may have.
DIGITAL = Unit(
    name="digital",
    description="digital array of 16x16 processing elements: int8 convolution, dense layers, sums",
    memory="l1",
    layout="NCHW",
    spatial_types=("int8",),
    private=(("weights", "digital_weights"),),
    constants=PLATFORM_CONSTANTS + DIGITAL_CONSTANTS + JOB_CONSTANTS,
)
ANALOG = Unit(
    name="analog",
    description="analog in-memory array of 1152x512 ternary cells: convolution",
    memory="l1",
    layout="NCHW",
    spatial_types=("int8",),
    private=(("weights", "analog_cells"), ("norm", "analog_norm")),
    constants=ANALOG_CONSTANTS,
)


def hardware() -> Hardware:
    """The two arrays and the Soc ``diana``; the host unit is the core's."""
    return Hardware(units=(DIGITAL, ANALOG), socs=(_soc(),))


def _soc() -> Soc:
    figures = values()
    word = figures["l1_word_bytes"]
    return Soc(
        name="diana",
        description="RISC-V host, digital array of 16x16 elements and analog in-memory array",
        host="host",
        units=("host", "digital", "analog"),
        memories=(
            Memory("l1", 1, figures["l1_bytes"], word, "activation memory of both arrays"),
            Memory("digital_weights", 1, figures["digital_weight_bytes"], 4, "weight memory of the digital array"),
            Memory("analog_cells", 1, figures["analog_cell_bytes"], 4, "ternary cells, two bits each"),
            Memory("analog_norm", 1, figures["analog_norm_bytes"], 4, "parameters of the stage after the converters"),
            Memory("l2", 2, figures["l2_bytes"], word, "RAM of the Soc: activations, constants, and code"),
        ),
        links=(
            _link("dma", "l1", figures),
            _link("digital_weight_fetch", "digital_weights", figures),
            _link("analog_weight_fetch", "analog_cells", figures),
            _link("analog_norm_fetch", "analog_norm", figures),
        ),
        host_machine="scalar",
        home="l2",
        forms=FORMS,
        clock_hz=next(constant for constant in constants() if constant.name == "clock_hz"),
        notes=(
            "Host, arrays and copies run one after another: whether anything may run at the same time is not public.",
            "Code, stacks and the kernel library's data also lie in the 512 KiB of L2 and are not counted there.",
            "Width and saturation of the digital array's sums are not public: layers whose sums exceed 32 bits "
            "run on the host.",
        ),
    )


def _link(name: str, near: str, figures: Mapping[str, int]) -> Link:
    """One engine moves everything; it copies one contiguous chunk at a time, and the requester waits."""
    return Link(
        name,
        near,
        "l2",
        bytes_per_cycle=figures["dma_bytes_per_cycle"],
        chunk_cycles=figures["dma_chunk_cycles"],
        max_dims=1,
        blocking=True,
    )
