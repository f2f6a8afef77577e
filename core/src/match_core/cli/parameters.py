"""Options that several verbs share, each defined once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


def complete_target(incomplete: str) -> list[str]:
    """Names of installed targets, for shell completion."""
    from match_core.plugin.facade import Plugins

    return [soc.name for soc in Plugins.load().hardware().socs if soc.name.startswith(incomplete)]


ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="ONNX or TFLite file.")]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="TARGET",
        help="Target name or path of a board file; required if several targets are installed.",
        autocompletion=complete_target,
    ),
]
DimOption = Annotated[
    list[str] | None,
    typer.Option("--dim", metavar="NAME=N", help="Fix a dynamic size, for example batch=1; may be repeated."),
]
OnlyUnitOption = Annotated[
    list[str] | None,
    typer.Option("--only-unit", metavar="UNIT", help="Use this unit and the host only; may be repeated."),
]
WithoutUnitOption = Annotated[
    list[str] | None, typer.Option("--without-unit", metavar="UNIT", help="Do not use this unit; may be repeated.")
]
WithoutPassOption = Annotated[
    list[str] | None, typer.Option("--without-pass", metavar="PASS", help="Skip this optional pass; may be repeated.")
]
ExactOption = Annotated[
    list[str] | None,
    typer.Option("--exact", metavar="NODE", help="Keep the arithmetic of this node exact; may be repeated."),
]
MaxLossOption = Annotated[
    float | None,
    typer.Option(
        "--max-loss",
        min=0,
        max=300,
        metavar="DB",
        help="Keep nodes exact until the outputs have this signal to quantisation noise ratio.",
    ),
]
QuantizedIoOption = Annotated[
    bool,
    typer.Option(
        "--quantized-io", help="Use 8-bit inputs and outputs where the model quantises them; scales are reported."
    ),
]
PresetOption = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="Set of cost figures to use; match targets lists them.")
]
FiguresOption = Annotated[
    Path | None,
    typer.Option(
        "--figures", metavar="FILE", help="Replace cost figures of the preset by those that match calibrate fitted."
    ),
]
MemoryOption = Annotated[
    list[str] | None,
    typer.Option("--memory", metavar="NAME=SIZE", help="Use less of a memory, for example l1=8kB; may be repeated."),
]
NameOption = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", help="Prefix of C symbols and files; default: from MODEL's name."),
]
NoCacheOption = Annotated[
    bool, typer.Option("--no-cache", help="Do not read or write the caches of schedules, mappings, plans and programs.")
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Maximum number of search processes.")
]
#: Values of ``--objective``; the names are those of match_core.contract.loops.Objective.
Objective = Enum("Objective", [("LATENCY", "latency"), ("ENERGY", "energy"), ("EDP", "edp")], type=str)
ObjectiveOption = Annotated[
    Objective, typer.Option("--objective", help="What to minimise: cycles, energy, or the product of both.")
]
#: Values of ``--precision``; the names are those of match_core.contract.passes.Precision.
Precision = Enum("Precision", [("EXACT", "exact"), ("FAST", "fast")], type=str)
PrecisionOption = Annotated[
    Precision,
    typer.Option(
        "--precision",
        help="exact: requantise as the original rounds, with wider arithmetic where necessary; "
        "fast: fewest cycles, but a few values in a thousand differ by 1 step.",
    ),
]
SequentialOption = Annotated[
    bool | None,
    typer.Option(
        "--sequential/--concurrent",
        help="Run one task after another, or units concurrently. By default, units run concurrently if the gain is "
        "larger than the uncertainty of the model.",
    ),
]
#: Values of ``--parallel`` that can be emitted; the names are those of ``contract.mapping``.
Parallel = Enum(
    "Parallel", {"WHOLE": "whole", "VIEWS": "views", "PIPELINE": "pipeline", "JOINT": "joint", "LONG": "long"}, type=str
)
ParallelOption = Annotated[
    Parallel,
    typer.Option(
        "--parallel",
        help="What concurrent units may do: whole: run whole operators; views: also share an operator; "
        "pipeline: also start on the finished parts of a tensor; joint, long: as pipeline, searched longer.",
    ),
]
#: Values of ``--regions``; the names are those of match_core.deploy.compile_options.Regions.
Regions = Enum("Regions", [("CHEAPEST", "cheapest"), ("LARGEST", "largest")], type=str)
RegionsOption = Annotated[
    Regions,
    typer.Option(
        "--regions",
        help="Regions for units that run parts of the graph: cheapest: those that reduce the cost; "
        "largest: every legal region.",
    ),
]
RegionMinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--region-min", metavar="NAME=N", help="Minimum nodes or macs of such a region; may be given once for each."
    ),
]
StateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--state", metavar="IN=OUT", help="Input IN gets output OUT of the previous inference; may be repeated."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress to stderr.")]
