"""Options that several verbs share: each is declared once and inserted into the signatures of these verbs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from match_core.cli import parameters as options

#: Arguments of ``CompileOptions``, as a verb receives them.
Choices = dict[str, Any]
#: Options that a verb offers only if it names them in ``with_choices``.
MEMORY, SEQUENTIAL = "memory", "sequential"
PROGRAM = ("objective", "name", "no_cache", "jobs", "parallel", "exact", "max_loss", "state")
#: The fields of ``CompileOptions`` that these options set; in other verbs the field keeps its own default.
_FIELDS = {name: name for name in (MEMORY, *PROGRAM)}
_FIELDS |= {SEQUENTIAL: "execution", "no_cache": "cache", "state": "states"}


def compile_choices(
    dim: options.DimOption = None,
    only_unit: options.OnlyUnitOption = None,
    without_unit: options.WithoutUnitOption = None,
    without_pass: options.WithoutPassOption = None,
    exact: options.ExactOption = None,
    max_loss: options.MaxLossOption = None,
    quantized_io: options.QuantizedIoOption = False,
    precision: options.PrecisionOption = options.Precision.EXACT,
    preset: options.PresetOption = None,
    figures: options.FiguresOption = None,
    memory: options.MemoryOption = None,
    objective: options.ObjectiveOption = options.Objective.LATENCY,
    name: options.NameOption = None,
    no_cache: options.NoCacheOption = False,
    jobs: options.JobsOption = None,
    sequential: options.SequentialOption = None,
    parallel: options.ParallelOption = options.Parallel.PIPELINE,
    regions: options.RegionsOption = options.Regions.CHEAPEST,
    region_min: options.RegionMinOption = None,
    state: options.StateOption = None,
) -> Choices:
    """The options as arguments of ``CompileOptions``. UsageError MATCH-U026 if a memory size cannot be parsed,
    MATCH-U036 if a minimum of regions cannot, MATCH-U037 if a dynamic size cannot, MATCH-U070 if the figures file
    cannot be read."""
    from match_core.deploy.compile_options import memory_size, region_minima
    from match_core.deploy.figures import read_figures
    from match_core.load.dims import dim_sizes

    return {
        "dims": dim_sizes(dim or ()),
        "only_units": tuple(only_unit or ()),
        "without_units": tuple(without_unit or ()),
        "without_passes": tuple(without_pass or ()),
        "exact": tuple(exact or ()),
        "max_loss": max_loss,
        "quantized_io": quantized_io,
        "precision": precision.value,
        "preset": preset,
        "figures": None if figures is None else read_figures(figures),
        "memory": tuple(memory_size(text) for text in memory or ()),
        "objective": objective.value,
        "name": name,
        "cache": not no_cache,
        "jobs": jobs,
        "execution": {None: "auto", True: "sequential", False: "concurrent"}[sequential],
        "parallel": parallel.value,
        "regions": regions.value,
        "region_min": region_minima(region_min or ()),
        "states": tuple((text.partition("=")[0], text.partition("=")[2]) for text in state or ()),
    }


def with_choices(*named: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorator: replaces the verb's parameter ``choices`` by the options that all verbs of models share and the
    ``named`` ones; typer reads them from the signature."""
    offered = {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(compile_choices, eval_str=True).parameters.items()
        if name in named or name not in _FIELDS
    }
    left = {field for name, field in _FIELDS.items() if name not in named}

    def decorate(verb: Callable[..., int]) -> Callable[..., int]:
        @wraps(verb)
        def command(**arguments: Any) -> int:
            chosen = compile_choices(**{name: arguments.pop(name) for name in offered})
            choices = {field: value for field, value in chosen.items() if field not in left}
            return verb(**arguments, choices=choices)

        parameters: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(verb, eval_str=True).parameters.items():
            parameters += offered.values() if name == "choices" else [parameter.replace(kind=parameter.KEYWORD_ONLY)]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate
