"""Kernels of the digital array by pattern."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Kernel, KernelInterface

DIGITAL_INTERFACES: tuple[KernelInterface, ...] = ()
DIGITAL_KERNELS: Mapping[str, Kernel] = MappingProxyType({})
