"""Figures of the kernels, each with its source."""

from __future__ import annotations

from match_core import Constant

KERNEL_CONSTANTS: tuple[Constant, ...] = ()
