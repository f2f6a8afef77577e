"""One run of a benchmark: a model on the twin with a preset, a precision, some units and some memory sizes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.contract.passes import Precision
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import NDArray

from benchmarks.tables import ROOT, about

MODELS = ROOT.parent / "shared" / "models"
NETWORKS = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
TARGET, HOST = "gap9", "host"
#: The default of GAP9, and the published tool's costs. Not ``engine``, a lower bound.
PRESETS = ("open-sdk", "as-published")
PRECISIONS: tuple[Precision, ...] = ("exact", "fast")
#: The unit sets of the MATCH paper by the names of its columns, as units to leave out. The host is in all of them.
UNIT_SETS: Mapping[str, tuple[str, ...]] = {
    "CPU": ("cluster", "ne16"),
    "cluster": ("ne16",),
    "NE16": ("cluster",),
    "all": (),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """How a model is compiled. ``units``: one of UNIT_SETS; ``l1_bytes``: None for all of it."""

    preset: str
    precision: Precision
    units: str = "all"
    l1_bytes: int | None = None


def network(name: str) -> tuple[Path, dict[str, NDArray[np.generic]]]:
    """Model and stored inputs of an MLPerf Tiny network."""
    folder = MODELS / f"mlperf_{name}_int8_qdq"
    with np.load(folder / "inputs.npz") as archive:
        return folder / "model.onnx", {key: archive[key] for key in archive.files}


def verify(model: Path, arrays: Mapping[str, NDArray[np.generic]], setting: Setting, plugins: Plugins) -> VerifyResult:
    """Compile for one task after another, run on the twin and compare with the integer graph."""
    request = VerifyRequest(
        model=model,
        target=TARGET,
        arrays=arrays,
        without_units=UNIT_SETS[setting.units],
        precision=setting.precision,
        preset=setting.preset,
        memory=() if setting.l1_bytes is None else (("l1", setting.l1_bytes),),
        execution="sequential",  # what units side by side gain has a benchmark of its own
    )
    return verify_model(request, plugins)


def about_runs(command: str, settings: Iterable[Setting]) -> str:
    """The line above a table of runs with these settings."""
    used = list(settings)
    presets, precisions = ([setting.preset for setting in used], [setting.precision for setting in used])
    return about(command, dict.fromkeys(presets), dict.fromkeys(precisions))


def told(text: str) -> None:
    """One line of progress."""
    sys.stderr.write(f"{text}\n")


def parser(description: str | None, parts: Mapping[str, Sequence[int | str]] | None = None) -> argparse.ArgumentParser:
    """The options of all benchmarks: ``--update``, and for preset, precision and every other of ``parts`` one that may
    be repeated and chooses some of the values."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--update", action="store_true", help="put the tables into the pages; takes no other option")
    for name, values in {"preset": PRESETS, "precision": PRECISIONS, **(parts or {})}.items():
        made.add_argument(
            f"--{name}", type=type(values[0]), choices=values, action="append", help="may be repeated; default: all"
        )
    return made


def parse(
    description: str | None, arguments: Sequence[str], parts: Mapping[str, Sequence[int | str]]
) -> argparse.Namespace:
    """The options of a benchmark, all values where none was given. Ends the program where stored networks are needed
    but absent."""
    made = parser(description, parts)
    options = made.parse_args(arguments)
    if options.update and len(arguments) > 1:
        made.error("--update takes no other option")
    if "network" in parts and not MODELS.is_dir():
        made.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    for name, values in {"preset": PRESETS, "precision": PRECISIONS, **parts}.items():
        setattr(options, name, tuple(getattr(options, name) or values))
    return options
