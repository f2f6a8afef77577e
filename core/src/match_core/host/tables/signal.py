"""Operators on signals: Fourier transforms, windows, mel filters."""

from __future__ import annotations

from match_core.host.kernels.indexed import INDEX_TYPES
from match_core.host.kernels.scalar import ANY_FLOATS, NUMBERS, SMALL
from match_core.host.kernels.spectral import build_dft, build_stft
from match_core.host.kernels.windows import WINDOWS, build_mel_weights, build_window
from match_core.host.operator import Operator
from match_core.host.rules import STATIC, result_types, types

SIGNAL: tuple[Operator, ...] = (
    Operator("DFT", "signal", (STATIC, types(ANY_FLOATS, 0), types(INDEX_TYPES, 1, 2)), build_dft),
    Operator("STFT", "signal", (STATIC, types(ANY_FLOATS, 0), types(INDEX_TYPES, 1, 3)), build_stft),
    *(Operator(name, "signal", (STATIC, result_types((*NUMBERS, *SMALL))), build_window) for name in WINDOWS),
    Operator(
        "MelWeightMatrix",
        "signal",
        (STATIC, types(INDEX_TYPES, 0, 1, 2), types(ANY_FLOATS, 3, 4), result_types((*NUMBERS, *SMALL))),
        build_mel_weights,
    ),
)
