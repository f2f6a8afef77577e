"""Compiles the networks of the gallery and writes their reports to build/gallery; run by ``make docs``.

    python docs/make_gallery.py [NAME ...]

The site shows the reports that are there (docs/site_hooks.py).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import match_python
import onnx

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "gallery"
sys.path[:0] = [str(ROOT)]


@dataclass(frozen=True)
class Entry:
    """A network on a target: ``make`` gives the model, ``options`` are those of match_python.compile."""

    title: str
    target: str
    make: Callable[[], onnx.ModelProto]
    options: match_python.Options


def _shapes() -> onnx.ModelProto:
    return onnx.load(str(ROOT / "examples" / "demo" / "resnet8_shapes.onnx"))


def _small() -> onnx.ModelProto:
    from tests.float_models import exported_network, images

    return match_python.quantize(exported_network(), {"image": images(16)}, dim={"batch": 1}).model


def _encoder() -> onnx.ModelProto:
    from tests.docs.encoder import ENCODER
    from tests.end_to_end.qdq_encoders import save

    with tempfile.TemporaryDirectory() as folder:
        save(ENCODER, Path(folder) / "encoder.onnx")
        return onnx.load(str(Path(folder) / "encoder.onnx"))


ENTRIES = {
    "small-gap9": Entry("A small quantised network on GAP9", "gap9", _small, {"sequential": True}),
    "resnet8-gap9": Entry("The demo's ResNet8 on GAP9", "gap9", _shapes, {"sequential": True}),
    "resnet8-cluster": Entry("The same without NE16", "gap9", _shapes, {"sequential": True, "without_unit": "ne16"}),
    "encoder-ita": Entry("A one-layer encoder on ITA", "ita", _encoder, {"quantized_io": True}),
}


def make(name: str, folder: Path = FOLDER) -> Path:
    """Write the report of an entry; returns the path of its page."""
    entry = ENTRIES[name]
    program = match_python.compile(entry.make(), entry.target, **entry.options)
    return program.report(folder / name, twin=True)


def page_lines(folder: Path = FOLDER) -> list[str]:
    """Rows of the gallery for the reports that are there."""
    found = [name for name in ENTRIES if (folder / name / "report.html").is_file()]
    rows = [f"| [{ENTRIES[name].title}](gallery/{name}/report.html) | `{ENTRIES[name].target}` |" for name in found]
    return ["| report | target |", "|---|---|", *rows] if rows else ["`make docs` writes the reports."]


if __name__ == "__main__":
    for chosen in sys.argv[1:] or ENTRIES:
        sys.stdout.write(f"{make(chosen).relative_to(ROOT)}\n")
