"""Options that several verbs share, each defined once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="ONNX file.", show_default=False)]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="TARGET",
        help="Target name; needed where several are installed.",
        show_default=False,
    ),
]
OnlyUnitOption = Annotated[
    list[str] | None,
    typer.Option("--only-unit", metavar="UNIT", help="Use this unit and the host only; may be repeated."),
]
WithoutUnitOption = Annotated[
    list[str] | None,
    typer.Option("--without-unit", metavar="UNIT", help="Do not use this unit; may be repeated."),
]


class Precision(str, Enum):
    """Values of ``--precision``; the names are those of match_core.transforms.base.Precision."""

    EXACT = "exact"
    FAST = "fast"


PrecisionOption = Annotated[
    Precision,
    typer.Option(
        "--precision",
        help="exact: requantise as the original rounds, with wider arithmetic where needed; "
        "fast: fewest cycles, a few values in a thousand 1 step off.",
    ),
]
SanitizeOption = Annotated[
    bool, typer.Option("--sanitize", help="Build with address and undefined-behaviour checks (slower).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
