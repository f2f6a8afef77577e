"""A package or one of its targets, with candidates, schedules and programs that all cases share."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from match_kit.testing import samples
from match_kit.testing.capabilities import Capabilities, SampleModel

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.pattern import Pattern
    from match_core.contract.unit_api import UnitApi
    from match_core.pipeline import Prepared
    from match_core.plugin.facade import Plugins
    from match_core.plugin.records import PluginInfo

    from match_kit.testing.pass_observer import PassObserver
    from match_kit.testing.sample_program import SampleProgram


class Subject:
    """The subject of a case. ``target`` is empty for the package as a whole; ``project``: its source folder, if
    known."""

    def __init__(
        self, capabilities: Capabilities, plugins: Plugins, target: str = "", project: Path | None = None
    ) -> None:
        self.capabilities = capabilities
        self.plugins = plugins
        self.target = target
        self.project = project
        self._prepared: dict[str, Prepared] = {}
        self._observed: dict[str, PassObserver] = {}
        self._programs: dict[tuple[str, tuple[str, ...]], SampleProgram] = {}

    @cached_property
    def infos(self) -> tuple[PluginInfo, ...]:
        """The plugins of the package."""
        from match_core.plugin.discovery import normalised

        wanted = normalised(self.capabilities.package)
        return tuple(info for info in self.plugins.plugins() if normalised(info.distribution) == wanted)

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets to test."""
        return self.capabilities.targets or tuple(sorted(name for info in self.infos for name in info.targets))

    @cached_property
    def soc(self) -> Soc:
        """The target."""
        return self.plugins.soc(self.target)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units of the target that the package defines and cases test."""
        own = {name for info in self.infos for name in info.units}
        wanted = self.capabilities.units
        return tuple(
            unit for unit in self.plugins.units_of(self.soc) if unit.name in own and (not wanted or unit.name in wanted)
        )

    def patterns(self, unit: Unit) -> tuple[Pattern, ...]:
        """The unit's patterns."""
        return self.plugins.patterns(self.soc, unit)

    def api(self, unit: Unit) -> UnitApi:
        """The unit's C interface."""
        return self.plugins.emit_api(self.soc, unit)

    @property
    def models(self) -> tuple[SampleModel, ...]:
        """The sample models."""
        return self.capabilities.models or samples.default()

    @property
    def programs(self) -> tuple[SampleModel, ...]:
        """The sample models that are built and run."""
        return tuple(model for model in self.models if model.runs)

    @cached_property
    def folder(self) -> Path:
        """The folder of models and programs, deleted when the process ends."""
        self._temporary = tempfile.TemporaryDirectory(prefix="match-conformance-")
        return Path(self._temporary.name)

    def path(self, model: SampleModel) -> Path:
        """The model as a file."""
        import onnx

        path = self.folder / f"{model.name}.onnx"
        if not path.is_file():
            onnx.save(model.make(), str(path))
        return path

    def prepared(self, model: SampleModel) -> Prepared:
        """The model after its passes, with all candidates."""
        from match_core.contract.observe import NullObserver
        from match_core.pipeline import CompileRequest, prepare

        if model.name not in self._prepared:
            request = CompileRequest(model=self.path(model), target=self.target, precision=model.precision)
            self._prepared[model.name] = prepare(request, self.plugins, NullObserver())
        return self._prepared[model.name]

    def observed_passes(self, model: SampleModel) -> PassObserver:
        """What the package's passes did to the model."""
        from match_kit.testing.pass_observer import observe_passes

        if model.name not in self._observed:
            about = (self.path(model), self.target, model.precision, self.capabilities.package)
            self._observed[model.name] = observe_passes(*about, self.plugins)
        return self._observed[model.name]

    def program(self, model: SampleModel, without_units: tuple[str, ...] = ()) -> SampleProgram:
        """The program of a model."""
        from match_kit.testing.sample_program import compile_sample

        key = (model.name, without_units)
        if key not in self._programs:
            self._programs[key] = compile_sample(
                model, self.path(model), self.target, self.folder, self.plugins, without_units
            )
        return self._programs[key]


def subjects_of(
    capabilities: Capabilities,
    plugins: Plugins | None = None,
    project: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[Subject, ...]:
    """The package, then each of its targets."""
    from match_core.plugin.facade import Plugins

    from match_kit.testing.packages import project_of

    plugins = plugins or Plugins.load(environment=environment)
    place = project or project_of(capabilities.package)
    package = Subject(capabilities, plugins, "", place)
    return (package, *(Subject(capabilities, plugins, target, place) for target in package.targets))
