"""What the port has in the place of a target's platform."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Of every image.
COMMON = ("start.S", "virt.c")
#: Runtime files of Carfield that the port takes the place of.
REPLACED = tuple(f"match_carfield_{name}.c" for name in ("host", "dma", "pulp", "pulp_dma", "spatz", "spatz_dma"))


@dataclass(frozen=True, slots=True)
class Parts:
    """``harts``: the host and its units; ``sources``: the port's C; ``left_out``: names of the program's files that
    these replace; ``kernels``: how the names of files begin that are the same in every program."""

    harts: int
    sources: tuple[Path, ...]
    includes: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()


def parts_of(document: Mapping[str, Any], work: Path) -> Parts:
    """Those for a program with this manifest; ``work`` gets what is made for them. A program whose target has no unit
    but the host needs no more than the machine."""
    if document["target"].startswith("carfield"):
        return _carfield(work)
    strangers = {node["unit"] for node in document["nodes"] if node["emitted"]} - {"host"}
    if strangers:
        raise ValueError(f"{document['target']}: the port has nothing for {', '.join(sorted(strangers))}")
    return Parts(1, tuple(HERE / name for name in (*COMMON, "alone.c")))


def _carfield(work: Path) -> Parts:
    import match_carfield

    twin = Path(match_carfield.__file__).resolve().parent / "twin"
    # The twin's RedMulE, in a place where it meets the port's headers instead of the twin's.
    redmule = Path(shutil.copyfile(twin / "src" / "carfield_redmule.c", work / "carfield_redmule.c"))
    return Parts(
        harts=3,
        sources=(*(HERE / name for name in (*COMMON, "units.c", "copies.c", "redmule.c")), redmule),
        includes=(HERE / "include", twin / "include"),
        left_out=REPLACED,
        kernels=("match_carfield_half_", "match_carfield_int8_"),
    )
