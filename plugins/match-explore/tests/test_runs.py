"""Studies that run their programs on the twin: accuracy from labels, programs that are kept, and what is shown."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from base64 import b64decode
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from match_core.plugin.facade import Plugins
from match_explore.document import read_study
from match_explore.engine.choice import ClusterChoice
from match_explore.live import Live
from match_explore.results.write import write_results
from match_explore.run import explore_study

from tests.end_to_end.models import QdqBuilder

SAMPLES, RIGHT = 8, 6
TEXT = """
[study]
models = ["classes.onnx"]
targets = ["gap9"]
evaluate = "twin"
inputs = "{stem}.npz"
labels = "{stem}.npy"
objectives = ["accuracy", "cycles"]
[options]
execution = "sequential"
[constraints]
accuracy = 0.7
"""


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Of a network whose labels are ONNX Runtime's classes for six of eight samples."""
    path = tmp_path / "classes.onnx"
    QdqBuilder(5, 8, 8, 8).conv(16, 3, 2).conv(10, 4, pad=0, relu=False).save(path)
    session = onnxruntime.InferenceSession(path)
    (taken,) = session.get_inputs()
    samples = np.random.default_rng(7).integers(-128, 128, (SAMPLES, *taken.shape[1:])).astype(np.int8)
    scores = np.concatenate([session.run(None, {taken.name: sample[None]})[0] for sample in samples])
    classes = scores.reshape(SAMPLES, -1).argmax(axis=1)
    classes[RIGHT:] = (classes[RIGHT:] + 1) % 10
    np.savez(tmp_path / "classes.npz", **{taken.name: samples})
    np.save(tmp_path / "classes.npy", classes)
    (tmp_path / "study.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "study.toml"


@pytest.mark.usefixtures("cache")
def test_programs_run_and_are_kept(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    live = Live(read_study(study), lambda _: None, quiet=False)
    kept = tmp_path / "kept"
    with live.shown():
        found = explore_study(read_study(study), Plugins.load(), ClusterChoice(workers=1), live, keep=kept)
        shown = live.counts()
    assert [(row["why"], row["bit_exact"]) for row in found.rows] == [("", True)]
    assert {row["accuracy"] for row in found.rows} == {RIGHT / SAMPLES}
    assert all(row["twin_cycles"] == pytest.approx(row["cycles"], rel=0.02) for row in found.rows)
    assert shown.startswith("1 of 1 points, 0 failed")
    assert "classes gap9" in sys.stderr.getvalue() and "0.75" in sys.stderr.getvalue()  # type: ignore[attr-defined]
    write_results(found, tmp_path / "out", kept)
    assert (kept / "point-0" / "match.lock.json").is_file()
    data = re.search(r'id="data"[^>]*>([^<]+)<', (tmp_path / "out" / "study.html").read_text("utf-8"))
    assert data is not None
    reports = json.loads(gzip.decompress(b64decode(data[1])))["reports"]
    assert {number: (tmp_path / "out" / path).is_file() for number, path in reports.items()} == {"0": True}
