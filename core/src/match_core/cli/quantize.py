"""``match quantize``: an 8-bit network from a float one and samples."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from match_core.cli.options import JsonOption, ModelArgument
from match_core.cli.terminal import Table, Terminal, library_output

if TYPE_CHECKING:
    from match_core.quantize import Quantized


class Activations(str, Enum):
    """Element types of activations."""

    INT8 = "int8"
    UINT8 = "uint8"


class Method(str, Enum):
    """How ranges follow from samples."""

    MINMAX = "minmax"
    ENTROPY = "entropy"
    PERCENTILE = "percentile"


def quantize_command(
    model: ModelArgument,
    data: Annotated[
        Path,
        typer.Option(
            "--data", metavar="X.npz", help="Samples for every input, first axis the sample.", show_default=False
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the network.", show_default=False)
    ],
    activations: Annotated[
        Activations, typer.Option("--activations", help="Element type of activations.")
    ] = Activations.INT8,
    per_tensor: Annotated[
        bool, typer.Option("--per-tensor", help="One scale for all weights of an operator, not one for each channel.")
    ] = False,
    method: Annotated[
        Method, typer.Option("--method", help="How the range of a tensor follows from the samples.")
    ] = Method.MINMAX,
    json: JsonOption = False,
) -> int:
    """Quantise a float network to 8 bits with samples (static quantisation of ONNX Runtime), and tell what it costs.

    Example: match quantize model.onnx --data samples.npz -o model_int8.onnx
    """
    with Terminal(as_json=json) as terminal:
        with library_output():
            from match_core.quantize import QuantizeRequest, quantize_model

            request = QuantizeRequest(model, data, output, activations.value, not per_tensor, method.value)
            result = quantize_model(request)
        terminal.document(_document(result, output))
        rows = [
            (d.name, f"{d.max_abs:.4g}", f"{d.mean_abs:.4g}", f"{d.largest:.4g}", _percent(d.top1_agreement))
            for d in result.distances
        ]
        headings = ("output", "max", "mean", "largest value", "top-1 the same")
        title = f"distance to the float network, {result.samples} samples"
        terminal.table(Table(title, headings, rows, frozenset(headings[1:])))
        terminal.line(f"quantised network written to {output}")
    return 0


def _document(result: Quantized, output: Path) -> dict[str, Any]:
    return {
        "schema": "match.quantize",
        "schema_version": 1,
        "ok": True,
        "output": str(output),
        "samples": result.samples,
        "outputs": [
            {
                "name": d.name,
                "max_abs": d.max_abs,
                "mean_abs": d.mean_abs,
                "largest": d.largest,
                "top1_agreement": d.top1_agreement,
            }
            for d in result.distances
        ],
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
