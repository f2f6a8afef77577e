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
    from match_core.plugin.facade import Plugins

    from match_verify.verify import VerifyRequest


@dataclass(frozen=True, slots=True)
class Samples:
    """By name, over all samples: ``inputs``, the ``original`` model's outputs, and those of the program (``got``)."""

    inputs: Mapping[str, Array]
    original: Mapping[str, Array]
    got: Mapping[str, Array]


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
            "error": None if self.error is None else self.error.as_json(),
        }


NOT_JUDGED = Accuracy(())


def accuracy_of(request: VerifyRequest, compiled: Compilation, plugins: Plugins, samples: Samples) -> Accuracy:
    """Judge all outputs; name the layer where the accuracy falls if a limit does not hold."""
    means = meanings(compiled.source, compiled.model)
    outputs = tuple(
        judge(name, samples.original[name], got, means[name])
        for name, got in samples.got.items()
        if name in samples.original
    )
    lost = [output for output in outputs if output.failed]
    if not request.layers and (not lost or request.accept_loss):
        return Accuracy(outputs, request.accept_loss)
    chosen = compiled.choice.exact if compiled.choice is not None else ()
    options = replace(request, exact=(*request.exact, *chosen))
    recorder, model = recorded(compiled.source, compiled.soc, options, plugins)
    layers = layer_noise(recorder, model, samples.inputs)
    if not lost or request.accept_loss:
        return Accuracy(outputs, request.accept_loss, None, layers)
    where = f"{request.model.name} on {compiled.soc.name}"
    return Accuracy(
        outputs, False, loss_error(lost, where, _where_it_falls(layers), tuple(_help(request, recorder))), layers
    )


def _where_it_falls(layers: tuple[LayerNoise, ...]) -> str:
    layer = fallen(layers, SQNR_DB)
    if layer is None:
        return ""
    if layer.sqnr_db < SQNR_DB:
        return f"the first layer below {SQNR_DB:g} dB is {layer.title}: {layer.sqnr_db:.1f} dB"
    return f"the largest drop is at {layer.title}: {layer.drop_db or 0.0:.1f} dB, to {layer.sqnr_db:.1f} dB"


def _help(request: VerifyRequest, recorder: Recorder) -> Iterator[str]:
    if recorder.change or request.precision == "fast":
        yield f"keep exact arithmetic where too much is lost: --max-loss {SQNR_DB:g}"
    if request.precision == "fast":
        yield "round as the original does: --precision exact"
    for item in recorder.change.values():
        if item.optional:
            yield f"leave a pass out that changes arithmetic: --without-pass {item.name}"
    yield "accept the loss: --accept-loss"
