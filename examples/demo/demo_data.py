"""The demo's test pictures and labels as the compiler takes them. Numpy only.

    python examples/demo/demo_data.py inputs.npz

writes an input file for `match run` and `match verify`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

INPUT_NAME = "image"
OUTPUT_NAME = "probabilities"
TEST_IMAGES = Path(__file__).with_name("test_images.npz")


def preprocess(images_u8: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(p - 128) / 128: [0, 255] -> [-1, 1), exact in float32.

    The model's first QuantizeLinear (scale 1/128, zero point 0) gives the int8 value p - 128, unrounded.
    """
    scaled: NDArray[np.float32] = (images_u8.astype(np.float32) - np.float32(128.0)) / np.float32(128.0)
    return scaled


def load_demo_inputs(path: Path = TEST_IMAGES) -> dict[str, NDArray[np.float32]]:
    """Graph input name -> (samples, 1, 3, 32, 32) float32; element `[i]` is what sample `i` feeds.

    Raises OSError if the file cannot be read and KeyError if it holds no `images_u8`.
    """
    with np.load(path, allow_pickle=False) as archive:
        return {INPUT_NAME: preprocess(archive["images_u8"])[:, np.newaxis]}


def load_demo_labels(path: Path = TEST_IMAGES) -> NDArray[np.int64]:
    """Class index per sample, (samples,) int64; `classes.json` lists the names in index order."""
    with np.load(path, allow_pickle=False) as archive:
        labels: NDArray[np.int64] = archive["labels"].astype(np.int64)
    return labels


def top1_accuracy(probabilities: NDArray[np.generic], labels: NDArray[np.int64]) -> float:
    """Share of samples whose largest output is the label, in [0, 1].

    `probabilities` is (samples, ..., classes) with any axes of size 1 between, float or still int8. Of equal
    largest outputs the first counts.
    """
    scores = probabilities.reshape(labels.size, -1)
    return float(np.mean(np.argmax(scores, axis=1) == labels))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python demo_data.py OUTPUT.npz")
    np.savez(sys.argv[1], **load_demo_inputs())  # type: ignore[arg-type]  # no key is `allow_pickle`
