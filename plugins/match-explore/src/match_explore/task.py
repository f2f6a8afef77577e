"""The work of one point in a process that works on points only: compile, bound or run, and a small record of it."""

from __future__ import annotations

import tempfile
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from match_core.contract.errors import MatchError
from match_core.contract.observe import NullObserver
from match_core.deploy.compile_options import CompileOptions
from match_core.pipeline import CompileRequest, compile_model, decide, prepare
from match_core.plugin.facade import Plugins
from match_core.summary.program_json import energy_json

from match_explore.bounds import adapted, bounds
from match_explore.hardware import target_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from match_core.contract.hardware import Soc
    from match_core.contract.program import Program
    from match_core.pipeline import Prepared

#: A point's outcome: plain values, the same on every machine.
Outcome = dict[str, Any]
_OPTIONS = {entry.name for entry in fields(CompileOptions)}


class Worker:
    """Evaluates points; keeps the plugins, and what a model looks like on a target, for the next point. ``models``: the
    folder with the study's files, ``DIGEST/NAME``."""

    def __init__(self, models: Path) -> None:
        self.models = models
        self._prepared: dict[tuple[object, ...], Prepared] = {}

    @cached_property
    def plugins(self) -> Plugins:
        """The installed packages."""
        return Plugins.load()

    def outcome(self, content: Mapping[str, Any], keep: Path | None = None) -> Outcome:
        """Of a point's content. Errors meant for users are outcomes, too. ``keep``: a folder for the program."""
        kinds: Mapping[str, Callable[[Mapping[str, Any], Path | None], Outcome]] = {
            "compile": self._compiled,
            "bounds": lambda point, _: self._bounded(point),
            "twin": self._run,
        }
        try:
            return {"status": "ok", **kinds[content["evaluate"]](content, keep)}
        except MatchError as error:
            return failed(error.code, error.what, self._plain(error.where), self._plain(error.why))

    def _plain(self, text: str) -> str:
        """The text without the folder of the models, which is another one on each machine."""
        for folder in self.models.iterdir():
            text = text.replace(f"{folder}/", "")
        return text.replace(f"{tempfile.gettempdir()}/", "")

    def _request(self, content: Mapping[str, Any], *, whole: bool = True) -> CompileRequest:
        options = dict(content["options"])
        options["memory"] = tuple(options.get("memory", {}).items()) if whole else ()
        options["only_units"] = tuple(options.pop("only_units", ())) if whole else ()
        options.setdefault("execution", "auto")
        return CompileRequest(
            model=self.models / content["sha256"] / content["file"],
            target=target_name(self.plugins, content["target"], content["board"], content["what_if"]),
            **{name: value for name, value in options.items() if name in _OPTIONS},
        )

    def _compiled(self, content: Mapping[str, Any], keep: Path | None) -> Outcome:
        request = self._request(content)
        if keep is not None and not content["what_if"]:
            compilation = compile_model(replace(request, output=keep), self.plugins).compilation
            return figures(compilation.program)
        quiet = NullObserver()
        planned, _ = decide(prepare(request, self.plugins, quiet), self.plugins, quiet)
        return figures(planned.program)

    def _bounded(self, content: Mapping[str, Any]) -> Outcome:
        options = content["options"]
        names = ("sha256", "target", "board")
        key = (*(content[n] for n in names), *(options.get(n) for n in ("precision", "preset", "quantized_io")))
        if key not in self._prepared:
            plain = self._request({**content, "what_if": {}}, whole=False)
            self._prepared[key] = prepare(plain, self.plugins, NullObserver())
        name = target_name(self.plugins, content["target"], content["board"], content["what_if"])
        soc = adapted(self.plugins.soc(name), options)
        concurrent = options.get("execution", "auto") != "sequential"
        only = tuple(options.get("only_units", ()))
        found = bounds(self._prepared[key], soc, only, self.plugins, concurrent=concurrent)
        return {"cycles": found.cycles, "peak_bytes": found.peak_bytes, "clock_hz": clock_of(soc)}

    def _run(self, content: Mapping[str, Any], keep: Path | None) -> Outcome:
        from match_verify.verify import VerifyRequest, verify_model

        if content["what_if"]:
            return self._compiled(content, None)  # a twin is a twin of what exists
        request = self._request(content)
        data = {key: self.models / digest for key, digest in content["data"].items()}
        files = {key: next(folder.iterdir()) for key, folder in data.items()}
        labels = (str(files["labels"]),) if "labels" in files else ()
        chosen = {**request.choices(), "accept_loss": True, "inputs": files.get("inputs"), "labels": labels}
        verify = VerifyRequest(model=request.model, target=request.target, **chosen)
        if keep is not None:
            compile_model(verify.compile_request(keep), self.plugins)
        found = verify_model(verify, self.plugins)
        made = figures(found.compilation.program)
        right = [check.program.top1 for check in found.labels if check.program.top1 is not None]
        return {
            **made,
            "twin_cycles": found.run.cycles_total,
            "bit_exact": found.bit_exact,
            "accuracy": min(right) if right else None,
        }


def failed(code: str, what: str, where: str, why: str) -> Outcome:
    """The outcome of a point that has no program."""
    return {"status": "failed", "code": code, "what": what, "where": where, "why": why}


def figures(program: Program) -> Outcome:
    """What a row says of a program: cycles, bytes of the home memory and of the fullest memory next to a unit, energy
    in pJ (None if a unit publishes none), the units that run something."""
    soc = program.soc
    used = {use.memory: use.used_bytes for use in program.memory}
    near = [used[memory.name] for memory in soc.memories if memory.level == 1 and memory.name != soc.home]
    units = dict.fromkeys(task.assignment.candidate.unit for task in program.tasks)
    energy = energy_json(program)["pj"]
    return {
        "cycles": program.predicted_cycles,
        "peak_bytes": used[soc.home],
        "near_bytes": max(near, default=None),
        "energy_pj": energy,
        "memories": used,
        "runs_on": [name for name in soc.units if name in units],
        "clock_hz": clock_of(soc),
    }


def clock_of(soc: Soc) -> float | None:
    """Hertz, None if the target states none."""
    return None if soc.clock_hz is None else float(soc.clock_hz.value)
