"""The verbs as functions. Each calls the function behind its verb, and raises the same errors (``MatchError``)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from match_core.contract.errors import MatchError

from match_python.files import array_file, model_file
from match_python.options import choice, choices_of
from match_python.session import plugin_session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from match_python.answers import NodeExplanation, QuantizedModel, Targets, Verification
    from match_python.files import ArraysLike, ModelLike
    from match_python.options import Options
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
        return program_of(compile_model(request, plugins).compilation, folder)


def quantize(
    model: ModelLike,
    samples: ArraysLike,
    output: str | PathLike[str] | None = None,
    *,
    activations: Literal["int8", "uint8"] = "int8",
    per_tensor: bool = False,
    method: Literal["minmax", "entropy", "percentile"] = "minmax",
    dim: dict[str, int] | None = None,
) -> QuantizedModel:
    """Quantise a float network to 8 bits.

    Args:
        model: a path, the bytes of a file, or an ``onnx.ModelProto``.
        samples: calibration inputs by name with a leading sample axis, or the path of an ``.npz`` file.
        output: the file for the quantised network; None to keep it in memory only.
        activations: element type of activations.
        per_tensor: one scale for all weights of an operator, not one per channel.
        method: how the samples determine the range of a tensor.
        dim: dynamic sizes by name.

    Returns:
        The quantised network, and its distance to the float network on the samples.

    Raises:
        MatchError: as ``match quantize``.
    """
    import onnx
    from match_core.load.dims import dim_sizes
    from match_quant.quantize import QuantizeRequest, quantize_model
    from match_quant.verb import Activations, Method

    from match_python.answers import QuantizedModel

    with _workspace() as work, plugin_session() as plugins:
        path = work / "quantised.onnx" if output is None else Path(output)
        request = QuantizeRequest(
            model=model_file(model, work),
            data=array_file(samples, work, "samples"),
            output=path,
            activations=choice("activations", activations, Activations).value,
            per_channel=not per_tensor,
            method=choice("method", method, Method).value,
            dims=dim_sizes([f"{name}={size}" for name, size in (dim or {}).items()]),
        )
        result = quantize_model(request, plugins.front_ends())
        made = None if output is None else Path(output)
        return QuantizedModel(onnx.load(str(path)), made, result.samples, result.distances)


def verify(
    model: ModelLike,
    target: str | None = None,
    inputs: ArraysLike | None = None,
    *,
    expected: ArraysLike | None = None,
    sanitize: bool = False,
    accept_loss: bool = False,
    **options: Unpack[Options],
) -> Verification:
    """Compile a model, run the program on the target's twin, and compare every output.

    Args:
        model: a path, the bytes of a file, or an ``onnx.ModelProto``.
        target: its name, or the path of a board file; None if only one is installed.
        inputs: samples by input name, or the path of an ``.npz`` file; None for seeded random ones.
        expected: outputs that the program must compute, by name.
        sanitize: build with address and undefined-behaviour sanitizers.
        accept_loss: accept any distance to the original model.
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
        choices = choices_of(options)
        request = VerifyRequest(
            model=model_file(model, work),
            target=target,
            inputs=None if inputs is None else array_file(inputs, work, "inputs"),
            expected=None if expected is None else array_file(expected, work, "expected"),
            sanitize=sanitize,
            accept_loss=accept_loss,
            **choices,
        )
        found = verify_model(request, plugins)
    run = Run(found.run.outputs, found.run.cycles_total, found.run.cycles_by_unit, found.run.nodes)
    return Verification(
        ok=found.ok,
        bit_exact=found.bit_exact,
        samples=found.samples,
        outputs=found.outputs,
        losses=found.accuracy.outputs,
        error=found.accuracy.error,
        warnings=found.warnings,
        program=program_of(found.compilation, None),
        run=run,
    )


def explain(
    model: ModelLike, node: str, target: str | None = None, *, flip: bool = True, **options: Unpack[Options]
) -> NodeExplanation:
    """Explain why a unit runs a node, and what would move it.

    Args:
        model: a path, the bytes of a file, or an ``onnx.ModelProto``.
        node: the name of a node of the model.
        target: its name, or the path of a board file; None if only one is installed.
        flip: search for the smallest change of the layer that moves it to another unit.
        options: those of ``match explain``, see ``Options``.

    Returns:
        The alternatives with their cycles, the refusals with their rules, the margin of the choice.

    Raises:
        MatchError: as ``match explain``; MATCH-U035 if there is no such node.
    """
    from match_core.pipeline import CompileRequest
    from match_report.advice.explain import explain_node

    from match_python.answers import NodeExplanation

    with _workspace() as work, plugin_session() as plugins:
        request = CompileRequest(model=model_file(model, work), target=target, **choices_of(options))
        found = explain_node(request, node, plugins, flips=flip)
    return NodeExplanation(
        node=found.node,
        operator=found.operator,
        target=found.target,
        unit=next((entry.unit for entry in found.considered if entry.chosen), None),
        considered=found.considered,
        refused=found.refused,
        without_pattern=found.without_pattern,
        margin=found.margin,
        tilings=found.tilings,
        flip=None if found.flips is None else found.flips.flip,
    )


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
            raise replace(error, where=error.where.replace(f"{folder}/", "")) from error
