"""Images as samples: layout, range and size of what a network reads, or a coded error."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import numpy as np
import pytest
from match_core.contract.errors import MatchError
from match_core.io.arrays import TensorSpec
from match_report import npz
from match_verify import images
from match_verify.images import PLAIN, Normalisation, layout_of, normalisation, read_images
from numpy.typing import NDArray

pillow = pytest.importorskip("PIL.Image")

RNG = np.random.default_rng(7)
PIXELS = RNG.integers(0, 256, (2, 4, 6, 3), np.uint8)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Two images of 4 x 6 pixels (height x width)."""
    found = [tmp_path / "a.png", tmp_path / "b.bmp"]
    for path, pixels in zip(found, PIXELS, strict=True):
        pillow.fromarray(pixels).save(path)
    return found


def _spec(*shape: int, dtype: str = "float32") -> TensorSpec:
    return TensorSpec("x", shape, dtype)


def _refusal(paths: list[Path], spec: TensorSpec, numbers: Normalisation = PLAIN) -> MatchError:
    with pytest.raises(MatchError) as caught:
        read_images(paths, spec, numbers, str)
    assert caught.value.why and caught.value.help
    return caught.value


def test_values_are_those_of_torchvision(paths: list[Path]) -> None:
    notes: list[str] = []
    found = read_images(paths, _spec(1, 3, 4, 6), Normalisation(MEAN, STD), notes.append)
    wanted = (PIXELS.transpose(0, 3, 1, 2) / 255 - np.reshape(MEAN, (3, 1, 1))) / np.reshape(STD, (3, 1, 1))
    assert found.shape == (2, 1, 3, 4, 6)
    assert found.dtype == np.float32
    assert found[:, 0].tolist() == wanted.astype(np.float32).tolist()
    (note,) = notes
    assert "RGB of 4 x 6 pixels" in note and "NCHW" in note and "mean 0.485,0.456,0.406" in note


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((1, 4, 6, 3), PIXELS[:, None]),
        ((3, 4, 6), PIXELS.transpose(0, 3, 1, 2)),
        ((4, 6, 3), PIXELS),
        ((2, 4, 6, 3), PIXELS[None]),
    ],
)
def test_layouts_and_batches(paths: list[Path], shape: tuple[int, ...], wanted: NDArray[np.uint8]) -> None:
    assert read_images(paths, _spec(*shape, dtype="uint8"), PLAIN, str).tolist() == wanted.tolist()
    floats = read_images(paths, _spec(*shape), PLAIN, str)
    assert np.array_equal(floats, (wanted / 255).astype(np.float32))


def test_pixels_as_they_are_with_a_scale(paths: list[Path]) -> None:
    """What the page says of networks that read 0 to 255."""
    found = read_images(paths, _spec(1, 4, 6, 3), normalisation("0", "0.00392156862745098"), str)
    assert np.allclose(found[:, 0], PIXELS, rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1, 4, 6), (1, 4, 6, 1), (4, 6)])
def test_grey_scale(paths: list[Path], shape: tuple[int, ...]) -> None:
    found = read_images(paths, _spec(*shape, dtype="uint8"), PLAIN, str)
    grey = np.stack([np.asarray(pillow.open(path).convert("L")) for path in paths])
    assert found.shape == (2, *shape)
    assert found.reshape(grey.shape).tolist() == grey.tolist()


def test_other_kinds_of_images(tmp_path: Path) -> None:
    """A palette, transparency and one bit become RGB; the size is that of the input."""
    source = pillow.fromarray(PIXELS[0])
    for mode in ("P", "RGBA", "1", "L"):
        source.convert(mode).resize((12, 10)).save(tmp_path / f"{mode}.png")
    notes: list[str] = []
    found = read_images(sorted(tmp_path.iterdir()), _spec(1, 3, 4, 6), PLAIN, notes.append)
    assert found.shape == (4, 1, 3, 4, 6)
    assert float(found.min()) >= 0 and float(found.max()) <= 1
    assert "4 resized" in notes[0]


def test_the_first_of_two_possible_layouts() -> None:
    first, second, none = layout_of((1, 3, 8, 3)), layout_of((1, 8, 8, 3)), layout_of((1, 8, 8, 4))
    assert first is not None and (first.order, first.height, first.width) == ("NCHW", 8, 3)
    assert second is not None and (second.order, second.height, second.width) == ("NHWC", 8, 8)
    assert none is None
    assert layout_of((1, 640)) is not None  # one row of pixels
    assert layout_of((640,)) is None


@pytest.mark.parametrize(
    ("spec", "numbers", "why"),
    [
        (_spec(1, 8, 8, 4), PLAIN, "none of NCHW"),
        (_spec(1, 3, 4, 6, dtype="int64"), PLAIN, "int64"),
        (_spec(1, 3, 4, 6, dtype="uint8"), Normalisation((0.5,)), "as they are"),
        (_spec(1, 3, 4, 6), Normalisation((0.5, 0.5)), "2 numbers"),
        (_spec(1, 1, 4, 6), Normalisation((), STD), "3 numbers"),
    ],
)
def test_inputs_that_take_no_images(paths: list[Path], spec: TensorSpec, numbers: Normalisation, why: str) -> None:
    error = _refusal(paths, spec, numbers)
    assert error.code == "MATCH-U048"
    assert why in error.why


@pytest.mark.parametrize(("mean", "std"), [("a", None), ("", None), ("nan", None), ("0.5,", None), (None, "0.5,0,1")])
def test_numbers_that_are_none(mean: str | None, std: str | None) -> None:
    with pytest.raises(MatchError) as caught:
        normalisation(mean, std)
    assert caught.value.code == "MATCH-U048"


def test_batches_that_are_not_full(paths: list[Path]) -> None:
    error = _refusal([*paths, paths[0]], _spec(2, 3, 4, 6))
    assert (error.code, error.help) == ("MATCH-U046", ("fix the batch at 1: --dim batch=1",))


def test_more_images_than_there_is_room_for(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MOST_BYTES", 500)
    error = _refusal(paths, _spec(1, 3, 4, 6))
    assert error.code == "MATCH-U046" and "576 bytes" in error.why


def _png(width: int, height: int, data: bytes) -> bytes:
    """An RGB image of 8 bits that states these sizes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((8, 2, 0, 0, 0))
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def _deep() -> bytes:
    file = io.BytesIO()
    pillow.fromarray(np.full((4, 6), 40_000, np.uint16)).save(file, "PNG")
    return file.getvalue()


HOSTILE = {
    "nothing": b"",
    "text": b"no image",
    "a program": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 6\n",
    "cut off": _png(4, 6, bytes(19 * 3))[:60],
    "a header alone": _png(4, 6, b"")[:33],
    "a bomb": _png(20_000, 20_000, bytes(1000)),
    "a bomb that pillow refuses": _png(1 << 30, 1 << 30, bytes(1000)),
    "no pixels": _png(0, 0, b""),
    "16 bits": _deep(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_from_strangers(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(HOSTILE[name])
    error = _refusal([path], _spec(1, 3, 4, 6))
    assert (error.code, error.where) == ("MATCH-U047", str(path))


def test_any_changed_byte(tmp_path: Path, paths: list[Path]) -> None:
    """Pixels, or a coded error."""
    draw, whole = np.random.default_rng(5), paths[0].read_bytes()
    for _ in range(60):
        content = bytearray(whole)
        content[draw.integers(len(content))] = draw.integers(256)
        (tmp_path / "x.png").write_bytes(content)
        try:
            assert read_images([tmp_path / "x.png"], _spec(1, 3, 4, 6), PLAIN, str).shape == (1, 1, 3, 4, 6)
        except MatchError as error:
            assert error.code == "MATCH-U047"


def test_the_limit_is_below_that_of_pillow() -> None:
    assert images.MOST_PIXELS < pillow.MAX_IMAGE_PIXELS
