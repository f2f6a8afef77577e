"""Commands that repeat a request: what advice prints is what it planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.cli.headline import command_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from match_core.pipeline import CompileRequest

#: Options that are repeated, with the field of the request.
_REPEATED = {
    "--only-unit": "only_units",
    "--without-unit": "without_units",
    "--without-pass": "without_passes",
    "--exact": "exact",
    "--dim": "dims",
    "--memory": "memory",
    "--region-min": "region_min",
    "--state": "states",
}
#: Options with one value, which is left out where it is the default.
_SINGLE = {
    "--precision": ("precision", "exact"),
    "--preset": ("preset", None),
    "--objective": ("objective", "latency"),
    "--parallel": ("parallel", "pipeline"),
    "--regions": ("regions", "cheapest"),
    "--name": ("name", None),
    "--max-loss": ("max_loss", None),
}


def command_of(verb: str, request: CompileRequest, *more: object) -> str:
    """``match VERB MODEL ... -t TARGET OPTIONS`` for the choices of a request; ``more`` follows the model."""
    target = () if request.target is None else ("-t", request.target)
    return command_line(verb, request.model, *more, *target, *(word for option in _options(request) for word in option))


def _options(request: CompileRequest) -> Iterator[tuple[str, ...]]:
    """Each option with its value, as a user would give it."""
    for option, field in _REPEATED.items():
        yield from ((option, _text(value)) for value in getattr(request, field))
    for option, (field, default) in _SINGLE.items():
        if getattr(request, field) != default:
            yield option, str(getattr(request, field))
    if request.quantized_io:
        yield ("--quantized-io",)
    if request.figures is not None:
        yield "--figures", request.figures.file
    if request.execution != "auto":
        yield (f"--{request.execution}",)
    if not request.cache:
        yield ("--no-cache",)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "=".join(map(str, value))


def quantize_command(request: CompileRequest) -> str:
    """``match quantize``, with the samples of the user and the result beside the model."""
    output = request.model.with_name(f"{request.model.stem}_int8.onnx")
    sizes = [word for name, size in request.dims for word in ("--dim", f"{name}={size}")]
    return command_line("quantize", request.model, "--data", "X.npz", "--output", output, *sizes)
