"""The layers that the benchmarks of the scheduler look at: one request per distinct workload and capable unit."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from match_core.contract.loops import ScheduleRequest
from match_core.contract.passes import PassContext, Precision
from match_core.deploy.compile_options import adapted_soc
from match_core.load.load import load_model
from match_core.match.candidates import find_candidates
from match_core.passes.pipeline import run_passes
from match_core.plugin.facade import Plugins

from benchmarks.grid_layers import CHANNELS, SIZES, layers
from benchmarks.runs import NETWORKS, PRECISIONS, PRESETS, TARGET, network


@dataclass(frozen=True, slots=True)
class Named:
    """A request, and the model where it came up first."""

    model: str
    request: ScheduleRequest

    @property
    def title(self) -> str:
        """Unit, pattern and sizes of the dimensions."""
        request = self.request
        sizes = " ".join(f"{dim.name}{dim.size}" for dim in request.workload.dims)
        return f"{request.unit.name} {request.pattern} {sizes}"


def requests_of(name: str, path: Path, preset: str, precision: Precision, plugins: Plugins) -> Iterator[Named]:
    """What a compilation would ask the scheduler, for units with a memory of their own."""
    soc = adapted_soc(plugins.soc(TARGET), preset, ())
    units = plugins.units_of(soc)
    context = PassContext(soc, units, precision)
    model = run_passes(load_model(path, None), plugins.transforms(soc), context)
    by_name = {unit.name: unit for unit in units}
    for candidate in find_candidates(model.graph, [(unit, plugins.patterns(soc, unit)) for unit in units]).legal:
        unit = by_name[candidate.unit]
        if unit.memory is not None:
            cost = plugins.cost(soc, unit, candidate.pattern)
            budget = soc.memory(unit.memory).size_bytes
            yield Named(name, ScheduleRequest(soc, unit, candidate.pattern.name, candidate.workload, cost, budget))


def distinct(found: Iterable[Named]) -> list[Named]:
    """Each layer once per unit, pattern and preset; what is requantised by other values is the same layer."""
    known: dict[tuple[object, ...], Named] = {}
    for named in found:
        request = named.request
        shape = tuple((name, value) for name, value in request.workload.geometry if name.startswith("stride"))
        key = (request.soc.preset, request.unit.name, request.pattern, replace(request.workload, geometry=shape))
        known.setdefault(key, named)
    return list(known.values())


def all_requests(
    presets: Sequence[str] = PRESETS,
    precisions: Sequence[Precision] = PRECISIONS,
    networks: Sequence[str] = NETWORKS,
    grid: bool = True,
) -> list[Named]:
    """All distinct layers of the networks, then of the grid."""
    plugins = Plugins.load()
    found: list[Named] = []
    with tempfile.TemporaryDirectory(prefix="match-layers-") as folder:
        models = [(name, network(name)[0]) for name in networks]
        if grid:
            made = layers(SIZES, CHANNELS)
            models += [(f"{n.kind} {n.size}x{n.size}x{n.channels}", n.save(Path(folder))) for n in made]
        for preset in presets:
            for precision in precisions:
                for name, path in models:
                    found += requests_of(name, path, preset, precision, plugins)
    return distinct(found)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Options that choose layers."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--preset", choices=PRESETS, action="append", help="may be repeated; default: all")
    made.add_argument("--precision", choices=PRECISIONS, action="append", help="may be repeated; default: all")
    made.add_argument("--network", choices=NETWORKS, action="append", help="only these; default: all, and the grid")
    made.add_argument("--layers", type=int, help="only so many layers, evenly taken from all")
    made.add_argument("--update", action="store_true", help="put the summary into docs/benchmarks.md")
    return made


def chosen(
    options: argparse.Namespace, wanted: Callable[[ScheduleRequest], bool] = lambda request: True
) -> list[Named]:
    """The layers that the options ask for, those that are not ``wanted`` left out."""
    found = all_requests(
        options.preset or PRESETS,
        options.precision or PRECISIONS,
        options.network or NETWORKS,
        grid=not options.network,
    )
    found = [named for named in found if wanted(named.request)]
    count = len(found) if options.layers is None else min(options.layers, len(found))
    return [found[n * len(found) // count] for n in range(count)]


def about(command: str, arguments: Sequence[str], named: Sequence[Named]) -> str:
    """The line above a table: presets, number of layers, and the command that prints it."""
    presets = " and ".join(dict.fromkeys(entry.request.soc.preset for entry in named))
    words = [command, *(word for word in arguments if word != "--update")]
    return f"*preset {presets}, {len(named)} layers, `python -m {' '.join(words)}`*"
