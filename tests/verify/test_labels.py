"""Labels: what they are by type and shape, the shares and errors that result, and what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from match_core.cli.terminal import Terminal
from match_core.contract.errors import MatchError
from match_core.contract.quantisation import Quantisation
from match_verify.labels import LabelCheck, check_labels, read_labels
from match_verify.layers import LayerNoise
from match_verify.meaning import Meaning
from match_verify.verbs.labels import show_labels

from tests.envelope import opened

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Run = Callable[..., "subprocess.CompletedProcess[str]"]

RNG = np.random.default_rng(2)
#: Scores of three samples whose largest are the classes 4, 0 and 7; class 7 is fifth, seventh and first.
SCORES = np.array(
    [[5, 3, 4, 0, 9, 1, 2, 3, 0, 0], [9, 8, 7, 6, 5, 4, 0, 3, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0]], np.float32
)
ANY = Meaning()


def _check(labels: object, original: object, got: object | None = None, meaning: Meaning = ANY) -> LabelCheck:
    before = np.asarray(original)
    after = before if got is None else np.asarray(got)
    (found,) = check_labels({"y": np.asarray(labels)}, {"y": before}, {"y": after}, {"y": meaning})
    return found


def _why(labels: object, original: object) -> str:
    with pytest.raises(MatchError) as caught:
        _check(labels, original)
    assert (caught.value.code, caught.value.where) == ("MATCH-U053", "output 'y', option --labels")
    assert caught.value.help
    return caught.value.why


@pytest.mark.parametrize("shape", [(3, 10), (3, 1, 10), (1, 3, 10), (3, 1, 10, 1, 1), (3, 1, 1, 1, 10)])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_classes(shape: tuple[int, ...], dtype: type) -> None:
    """With any axes of size 1, and with samples on the batch axis."""
    found = _check(np.array([4, 7, 7], dtype), SCORES.reshape(shape), SCORES[[1, 1, 2]].reshape(shape))
    assert (found.kind, found.count) == ("classes", 3)
    assert found.original.top1 == pytest.approx(2 / 3)
    assert found.original.top5 == pytest.approx(2 / 3)
    assert found.program.top1 == pytest.approx(1 / 3)
    assert found.program.top5 == pytest.approx(2 / 3)
    assert found.same == pytest.approx(2 / 3)
    assert found.original.mean_abs is None


def test_of_equal_scores_the_first_counts() -> None:
    scores = np.array([[1, 2, 2, 0, 2, 0, 0]])
    assert [_check([label], scores).original.top1 for label in (1, 2, 4)] == [1, 0, 0]
    assert [_check([label], scores).original.top5 for label in (0, 3, 5)] == [1, 1, 0]


def test_no_top5_of_few_classes() -> None:
    assert _check([1], np.array([[0, 1, 2, 3, 4]])).original.top5 is None
    assert _check([1], np.array([[0, 1, 2, 3, 4, 5]])).original.top5 == 1


@pytest.mark.parametrize("channels_last", [False, True])
def test_positions(channels_last: bool) -> None:
    scores = RNG.standard_normal((2, 1, 4, 3, 5))
    labels = scores.argmax(axis=2)[:, 0]
    labels[0, 0, 0] = (labels[0, 0, 0] + 1) % 4
    found = _check(labels, np.moveaxis(scores, 2, -1) if channels_last else scores)
    assert (found.kind, found.count) == ("positions", 30)
    assert found.original.top1 == pytest.approx(29 / 30)


def test_an_output_that_is_the_label() -> None:
    found = _check([3, 4, 5, 6], np.array([[3], [4], [5], [0]]), np.array([[3], [4], [0], [0]]))
    assert (found.kind, found.original.top1, found.program.top1, found.same) == ("labels", 0.75, 0.5, 0.75)


def test_values() -> None:
    wanted = RNG.standard_normal((4, 6)).astype(np.float32)
    found = _check(wanted, wanted[:, None] + 0.5, wanted[:, None] - 2)
    assert (found.kind, found.count, found.same) == ("values", 24, None)
    assert found.original.mean_abs == pytest.approx(0.5)
    assert (found.program.mean_abs, found.program.rms) == (pytest.approx(2), pytest.approx(2))


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_one_value_for_each_sample(shape: tuple[int, ...]) -> None:
    """Whole numbers are values too, where there is nothing to choose from."""
    found = _check(np.array([1, 2, 3, 4]).reshape(shape), np.array([[1.5], [2.0], [3.0], [4.0]]))
    assert (found.kind, found.original.mean_abs) == ("values", 0.125)


def test_steps_become_real_values() -> None:
    steps = np.array([[[10, 20]]], np.int8)
    found = _check([[1.0, 3.0]], steps, meaning=Meaning(Quantisation(0.1, 0), 0.1))
    assert found.original.mean_abs == pytest.approx(0.5)


def test_labels_that_do_not_fit() -> None:
    assert "labels: 3, samples of the output: 2" in _why([1, 2, 3], SCORES[:2, None])
    assert "1 of 3 labels are not in 0 to 9, first 10" in _why([1, 10, 3], SCORES)
    assert "first -1" in _why([1, -1, 3], SCORES)
    assert "float64 of shape [3]" in _why([0.1, 0.2, 0.3], SCORES)
    assert "shape [3, 2]" in _why(np.zeros((3, 2), np.int64), SCORES)
    assert "labels: 0," in _why(np.int64(3), SCORES)


def test_files_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "y.npy"
    np.save(path, np.arange(3))
    assert read_labels((str(path),), ("a",), samples=True)["a"].tolist() == [0, 1, 2]
    assert list(read_labels((f"b={path}",), ("a", "b"), samples=True)) == ["b"]
    np.save(tmp_path / "a=y.npy", np.arange(3))
    assert list(read_labels((str(tmp_path / "a=y.npy"),), ("c",), samples=True)) == ["c"]
    np.save(tmp_path / "words.npy", np.array(["cat"]))
    for texts, outputs, samples, why in (
        ((str(path),), ("a", "b"), True, "2 outputs"),
        ((f"c={path}",), ("a", "b"), True, "no output has the name 'c'"),
        ((str(path),), ("a",), False, "random"),
        ((str(tmp_path / "words.npy"),), ("a",), True, "not numbers"),
    ):
        with pytest.raises(MatchError) as caught:
            read_labels(texts, outputs, samples=samples)
        assert caught.value.code == "MATCH-U053" and why in caught.value.why


def test_the_verb_compares_both(tmp_path: Path, match_command: Run) -> None:
    """Images, a dynamic batch and labels: the mean of each colour is its score."""
    pillow = pytest.importorskip("PIL.Image")
    (tmp_path / "images").mkdir()
    for index in range(3):
        pixels = RNG.integers(0, 256, (4, 4, 3), np.uint8)
        pillow.fromarray(pixels).save(tmp_path / "images" / f"{index}.png")
    np.save(tmp_path / "y.npy", np.array([0, 1, 2]))
    model = tmp_path / "net.onnx"
    onnx.save(
        onnx.parser.parse_model(
            """<ir_version: 8, opset_import: ["": 17]> colours (float[batch,3,4,4] x) => (float[batch,3] y)
            { p = GlobalAveragePool (x) y = Flatten (p) }"""
        ),
        str(model),
    )
    options = ("--dim", "batch=1", "--inputs", tmp_path / "images", "--mean=0.5", "--std=0.25")
    done = match_command("verify", model, "-t", "host", *options, "--labels", tmp_path / "y.npy", "--json")
    assert done.returncode == 0, done.stderr
    document = opened(done.stdout)
    labels = document["labels"]["y"]
    assert (labels["kind"], labels["count"], labels["same"]) == ("classes", 3, 1)
    assert labels["original"] == labels["program"]
    assert document["samples"] == 3
    assert document["falls_at"] is None or document["falls_at"]["sqnr_db"] > 60


def _shown(capsys: pytest.CaptureFixture[str], check: LabelCheck, fall: LayerNoise | None) -> str:
    show_labels(Terminal(), [check], fall)
    return capsys.readouterr().out


def test_words_for_classifiers_and_for_others(capsys: pytest.CaptureFixture[str]) -> None:
    classes = _shown(capsys, _check([4, 0, 7], SCORES), None)
    assert "against 3 labels (samples)" in classes
    assert "top-1 %" in classes and "top-5 %" in classes
    assert "both choose the same for 100.0% of the samples" in classes
    assert "no layer of the program differs" in classes
    values = _shown(capsys, _check(SCORES + 1, SCORES), LayerNoise(("conv",), 12.0, None))
    assert "mean absolute error" in values and "root mean square error" in values
    assert "top-1" not in values and "choose" not in values
    assert "they part at conv: 12.0 dB" in values
    positions = _shown(capsys, _check(np.zeros((2, 3), int), np.ones((2, 1, 3, 4))), LayerNoise(("pool",), 50.0, 6.0))
    assert "right class" in positions and "top-1" not in positions
    assert "the largest drop is at pool: 50.0 dB, 6.0 dB below" in positions
