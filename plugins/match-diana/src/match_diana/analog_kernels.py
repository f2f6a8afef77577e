"""Kernels of the analog array by pattern."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Kernel, KernelInterface

ANALOG_INTERFACES: tuple[KernelInterface, ...] = ()
ANALOG_KERNELS: Mapping[str, Kernel] = MappingProxyType({})
