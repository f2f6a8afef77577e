"""Static 8-bit quantisation of a float network by ONNX Runtime's quantiser, with the user's samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from match_core.contract.errors import ToolError, UsageError
from match_core.contract.observe import NullObserver, StageObserver
from match_core.io.arrays import Samples, TensorSpec, as_samples
from match_core.io.files import whole_file
from match_core.load.dims import fix_sizes
from match_core.load.read import read_proto
from match_verify.images import PLAIN, Normalisation
from match_verify.labels import LabelCheck, check_labels, read_labels
from match_verify.meaning import Meaning
from match_verify.sample_files import SampleFiles, read_sample_files

from match_quant.already import check_float
from match_quant.losses import Distance, distance, outputs_of, score_tensors
from match_quant.ranges import with_ranges
from match_quant.search import Trial, best_of, divided, search
from match_quant.static import Method, Quantiser, Row, Scheme
from match_quant.wider import LayerLoss, Trials

if TYPE_CHECKING:
    import onnx
    from match_core.contract.front_end import FrontEnd


@dataclass(frozen=True, slots=True)
class QuantizeRequest:
    """``data``: files of samples (``SampleFiles``), ``normalisation`` of images among them. ``activations``: their
    element type. ``per_channel``: weights have one scale per output channel. ``method``: how samples determine the
    range of a tensor; ``percentile``: of values within it, for that method. ``dims``: (name, size) of dynamic sizes;
    the quantised network has these sizes. ``search``: choose what loses least, except for the fields that are
    ``fixed``. ``layers``: measure what each layer loses. ``wider``: nodes whose layers stay in float; ``keep_wider``:
    how many more layers, which are chosen. ``labels`` of the samples: ``Y.npy`` or ``OUTPUT=Y.npy``. ``ranges``: write
    the float network with the ranges of its tensors (``ranges.py``), for units that quantise by themselves."""

    model: Path
    data: Path
    output: Path
    activations: Literal["int8", "uint8"] = "int8"
    per_channel: bool = True
    method: Method = "minmax"
    dims: tuple[tuple[str, int], ...] = ()
    percentile: float = 99.999
    normalisation: Normalisation = PLAIN
    search: bool = False
    fixed: frozenset[str] = frozenset()
    layers: bool = False
    wider: tuple[str, ...] = ()
    keep_wider: int = 0
    labels: tuple[str, ...] = ()
    ranges: bool = False

    def scheme(self) -> Scheme:
        """The choice of ranges and scales, without a search."""
        return Scheme(self.method, self.per_channel, self.activations, self.percentile)


def chosen_ranges(method: Method | None, percentile: float | None, *, per_tensor: bool, search: bool) -> dict[str, Any]:
    """Fields of a request for what a user chooses: None, and ``per_tensor`` False, leave the choice to the search or to
    the default. A percentile alone chooses the method that has one."""
    if percentile is not None and method is None and not search:
        method = "percentile"
    given = {"method": method is not None, "percentile": percentile is not None, "per_channel": per_tensor}
    return {
        "method": method or "minmax",
        "percentile": 99.999 if percentile is None else percentile,
        "per_channel": not per_tensor,
        "search": search,
        "fixed": frozenset(name for name, fixed in given.items() if fixed),
    }


@dataclass(frozen=True, slots=True)
class Quantized:
    """The result: the number of samples; the differences between the outputs of the quantised and the float network on
    ``compared`` of them; the ``scheme``; the ``trials`` of a search; the ``losses`` of layers, the one that loses most
    first; layers that stay in float (``wider``), and the ratio of the same samples without them (``worst_sqnr_db``);
    outputs of the float network (``original``) and the quantised one (``program``) against ``labels`` of all
    samples. ``softmax``: trials and layers were compared before it."""

    samples: int
    distances: tuple[Distance, ...]
    compared: int
    scheme: Scheme
    trials: tuple[Trial, ...] = ()
    losses: tuple[LayerLoss, ...] = ()
    wider: tuple[LayerLoss, ...] = ()
    worst_sqnr_db: float | None = None
    labels: tuple[LabelCheck, ...] = ()
    softmax: bool = False

    @property
    def best(self) -> Trial | None:
        """The trial that was chosen."""
        return best_of(self.trials) if self.trials else None


def quantize_model(
    request: QuantizeRequest, front_ends: Sequence[FrontEnd] = (), observer: StageObserver | None = None
) -> Quantized:
    """Write the quantised network (QuantizeLinear and DequantizeLinear around its operators). ModelError and UsageError
    as for reading models and samples, and MATCH-R005 if it is quantised already, MATCH-U049 for values that are not
    finite, MATCH-U039 for a node that it does not have; ToolError MATCH-R004 if the quantiser fails; nothing is written
    then."""
    observer = observer or NullObserver()
    proto, _ = read_proto(request.model, front_ends)
    _check_output(request)
    check_float(proto, request.model)
    fix_sizes(proto, request.dims, request.model.name)
    samples = _samples(proto, request, observer)
    rows: list[Row] = [
        {name: np.asarray(array[index]) for name, array in samples.arrays.items()} for index in range(samples.count)
    ]
    labels = read_labels(request.labels, [output.name for output in proto.graph.output], samples=True)
    try:
        quantised, measured, result = _quantised(proto, rows, request, observer, prepared=True)
    except ToolError as error:
        if error.code != "MATCH-R004":
            raise
        quantised, measured, result = _quantised(proto, rows, request, observer, prepared=False)
        observer.note(f"the quantiser's own preparation fails, and is left out: {error.why}")
    if labels:
        means = dict.fromkeys(labels, Meaning())
        checks = check_labels(labels, outputs_of(proto, rows), outputs_of(quantised, rows), means)
        result = replace(result, labels=checks)
    if request.ranges:
        quantised = measured
    with whole_file(request.output, "the model") as file:
        file.write(quantised.SerializeToString(deterministic=True))  # equal models give equal bytes
    return result


def _check_output(request: QuantizeRequest) -> None:
    """UsageError MATCH-U045 for a file in no directory, and for the float network itself, before anything is
    computed."""
    output = request.output
    same = output.exists() and output.samefile(request.model)
    if same or output.is_dir() or not output.parent.is_dir():
        other = request.model.with_name(f"{request.model.stem}_int8.onnx")
        why = "it is a directory" if output.is_dir() else f"there is no directory {output.parent}"
        why = "it is the float network, which would be lost" if same else why
        help_ = (f"choose another file: --output {quote(str(other))}",)
        raise UsageError("MATCH-U045", "the quantised network cannot be written", str(output), why, help_)


def _quantised(
    proto: onnx.ModelProto, rows: Sequence[Row], request: QuantizeRequest, observer: StageObserver, *, prepared: bool
) -> tuple[onnx.ModelProto, onnx.ModelProto, Quantized]:
    """The quantised network, the float network with the ranges of its tensors, and what is reported."""
    used, compared = divided(rows) if request.search else (rows, rows)
    quantiser, before = Quantiser(proto, used, request.model.name, prepared=prepared), outputs_of(proto, compared)
    scheme, trials = request.scheme(), tuple[Trial, ...]()
    if request.search:
        observer.stage_started("search ranges")
        trials = search(quantiser, scheme, request.fixed, compared, observer)
        scheme = best_of(trials).scheme
        observer.stage_finished("search ranges", {"trials": len(trials), "samples held out": len(compared)})
    losses, wider, worst_db = _wider(quantiser, scheme, compared, request, observer)
    quantised = quantiser.quantised(scheme, [name for layer in wider for name in layer.nodes])
    after = outputs_of(quantised, compared)
    distances = tuple(distance(name, before[name], after[name]) for name in before)
    softmax = any(name != tensor for name, tensor in score_tensors(proto).items())
    result = Quantized(len(rows), distances, len(compared), scheme, trials, losses, wider, worst_db, softmax=softmax)
    measured = with_ranges(quantiser.network, quantiser.ranges(scheme)) if request.ranges else proto
    return quantised, measured, result


def _wider(
    quantiser: Quantiser, scheme: Scheme, rows: Sequence[Row], request: QuantizeRequest, observer: StageObserver
) -> tuple[tuple[LayerLoss, ...], tuple[LayerLoss, ...], float | None]:
    """What each layer loses, the layers that stay in float, and the ratio without them."""
    if not (request.layers or request.wider or request.keep_wider):
        return (), (), None
    observer.stage_started("measure layers")
    trials = Trials(quantiser, scheme, rows, observer)
    named = trials.with_nodes(request.wider, request.model.name)
    losses = trials.losses() if request.layers or request.keep_wider else ()
    wider = trials.chosen(losses, request.keep_wider, named)
    observer.stage_finished("measure layers", {"layers": len(trials.layers)})
    return losses, wider, trials.sqnr_db


def _samples(proto: onnx.ModelProto, request: QuantizeRequest, observer: StageObserver) -> Samples:
    specs, where = _specs(proto, request.model.name), str(request.data)
    arrays = read_sample_files(SampleFiles(request.data, request.normalisation), specs, observer.note)
    samples = as_samples(arrays, specs, where, note=observer.note)
    for name, array in samples.arrays.items():
        wrong = array.size - int(np.isfinite(array).sum()) if array.dtype.kind in "fc" else 0
        if wrong:
            raise UsageError(
                code="MATCH-U049",
                what="samples that are not finite determine no ranges",
                where=f"{where}, input {name!r}",
                why=f"{wrong} of {array.size} values are NaN or infinite",
                help=("remove these samples, or replace the values",),
            )
    return samples


def _specs(proto: onnx.ModelProto, source: str) -> list[TensorSpec]:
    """The inputs with static shapes. ModelError MATCH-F013 if one is not static."""
    from match_core.load.load import model_from_proto

    copied = type(proto)()
    copied.CopyFrom(proto)
    model = model_from_proto(copied, "net", source)
    return [
        TensorSpec(str(t.name), tuple(int(size) for size in t.shape), np.dtype(t.dtype).name)
        for t in model.graph.inputs
    ]
