"""Instructions of the kernels' parts, which ``python -m benchmarks.cortexm_fit`` counts on an emulator and fits.

``figures.json``: core -> key (``forms.figures_keys``) -> count -> instructions of each. ``own.json``: the same of the
cores' own kernels, which are constants of the hardware, so that every compilation reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from match_core.contract.hardware import Constant

#: The keys of the core's own kernels, and of kernels without figures of their own.
OWN, GENERAL = "own", "general"
FILE, OWN_FILE = (Path(__file__).with_name(f"{name}.json") for name in ("figures", "own"))
SOURCE = "counted on QEMU 7.2, gcc 12.2 -O3: python -m benchmarks.cortexm_fit"
#: Cores that are not counted -> the core whose figures they have, as estimates: the same instructions for what counts.
#: M7 and M33 were counted once: medians of their own figures differ by 0.1 points from those of M4's (int8 networks).
LIKE = {
    "cortex_m7": "cortex_m4",
    "cortex_m33": "cortex_m4",
    "cortex_m52": "cortex_m55",
    "cortex_m85": "cortex_m55",
}
#: The core whose figures complete those of the others: kernels that no made layer of theirs uses.
COMPLETE = "cortex_m4"
#: What stands between a form and the parts of the function that copies taps: all forms of a core call the same one, but
#: few made layers of some copy any.
_COPIED, _COPYING = "_taps_", "_rows_inside"


Keys = Mapping[str, Mapping[str, float]]


@lru_cache(maxsize=2)
def _read(file: Path) -> Mapping[str, Keys]:
    read: Mapping[str, Keys] = json.loads(file.read_text(encoding="utf-8"))
    return read


def _all() -> Mapping[str, Keys]:
    return _read(FILE)


def figures_of(core: str) -> Mapping[str, Mapping[str, float]]:
    """The figures of a core by key; patterns that none of its layers has get those of ``COMPLETE``, but products of
    regions, whose wider forms have figures of the core, do not."""
    found = _all()[LIKE.get(core, core)]
    patterns = {key.split()[0] for key in found}
    others = {key: values for key, values in _all()[COMPLETE].items() if key.split()[0] not in {*patterns, "regions,"}}
    return {**others, **found, OWN: _own(core)}


def is_wider(keys: tuple[str, ...], key: str) -> bool:
    """Whether the figures of ``key`` are not of the forms ``keys`` of a layer, but of all of its kind, or of any."""
    return keys != (OWN,) and key in (GENERAL, keys[-1])


def estimate_of(core: str, keys: tuple[str, ...], key: str) -> str:
    """Why the figures of ``key`` are an estimate for a layer of the forms ``keys``; empty if these were counted."""
    if core in LIKE:
        return f"figures of {LIKE[core]}, which executes the same instructions"
    if core and key != OWN and key not in _all()[core]:
        return f"figures of {COMPLETE}: no layer of this form was counted on {core}"
    return f"figures of a wider form ({key}): too few layers of this form were counted" if is_wider(keys, key) else ""


def constants_of(core: str) -> tuple[Constant, ...]:
    """The figures of own kernels."""
    figures, counted = _own(core), {} if core in LIKE else _read(OWN_FILE)[core][OWN]
    return tuple(
        Constant(name, value, "instructions", SOURCE, name not in counted) for name, value in figures.items() if value
    )


def _own(core: str) -> Mapping[str, float]:
    read = _read(OWN_FILE)
    counted = read[LIKE.get(core, core)][OWN]
    copies = {name.split(_COPIED)[1]: counted[name] for name in sorted(counted) if _COPIED in name}
    forms = (name.removesuffix(_COPYING) for name in counted if name.endswith(_COPYING))
    shared = {f"{form}{_COPIED}{part}": value for form in forms for part, value in copies.items()}
    return {**read[COMPLETE][OWN], **shared, **counted}
