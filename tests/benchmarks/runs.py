"""One run of a benchmark: a model on the twin with a preset, a precision, some units and some memory sizes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.plugin.host import Plugins
from match_core.transforms.base import Precision
from match_core.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import NDArray

from tests.benchmarks.tables import ROOT

MODELS = ROOT.parent / "shared" / "models"
NETWORKS = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
TARGET, HOST = "gap9", "host"
PRESETS = ("engine", "as-published")
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
    """Compile, run on the twin and compare with the integer graph."""
    request = VerifyRequest(
        model=model,
        target=TARGET,
        arrays=arrays,
        without_units=UNIT_SETS[setting.units],
        precision=setting.precision,
        preset=setting.preset,
        memory=() if setting.l1_bytes is None else (("l1", setting.l1_bytes),),
    )
    return verify_model(request, plugins)


def about(command: str, settings: Iterable[Setting]) -> str:
    """The line above a table: preset, precision and the command that prints it."""
    used = list(settings)
    presets = " and ".join(dict.fromkeys(setting.preset for setting in used))
    precisions = " and ".join(dict.fromkeys(setting.precision for setting in used))
    return f"*preset {presets}, precision {precisions}, `python -m {command}`*"


def told(text: str) -> None:
    """One line of progress."""
    sys.stderr.write(f"{text}\n")


def parse(
    description: str | None, arguments: Sequence[str], parts: Mapping[str, Sequence[int | str]]
) -> argparse.Namespace:
    """Options of a benchmark: ``--update``, and for preset, precision and every other of ``parts`` an option that may
    be repeated and stands for all values if it is not given. Ends the program where stored networks are needed but
    absent."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--update", action="store_true", help="put the tables into the pages; takes no other option")
    parts = {"preset": PRESETS, "precision": PRECISIONS, **parts}
    for name, values in parts.items():
        made.add_argument(
            f"--{name}", type=type(values[0]), choices=values, action="append", help="may be repeated; default: all"
        )
    options = made.parse_args(arguments)
    if options.update and len(arguments) > 1:
        made.error("--update takes no other option")
    if "network" in parts and not MODELS.is_dir():
        made.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    for name, values in parts.items():
        setattr(options, name, tuple(getattr(options, name) or values))
    return options
