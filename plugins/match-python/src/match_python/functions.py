"""The verbs as functions. Each calls the function behind its verb, and raises the same errors (``MatchError``)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from match_core.contract.errors import MatchError

from match_python.files import array_file, label_texts, model_file, normalisation_of, sample_file
from match_python.headline import headline_of
from match_python.options import choice, choices_of, wrong_argument
from match_python.session import Notes, plugin_session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from match_python.answers import QuantizedModel, Targets, Verification
    from match_python.explanations import NetworkExplanation, NodeExplanation
    from match_python.files import ArraysLike, LabelsLike, ModelLike, Numbers, SamplesLike
    from match_python.options import Names, Options
    from match_python.program import Program


def compile(
    model: ModelLike,
    target: str | None = None,
    output: str | PathLike[str] | None = None,
    *,
    samples: ArraysLike | None = None,
    **options: Unpack[Options],
) -> Program:
    """Compile a model to C.

    Args:
        model: a path, the bytes of a file, or an ``onnx.ModelProto``.
        target: its name, or the path of a board file; None if only one is installed.
        output: the folder for the program; None to write nothing. An existing folder is replaced only if it holds a
            program of match.
        samples: inputs for ``max_loss``; None for random ones.
        options: those of ``match compile``, see ``Options``.

    Returns:
        The program: layers, cycles, memory; ``run``, ``write`` and ``report``.

    Raises:
        MatchError: with the code and the exit code of the command line.
    """
    from match_core.pipeline import CompileRequest, compile_model

    from match_python.program import program_of

    folder = None if output is None else Path(output)
    with _workspace() as work, plugin_session() as plugins:
        choices = choices_of(options)
        given = None if samples is None else array_file(samples, work, "samples")
        request = CompileRequest(model=model_file(model, work), target=target, output=folder, **choices, samples=given)
        return program_of(compile_model(request, plugins).compilation, folder, target)


def quantize(
    model: ModelLike,
    samples: SamplesLike,
    output: str | PathLike[str] | None = None,
    *,
    mean: Numbers | None = None,
    std: Numbers | None = None,
    activations: Literal["int8", "uint8"] = "int8",
    per_tensor: bool = False,
    method: Literal["minmax", "entropy", "percentile"] | None = None,
    percentile: float | None = None,
    search: bool = False,
    layers: bool = True,
    wider: Names = (),
    keep_wider: int = 0,
    labels: LabelsLike | None = None,
    ranges: bool = False,
    dim: Mapping[str, int] | None = None,
) -> QuantizedModel:
    """Quantise a float network to 8 bits.

    Args:
        model: a path, the bytes of a file, or an ``onnx.ModelProto``.
        samples: calibration inputs by name with a leading sample axis, an array if there is one input, or a path: an
            ``.npz`` or ``.npy`` file, an image, a folder of images or of ``.npy`` files.
        output: the file for the quantised network; None to keep it in memory only.
        mean: of images, in units of 0 to 1: one number, or one for each channel.
        std: the standard deviation of images, in the same form.
        activations: element type of activations.
        per_tensor: one scale for all weights of an operator, not one per channel.
        method: how the samples determine the range of a tensor; None for ``minmax``, or what a search chooses.
        percentile: the share of values within the range, in percent (50 to 100), for the method of that name.
        search: try all methods, and choose what loses least on samples held out.
        layers: measure which layers lose most in 8 bits.
        wider: nodes whose layers stay in float.
        keep_wider: how many more layers stay in float: those that help most.
        labels: of the samples, an array or the path of an ``.npy`` file; by output name if there are several outputs.
        ranges: give the float network with measured ranges, for units that quantise by themselves.
        dim: dynamic sizes by name.

    Returns:
        The quantised network, and its distance to the float network on the samples.

    Raises:
        MatchError: as ``match quantize``.
    """
    import onnx
    from match_core.load.dims import dim_sizes
    from match_quant.quantize import QuantizeRequest, chosen_ranges, quantize_model
    from match_quant.verb import Activations, Method

    from match_python.answers import QuantizedModel

    chosen = None if method is None else choice("method", method, Method).value
    if percentile is not None and (chosen not in (None, "percentile") or not 50 <= percentile <= 100):
        why = f"it is {percentile!r}, the method is {chosen!r}"
        raise wrong_argument("argument 'percentile'", why, ("use method='percentile' and 50 to 100 percent",))
    with _workspace() as work, plugin_session() as plugins:
        path = work / "quantised.onnx" if output is None else Path(output)
        request = QuantizeRequest(
            model=model_file(model, work),
            data=sample_file(samples, work, "samples"),
            output=path,
            activations=choice("activations", activations, Activations).value,
            dims=dim_sizes([f"{name}={size}" for name, size in (dim or {}).items()]),
            normalisation=normalisation_of(mean, std),
            layers=layers,
            wider=(wider,) if isinstance(wider, str) else tuple(wider),
            keep_wider=keep_wider,
            labels=label_texts(labels, work),
            ranges=ranges,
            **chosen_ranges(chosen, percentile, per_tensor=per_tensor, search=search),
        )
        notes = Notes()
        result = quantize_model(request, plugins.front_ends(), notes)
        return QuantizedModel(
            model=onnx.load(str(path)),
            output=None if output is None else path,
            samples=result.samples,
            compared=result.compared,
            distances=result.distances,
            scheme=result.scheme,
            trials=result.trials,
            losses=result.losses,
            wider=result.wider,
            labels=result.labels,
            notes=tuple(notes.texts),
        )


def verify(
    model: ModelLike,
    target: str | None = None,
    inputs: SamplesLike | None = None,
    *,
    mean: Numbers | None = None,
    std: Numbers | None = None,
    expected: ArraysLike | None = None,
    labels: LabelsLike | None = None,
    sanitize: bool = False,
    accept_loss: bool = False,
    layers: bool = False,
    mode: str = "eager",
    **options: Unpack[Options],
) -> Verification:
    """Compile a model, run the program on the target's twin, and compare every output.

    Args:
        model: a path, the bytes of a file, or an ``onnx.ModelProto``.
        target: its name, or the path of a board file; None if only one is installed.
        inputs: samples by input name, an array if there is one input, or a path: an ``.npz`` or ``.npy`` file, an
            image, a folder of images or of ``.npy`` files; None for seeded random ones.
        mean: of images, in units of 0 to 1: one number, or one for each channel.
        std: the standard deviation of images, in the same form.
        expected: outputs that the program must compute, by name.
        labels: of the samples, an array or the path of an ``.npy`` file; by output name if there are several outputs.
        sanitize: build with address and undefined-behaviour sanitizers.
        accept_loss: accept any distance to the original model.
        layers: measure the noise of each layer against the original model; labels measure it too.
        mode: how the twin runs: ``eager``, ``lazy``, ``lazy:QUEUE``, ``threads`` or ``threads:SEED``.
        options: those of ``match verify``, see ``Options``.

    Returns:
        The comparison. A program that is wrong or too far from the original is a result with ``ok`` False, not an
        exception.

    Raises:
        MatchError: as ``match verify``, if the program cannot be made or run.
    """
    from match_verify.verify import VerifyRequest, verify_model

    from match_python.answers import Verification
    from match_python.program import Run, program_of

    with _workspace() as work, plugin_session() as plugins:
        notes = Notes()
        request = VerifyRequest(
            model=model_file(model, work),
            target=target,
            inputs=None if inputs is None else sample_file(inputs, work, "inputs"),
            normalisation=normalisation_of(mean, std),
            expected=None if expected is None else array_file(expected, work, "expected"),
            labels=label_texts(labels, work),
            sanitize=sanitize,
            accept_loss=accept_loss,
            layers=layers,
            mode=mode,
            **choices_of(options),
        )
        found = verify_model(request, plugins, notes)
    return Verification(
        headline=headline_of(found.report, target),
        ok=found.ok,
        bit_exact=found.bit_exact,
        samples=found.samples,
        outputs=found.outputs,
        losses=found.accuracy.outputs,
        error=found.accuracy.error,
        labels=found.labels,
        layers=found.accuracy.layers,
        falls_at=found.accuracy.fall,
        warnings=found.warnings,
        notes=tuple(notes.texts),
        program=program_of(found.compilation, None, target),
        run=Run(found.run.outputs, found.run.cycles_total, found.run.cycles_by_unit, found.run.nodes),
    )


@overload
def explain(
    model: ModelLike, target: str | None = None, *, node: None = None, flip: bool = True, **options: Unpack[Options]
) -> NetworkExplanation: ...
@overload
def explain(
    model: ModelLike, target: str | None = None, *, node: str, flip: bool = True, **options: Unpack[Options]
) -> NodeExplanation: ...
def explain(
    model: ModelLike,
    target: str | None = None,
    *,
    node: str | None = None,
    flip: bool = True,
    **options: Unpack[Options],
) -> NetworkExplanation | NodeExplanation:
    """Explain what costs most and what would help; or why a unit runs a node, and what would move it.

    Args:
        model: a path, the bytes of a file, or an ``onnx.ModelProto``.
        target: its name, or the path of a board file; None if only one is installed.
        node: the name of a node of the model; None for the whole network.
        flip: search for the smallest change of a layer that moves it to another unit.
        options: those of ``match explain``, see ``Options``.

    Returns:
        Of the network: the five costliest layers with what limits each and what would help, and recommendations with
            the modelled cycles that they save. Of a node: the alternatives with their cycles, the refusals with their
            rules, the margin of the choice.

    Raises:
        MatchError: as ``match explain``; MATCH-U035 if there is no such node.
    """
    from match_core.pipeline import CompileRequest
    from match_report.advice.costliest import explain_network
    from match_report.advice.explain import explain_node

    from match_python.explanations import network_explanation, node_explanation

    with _workspace() as work, plugin_session() as plugins:
        request = CompileRequest(model=model_file(model, work), target=target, **choices_of(options))
        if node is not None:
            return node_explanation(explain_node(request, node, plugins, flips=flip), target)
        return network_explanation(explain_network(request, plugins, flips=flip), target, work)


def targets() -> Targets:
    """The installed targets. Those of a package with a fault are left out, with a warning."""
    from match_core.contract.errors import PluginError

    from match_python.answers import Target, Targets

    found = []
    with plugin_session() as plugins:
        for soc in sorted(plugins.hardware().socs, key=lambda soc: soc.name):
            try:
                plugins.units_of(soc)
            except PluginError:  # reported with the faults of its package
                continue
            owner = plugins.owner_of(soc.name)
            found.append(
                Target(
                    name=soc.name,
                    description=soc.description,
                    package=f"{owner.distribution} {owner.version}",
                    units=soc.units,
                    memories=tuple((memory.name, memory.size_bytes) for memory in soc.memories),
                    presets=soc.presets,
                    clock_hz=None if soc.clock_hz is None else soc.clock_hz.value,
                )
            )
    return Targets(tuple(found))


@contextmanager
def _workspace() -> Iterator[Path]:
    """A folder for arguments in memory. Errors name the files in it without the folder."""
    with tempfile.TemporaryDirectory(prefix="match-python-") as folder:
        try:
            yield Path(folder)
        except MatchError as error:
            where, *help_ = (text.replace(f"{folder}/", "") for text in (error.where, *error.help))
            raise replace(error, where=where, help=tuple(help_)) from error
