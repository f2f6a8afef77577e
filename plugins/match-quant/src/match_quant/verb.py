"""``match quantize``: quantise a float network to 8 bits with samples."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.parameters import DimOption, JsonOption, ModelArgument
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Table, Terminal

if TYPE_CHECKING:
    from match_quant.quantize import Quantized


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
            "--data", metavar="X.npz", help="Samples for every input; the first axis is the sample.", show_default=False
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File for the quantised network.", show_default=False)
    ],
    activations: Annotated[
        Activations, typer.Option("--activations", help="Element type of activations.")
    ] = Activations.INT8,
    per_tensor: Annotated[
        bool, typer.Option("--per-tensor", help="Use one scale for all weights of an operator, not one per channel.")
    ] = False,
    method: Annotated[
        Method, typer.Option("--method", help="How the samples determine the range of a tensor.")
    ] = Method.MINMAX,
    dim: DimOption = None,
    json: JsonOption = False,
) -> int:
    """Quantise a float network to 8 bits with samples (static quantisation of ONNX Runtime), and report the
    differences.

    Example: match quantize model.onnx --data samples.npz -o model_int8.onnx
    """
    with Terminal(as_json=json) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.load.dims import dim_sizes

            from match_quant.quantize import QuantizeRequest, quantize_model

            sizes = dim_sizes(dim or ())
            request = QuantizeRequest(model, data, output, activations.value, not per_tensor, method.value, sizes)
            result = quantize_model(request, plugins.front_ends())
        terminal.document(_document(result, output))
        rows = [
            (d.name, f"{d.max_abs:.4g}", f"{d.mean_abs:.4g}", f"{d.largest:.4g}", _percent(d.top1_agreement))
            for d in result.distances
        ]
        headings = ("output", "max", "mean", "largest value", "same top-1")
        title = f"difference from the float network, {result.samples} samples"
        terminal.table(Table(title, headings, rows, frozenset(headings[1:])))
        terminal.line(f"wrote the quantised network to {output}")
    return 0


def _document(result: Quantized, output: Path) -> dict[str, Any]:
    return {
        "schema": "match.quantize",
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
