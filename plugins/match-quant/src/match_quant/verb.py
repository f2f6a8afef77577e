"""``match quantize``: quantise a float network to 8 bits with samples."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.headline import command_line, show_next
from match_core.cli.parameters import DimOption, JsonOption, ModelArgument, QuietOption
from match_core.cli.session import plugin_session
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import Terminal
from match_verify.verbs.labels import show_check
from match_verify.verbs.options import LabelsOption, MeanOption, StdOption

if TYPE_CHECKING:
    from match_quant.quantize import Quantized


_SHOWN = 5  #: layers of those that lose most; --json has all


class Activations(str, Enum):
    """Element types of activations."""

    INT8 = "int8"
    UINT8 = "uint8"


class Method(str, Enum):
    """How samples determine ranges."""

    MINMAX = "minmax"
    ENTROPY = "entropy"
    PERCENTILE = "percentile"


def quantize_command(
    model: ModelArgument,
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="PATH",
            help="Samples: .npz with an array for each input, .npy, images or a folder of them.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File for the quantised network.")],
    *,
    mean: MeanOption = None,
    std: StdOption = None,
    activations: Annotated[
        Activations, typer.Option("--activations", help="Element type of activations.")
    ] = Activations.INT8,
    per_tensor: Annotated[
        bool, typer.Option("--per-tensor", help="Use one scale for all weights of an operator, not one per channel.")
    ] = False,
    method: Annotated[
        Method | None,
        typer.Option("--method", help="How the samples determine the range of a tensor; default: minmax."),
    ] = None,
    percentile: Annotated[
        float | None,
        typer.Option(
            "--percentile",
            metavar="P",
            min=50,
            max=100,
            help="Share of values within the range, in percent; default: 99.999.",
        ),
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="Try all methods, and choose what loses least on samples held out.")
    ] = False,
    layers: Annotated[
        bool, typer.Option("--layers/--no-layers", help="Measure which layers lose most in 8 bits.")
    ] = True,
    wider: Annotated[
        list[str] | None,
        typer.Option("--wider", metavar="NODE", help="Leave the layer of this node in float; may be repeated."),
    ] = None,
    keep_wider: Annotated[
        int, typer.Option("--keep-wider", metavar="N", min=0, help="Leave the N layers in float that help most.")
    ] = 0,
    labels: LabelsOption = None,
    ranges: Annotated[
        bool,
        typer.Option(
            "--ranges", help="Write the float network with measured ranges, for units that quantise themselves."
        ),
    ] = False,
    dim: DimOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Quantise a float network to 8 bits with samples (static quantisation of ONNX Runtime), and report the
    differences.

    Example: match quantize model.onnx --data samples.npz -o model_int8.onnx
    """
    if percentile is not None and method not in (None, Method.PERCENTILE):
        raise typer.BadParameter("only the method percentile has one", param_hint="--percentile")
    with Terminal(as_json=json, quiet=quiet) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.load.dims import dim_sizes
            from match_verify.images import normalisation

            from match_quant.quantize import QuantizeRequest, chosen_ranges, quantize_model

            request = QuantizeRequest(
                model=model,
                data=data,
                output=output,
                activations=activations.value,
                dims=dim_sizes(dim or ()),
                normalisation=normalisation(mean, std),
                **chosen_ranges(
                    None if method is None else method.value, percentile, per_tensor=per_tensor, search=search
                ),
                layers=layers,
                wider=tuple(wider or ()),
                keep_wider=keep_wider,
                labels=tuple(labels or ()),
                ranges=ranges,
            )
            result = quantize_model(request, plugins.front_ends(), terminal)
            chips = [soc.name for soc in plugins.hardware().socs if not soc.generic]
        told = _headline(result, output)
        check = ("check", output, "-t", chips[0]) if len(chips) == 1 else ("operators", output)
        following = command_line(*check)
        terminal.document({**_document(result, output), "headline": told, "next": following})
        terminal.paragraph(told, style="bold")
        _show(terminal, result)
        terminal.line(f"wrote the {'float network with ranges' if ranges else 'quantised network'} to {output}")
        show_next(terminal, following)
    return 0


def _headline(result: Quantized, output: Path) -> str:
    """What 8 bits lose at the output that loses most."""
    worst = min(result.distances, key=lambda distance: distance.sqnr_db)
    place = f" at {worst.name}, its worst output" if len(result.distances) > 1 else ""
    same = "" if worst.top1_agreement is None else f", same top-1 for {worst.top1_agreement:.1%} of them"
    float_layers = f", {len(result.wider)} layers in float" if result.wider else ""
    ratio = "exact" if worst.sqnr_db == float("inf") else f"{_db(worst.sqnr_db)} SQNR"
    return f"{output.stem} in 8 bits{float_layers}: {ratio}{place} over {result.compared} samples{same}"


def _show(terminal: Terminal, result: Quantized) -> None:
    outputs = "outputs before Softmax" if result.softmax else "outputs"
    if result.trials:
        tried = [
            (trial.scheme.title, _db(trial.sqnr_db), _percent(trial.agreement), "*" if trial is result.best else "")
            for trial in result.trials
        ]
        columns = ("ranges and scales", "SQNR", "same top-1", "chosen")
        title = f"{outputs} of {result.compared} samples held out"
        terminal.table(Table(title, columns, tried, frozenset(columns[1:3])))
    rows = [
        (
            d.name,
            f"{d.max_abs:.4g}",
            f"{d.mean_abs:.4g}",
            f"{d.largest:.4g}",
            _db(d.sqnr_db),
            _percent(d.top1_agreement),
        )
        for d in result.distances
    ]
    headings = ("output", "max", "mean", "largest value", "SQNR", "same top-1")
    title = f"difference from the float network, {result.compared} samples"
    terminal.table(Table(title, headings, rows, frozenset(headings[1:])))
    for check in result.labels:
        show_check(terminal, check, ("float network", "in 8 bits"))
    if result.losses:
        worst = [(shortened(loss.nodes[0]), _db(loss.sqnr_db)) for loss in result.losses[:_SHOWN]]
        title = f"layers that lose most: {outputs} if one layer is in 8 bits"
        terminal.table(Table(title, ("ONNX nodes", "SQNR"), worst, frozenset({"SQNR"})))
    if result.wider:
        kept = [("(all layers in 8 bits)", _db(result.worst_sqnr_db or 0.0))]
        kept += [(shortened(layer.nodes[0]), _db(layer.sqnr_db)) for layer in result.wider]
        title = f"layers that stay in float: {outputs} with them and those above"
        terminal.table(Table(title, ("ONNX nodes", "SQNR"), kept, frozenset({"SQNR"})))


def _document(result: Quantized, output: Path) -> dict[str, Any]:
    return {
        "schema": "match.quantize",
        "ok": True,
        "output": str(output),
        "samples": result.samples,
        "compared": result.compared,
        "method": result.scheme.method,
        "percentile": result.scheme.percentile if result.scheme.method == "percentile" else None,
        "per_channel": result.scheme.per_channel,
        "activations": result.scheme.activations,
        "outputs": [distance.as_json() for distance in result.distances],
        "labels": {check.name: check.as_json() for check in result.labels},
        "trials": [trial.as_json() for trial in result.trials],
        "layers": [loss.as_json() for loss in result.losses],
        "worst_sqnr_db": result.worst_sqnr_db,
        "wider": [layer.as_json() for layer in result.wider],
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _db(ratio: float) -> str:
    return "exact" if ratio == float("inf") else f"{ratio:.1f} dB"
