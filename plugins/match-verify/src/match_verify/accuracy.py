"""The accuracy of a program: the loss of each output, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_verify.judge import AGREEMENT, SQNR_DB, AccuracyError, OutputLoss, judge, loss_error
from match_verify.layers import LayerNoise, Recorder, fallen, layer_noise, recorded
from match_verify.meaning import meanings
from match_verify.noise import Array

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.contract.passes import Precision
    from match_core.deploy.compile_options import CompileOptions
    from match_core.plugin.facade import Plugins


@dataclass(frozen=True, slots=True)
class Samples:
    """By name, over all samples: ``inputs``, the ``original`` model's outputs, and those of the program (``got``)."""

    inputs: Mapping[str, Array]
    original: Mapping[str, Array]
    got: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is judged, whether any loss is to be accepted, whether the noise of ``layers`` is wanted in any case, and
    ``excused`` outputs, of which ONNX Runtime itself is as far from the real values as the program."""

    samples: Samples
    accept: bool = False
    layers: bool = False
    excused: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Accuracy:
    """``error``: MATCH-V001 if a limit does not hold and the loss is not ``accepted``. ``layers``: the noise of each
    layer, None where it was not measured."""

    outputs: tuple[OutputLoss, ...]
    accepted: bool = False
    error: AccuracyError | None = None
    layers: tuple[LayerNoise, ...] | None = None

    @property
    def ok(self) -> bool:
        """Whether all limits hold, or the loss is accepted."""
        return self.error is None

    @property
    def fall(self) -> LayerNoise | None:
        """The layer where the accuracy falls, if layers were measured and one differs from the original."""
        layer = fallen(self.layers or (), SQNR_DB)
        return layer if layer is not None and layer.sqnr_db < float("inf") else None

    def as_json(self) -> dict[str, object]:
        """The fields of ``match verify --json``."""
        return {
            "loss": {
                "ok": not any(output.failed for output in self.outputs),
                "accepted": self.accepted and any(output.failed for output in self.outputs),
                "limits": {"sqnr_db": SQNR_DB, "agreement": AGREEMENT},
                "outputs": {output.name: output.as_json() for output in self.outputs},
            },
            "layers": None if self.layers is None else [layer.as_json() for layer in self.layers],
            "falls_at": None if self.fall is None else self.fall.as_json(),
            "error": None if self.error is None else self.error.as_json(),
        }


NOT_JUDGED = Accuracy(())


def accuracy_of(compiled: Compilation, options: CompileOptions, plugins: Plugins, asked: Asked) -> Accuracy:
    """Judge all outputs; name the layer where the accuracy falls if a limit does not hold."""
    means, samples = meanings(compiled.source, compiled.model), asked.samples
    outputs = tuple(
        judge(name, samples.original[name], got, means[name])
        for name, got in samples.got.items()
        if name in samples.original
    )
    outputs = tuple(replace(output, failed=()) if output.name in asked.excused else output for output in outputs)
    lost = [output for output in outputs if output.failed]
    if not asked.layers and (not lost or asked.accept):
        return Accuracy(outputs, asked.accept)
    chosen = compiled.choice.exact if compiled.choice is not None else ()
    exact = replace(options, exact=(*options.exact, *chosen))
    recorder, model = recorded(compiled.source, compiled.soc, exact, plugins)
    layers = layer_noise(recorder, model, samples.inputs)
    if not lost or asked.accept:
        return Accuracy(outputs, asked.accept, None, layers)
    where = f"{compiled.source.source or compiled.source.name} on {compiled.soc.name}"
    command = f"match verify {compiled.source.source or 'MODEL'} -t {compiled.soc.name}"
    help_ = tuple(_help(command, options.precision, recorder))
    return Accuracy(outputs, False, loss_error(lost, where, _where_it_falls(layers), help_), layers)


def _where_it_falls(layers: tuple[LayerNoise, ...]) -> str:
    layer = fallen(layers, SQNR_DB)
    if layer is None:
        return ""
    if layer.sqnr_db < SQNR_DB:
        return f"the first layer below {SQNR_DB:g} dB is {layer.title}: {layer.sqnr_db:.1f} dB"
    return f"the largest drop is at {layer.title}: {layer.drop_db or 0.0:.1f} dB, to {layer.sqnr_db:.1f} dB"


def _help(command: str, precision: Precision, recorder: Recorder) -> Iterator[str]:
    if recorder.change or precision == "fast":
        yield f"keep exact arithmetic where too much is lost: {command} --max-loss {SQNR_DB:g}"
    if precision == "fast":
        yield f"round as the original does: {command} --precision exact"
    for item in recorder.change.values():
        if item.optional:
            yield f"leave a pass out that changes arithmetic: {command} --without-pass {item.name}"
    yield f"accept the loss: {command} --accept-loss"
