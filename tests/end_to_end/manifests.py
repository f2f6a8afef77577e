"""Digests of emitted programs, comments apart: what a change of the compiler's structure must leave as it is.

``python -m tests.end_to_end.manifests`` writes ``manifests.json`` anew; do so only where programs are meant to change.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

from tests.conftest import ROOT, SHARED_MODELS
from tests.end_to_end.diana_models import readable
from tests.end_to_end.models import QdqBuilder
from tests.end_to_end.qdq_encoders import Encoder, save

STORED = Path(__file__).with_suffix(".json")
#: Documents about a program, not parts of it.
DOCUMENTS = ("match.lock.json", "report.json")
#: Comments of C, and the strings and characters in which they are none.
_COMMENT = re.compile(rb'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*', re.DOTALL)
#: Digest of all C, comments too.
_PROGRAM_DIGEST = re.compile(rb"#define \w+_PROGRAM_SHA256 .*")
_HASH_DIGITS = 16

_TARGETS = ("carfield", "diana", "gap9", "host", "ita")
_NETWORKS = ("autoencoder", "dscnn", "mobilenetv1_025", "resnet8")
#: A case of ../shared/models: (model, target).
SHARED = (
    *((f"mlperf_{network}_int8_qdq", target) for network in _NETWORKS for target in _TARGETS),
    *((f"mlperf_{network}_f32", target) for network in _NETWORKS for target in ("dnnl", "host")),
)


def _tiles(path: Path) -> CompileRequest:
    builder = QdqBuilder(30, 16, 61, 61).conv(48, 3).conv(48, 3, stride=2, group=48).conv(8, 5, stride=3)
    model = builder.conv(3, 1, relu=False).save(path / "golden.onnx")
    return CompileRequest(model, "gap9", precision="fast", execution="sequential", cache=False)


def _streamed(path: Path) -> CompileRequest:
    model = QdqBuilder(31, 32, 9, 9).conv(96, 3).conv(96, 3).conv(24, 1).save(path / "streamed.onnx")
    sizes = (("l2", 100_000),)
    return CompileRequest(model, "gap9", precision="fast", memory=sizes, cache=False, execution="sequential")


def _concurrent(path: Path) -> CompileRequest:
    model = QdqBuilder(32, 16, 24, 24).conv(32, 3).conv(16, 1).save(path / "beside.onnx")
    return CompileRequest(model, "gap9", precision="fast", execution="concurrent", cache=False)


def _attention(path: Path) -> CompileRequest:
    model = save(Encoder(rows=81, width=64, heads=2, seed=33), path / "attention.onnx")
    return CompileRequest(model, "ita", quantized_io=True, execution="sequential", cache=False)


def _forms(path: Path) -> CompileRequest:
    return CompileRequest(readable(path / "diana.onnx"), "diana", memory=(("l1", 24_000),), cache=False)


def _demo(target: str, path: Path) -> CompileRequest:
    return CompileRequest(ROOT / "examples" / "demo" / "resnet8_shapes.onnx", target, cache=False)


#: Cases that need no file of ../shared: name -> request for a model that is made in a folder.
MADE: Mapping[str, Callable[[Path], CompileRequest]] = {
    "golden tiles": _tiles,
    "golden streamed": _streamed,
    "golden concurrent": _concurrent,
    "golden attention": _attention,
    "golden forms": _forms,
    **{f"demo {target}": partial(_demo, target) for target in _TARGETS},
}


def shared_request(model: str, target: str) -> CompileRequest:
    """The request for a model of ../shared/models with the target's defaults."""
    return CompileRequest(SHARED_MODELS / model / "model.onnx", target, cache=False)


def manifest(request: CompileRequest, plugins: Plugins) -> dict[str, str]:
    """File name -> digest of the file without its comments, for all files of the program."""
    sources = compile_model(request, plugins).compilation.sources
    return {file.name: _digest(file.name, file.content) for file in sources.files if file.name not in DOCUMENTS}


def _digest(name: str, content: bytes) -> str:
    if name.endswith((".c", ".h")):
        content = _PROGRAM_DIGEST.sub(b"", content)
        content = _COMMENT.sub(lambda found: b"" if found[0][:1] == b"/" else found[0], content)
        content = b"\n".join(line.rstrip() for line in content.splitlines() if line.strip())
    return hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]


def stored() -> dict[str, dict[str, str]]:
    """The manifests that programs are held against."""
    document: dict[str, dict[str, str]] = json.loads(STORED.read_text(encoding="utf-8"))
    return document


def main() -> None:
    plugins = Plugins.load()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in MADE.items():
            found[name] = manifest(make(Path(folder)), plugins)
    for model, target in SHARED:
        found[f"{model} {target}"] = manifest(shared_request(model, target), plugins)
    STORED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} programs\n")


if __name__ == "__main__":
    main()
