"""Kernels of the digital array by pattern."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Kernel, KernelInterface
from match_core.patterns.packing import Pack, nothing

from match_diana.digital import interfaces, pack
from match_diana.digital.interfaces import DIGITAL_INTERFACES

__all__ = ["DIGITAL_INTERFACES", "DIGITAL_KERNELS"]


def _kernel(interface: KernelInterface, packed: Pack) -> Kernel:
    """The launch returns when the array is done: nothing may be done meanwhile."""
    return Kernel(interface, launch=f"match_diana_{interface.kind}", wait="", pack=packed)


_ADD = _kernel(interfaces.DIGITAL_ADD, nothing)

DIGITAL_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "digital_conv": _kernel(interfaces.DIGITAL_CONV, pack.conv_weights),
        "digital_conv_channels": _kernel(interfaces.DIGITAL_CONV_CHANNELS, pack.channels_weights),
        "digital_depthwise": _kernel(interfaces.DIGITAL_DEPTHWISE, pack.depthwise_weights),
        "digital_depthwise_blocks": _kernel(interfaces.DIGITAL_DEPTHWISE_BLOCKS, pack.depthwise_block_weights),
        "digital_dense": _kernel(interfaces.DIGITAL_DENSE, pack.dense_weights),
        "digital_add": _ADD,
        "digital_add_channels": _ADD,
        "digital_add_relu": _kernel(interfaces.DIGITAL_ADD_RELU, pack.identity_weights),
    }
)
