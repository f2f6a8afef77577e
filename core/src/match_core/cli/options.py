"""Options that several verbs share, each defined once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


def complete_target(incomplete: str) -> list[str]:
    """Names of installed targets, for the shell."""
    from match_core.plugin.host import Plugins

    return [soc.name for soc in Plugins.load().hardware().socs if soc.name.startswith(incomplete)]


ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="ONNX or TFLite file.", show_default=False)]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="TARGET",
        help="Target name, or a board file; needed where several targets are installed.",
        autocompletion=complete_target,
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
WithoutPassOption = Annotated[
    list[str] | None,
    typer.Option("--without-pass", metavar="PASS", help="Leave out this optional pass; may be repeated."),
]
QuantizedIoOption = Annotated[
    bool,
    typer.Option(
        "--quantized-io", help="Take and give 8-bit tensors where the model quantises at its ends; scales are told."
    ),
]
PresetOption = Annotated[
    str | None,
    typer.Option(
        "--preset", metavar="NAME", help="The target's set of cost figures; see match targets.", show_default=False
    ),
]
MemoryOption = Annotated[
    list[str] | None,
    typer.Option("--memory", metavar="NAME=SIZE", help="Use less of a memory, for example l1=8kB; may be repeated."),
]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="Prefix of C symbols and files; else made from MODEL.", show_default=False
    ),
]
NoCacheOption = Annotated[
    bool, typer.Option("--no-cache", help="Neither read nor write the cache of schedules and mappings.")
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, metavar="N", help="Processes that search schedules at most.", show_default=False
    ),
]


class Objective(str, Enum):
    """Values of ``--objective``; the names are those of match_core.schedule.loops.Objective."""

    LATENCY = "latency"
    ENERGY = "energy"
    EDP = "edp"


ObjectiveOption = Annotated[
    Objective, typer.Option("--objective", help="What to minimise: cycles, energy, or the product of both.")
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
SequentialOption = Annotated[
    bool, typer.Option("--sequential", help="One task after another, also where units could run side by side.")
]


class Parallel(str, Enum):
    """Values of ``--parallel`` that can be emitted; the names are those of match_core.options.Parallel."""

    WHOLE = "whole"
    VIEWS = "views"
    PIPELINE = "pipeline"


ParallelOption = Annotated[
    Parallel,
    typer.Option(
        "--parallel",
        help="What units side by side may do: whole: run different operators; views: share an operator; "
        "pipeline: also begin on the parts of a tensor that are ready.",
    ),
]


class Regions(str, Enum):
    """Values of ``--regions``; the names are those of match_core.options.Regions."""

    CHEAPEST = "cheapest"
    LARGEST = "largest"


RegionsOption = Annotated[
    Regions,
    typer.Option(
        "--regions",
        help="What units that take parts of the graph get: cheapest: what costs least; largest: every legal region.",
    ),
]
RegionMinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--region-min", metavar="NAME=N", help="The least nodes or macs of such a region; may be given for each."
    ),
]
SanitizeOption = Annotated[
    bool, typer.Option("--sanitize", help="Build with address and undefined-behaviour checks (slower).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
