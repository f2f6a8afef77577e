"""Images as samples of a network: read with pillow, resized, normalised, in the layout of the input."""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from match_core.contract.errors import MatchError, ToolError, UsageError
from match_core.io.arrays import TensorSpec, element_type
from match_report import npz
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

Array = NDArray[np.generic]

#: Endings of files that are read, and pillow's names of their formats: pictures only, no format that is a program.
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".pgm", ".webp")
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "WEBP")
MOST_PIXELS = 1 << 26  #: of an image as it is stored; an estimate: 64 million, more than cameras make
_MODES = {1: "L", 3: "RGB"}
#: Pillow's modes of 8 bits and less for each channel.
_EIGHT_BITS = ("1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "LAB", "HSV")
_UNREADABLE = (
    *(OSError, ValueError, EOFError, MemoryError, TypeError, LookupError, SyntaxError, ArithmeticError),
    *(RuntimeError, struct.error, zlib.error),
)


@dataclass(frozen=True, slots=True)
class Normalisation:
    """A pixel p of 0 ... 255 becomes (p / 255 - mean) / std, with one value for all channels or one for each; without
    them, p / 255. (``torchvision.transforms.Normalize`` after ``ToTensor`` has the same numbers.)"""

    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()


PLAIN = Normalisation()


@dataclass(frozen=True, slots=True)
class Layout:
    """Where an input of some shape has the sizes of an image. ``order``: of the axes of one image, C, H, W."""

    batch: int
    channels: int
    height: int
    width: int
    order: str

    def __str__(self) -> str:
        kind = "grey-scale" if self.channels == 1 else "RGB"
        return f"{kind} of {self.height} x {self.width} pixels (height x width), axes {self.order}"


def normalisation(mean: str | None, std: str | None) -> Normalisation:
    """From numbers that commas separate. UsageError MATCH-U048."""
    return Normalisation(_numbers("--mean", mean), _numbers("--std", std))


def layout_of(shape: Sequence[int]) -> Layout | None:
    """NCHW, NHWC, CHW, HWC or HW; the first if two are possible, None for other shapes."""
    sizes = tuple(shape)
    if len(sizes) == 2:
        return Layout(1, 1, *sizes, "HW")
    batch, sizes = (sizes[0], sizes[1:]) if len(sizes) == 4 else (1, sizes)
    if len(sizes) != 3:
        return None
    leading = "N" if len(shape) == 4 else ""
    if sizes[0] in _MODES:
        return Layout(batch, *sizes, f"{leading}CHW")
    return Layout(batch, sizes[2], *sizes[:2], f"{leading}HWC") if sizes[2] in _MODES else None


def read_images(
    paths: Sequence[Path], spec: TensorSpec, numbers: Normalisation, note: Callable[[str], object]
) -> Array:
    """[samples, ...] in the type and layout of the input. Images of another size are resized as a whole (bilinear).
    Errors: as for ``read_sample_files``."""
    layout = layout_of(spec.shape)
    if layout is None:
        _unfit(spec, f"its shape {list(spec.shape)} is none of NCHW, NHWC, CHW, HWC or HW with 1 or 3 channels")
    dtype, raw = element_type(spec.dtype), spec.dtype == "uint8"
    if not raw and "float" not in dtype.name:
        _unfit(spec, f"it has the type {spec.dtype}; images become floats or uint8")
    if raw and numbers != PLAIN:
        _unfit(spec, "it has the type uint8 and takes pixels as they are", "omit --mean and --std")
    mean, std = (_per_channel(spec, layout, *pair) for pair in (("mean", numbers.mean), ("std", numbers.std or (1.0,))))
    samples, rest = divmod(len(paths), layout.batch)
    where = str(paths[0].parent)
    if rest:
        why = f"{len(paths)} images do not fill batches of {layout.batch}"
        raise UsageError("MATCH-U046", "the samples cannot be read", where, why, ("fix the batch at 1: --dim batch=1",))
    if (size := samples * math.prod(spec.shape) * dtype.itemsize) > npz.MOST_BYTES:
        why = f"{len(paths)} images as {spec} have {size} bytes, more than {npz.MOST_BYTES}"
        help_ = "give a folder with fewer images: some hundred are enough"
        raise UsageError("MATCH-U046", "the samples cannot be read", where, why, (help_,))
    found, resized = np.empty((len(paths), layout.height, layout.width, layout.channels), dtype), 0
    for index, path in enumerate(paths):
        pixels, changed = _pixels(path, layout)
        resized += changed
        found[index] = pixels if raw else ((pixels.astype(np.float64) / 255 - mean) / std).astype(dtype)
    note(f"input {spec.name!r}: {len(paths)} images as {layout}, {_range(raw, numbers)}; {resized} resized")
    array: Array = found.transpose(0, *_axes(layout)).reshape(samples, *spec.shape)
    return array


def _axes(layout: Layout) -> tuple[int, int, int]:
    return (3, 1, 2) if layout.order.endswith("CHW") else (1, 2, 3)


def _range(raw: bool, numbers: Normalisation) -> str:
    if raw:
        return "pixels of 0 to 255"
    if numbers == PLAIN:
        return "pixels / 255 (see --mean and --std)"
    return f"pixels / 255, mean {_text(numbers.mean or (0.0,))}, std {_text(numbers.std or (1.0,))}"


def _text(numbers: tuple[float, ...]) -> str:
    return ",".join(f"{number:g}" for number in numbers)


def _pixels(path: Path, layout: Layout) -> tuple[NDArray[np.uint8], bool]:
    """[height, width, channels] of an image, and whether it had another size."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise ToolError(
            "MATCH-R006",
            "images cannot be read",
            str(path),
            f"pillow cannot be imported: {error}",
            ('pip install "match-quant[images]"',),
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # MOST_PIXELS is the limit
            image = Image.open(path, formats=_FORMATS)
        with image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError(f"it has {image.width} x {image.height} pixels, more than {MOST_PIXELS} in all")
            return _resized(image, layout), image.size != (layout.width, layout.height)
    except UnidentifiedImageError as error:
        raise _unreadable(path, f"it is damaged, or none of {', '.join(_FORMATS)}") from error
    except Image.DecompressionBombError as error:
        raise _unreadable(path, str(error)) from error
    except _UNREADABLE as error:
        raise _unreadable(path, str(error) or type(error).__name__) from error


def _resized(image: Image, layout: Layout) -> NDArray[np.uint8]:
    from PIL.Image import Resampling

    if image.mode not in _EIGHT_BITS:
        raise ValueError(f"its pixels have more than 8 bits a channel (mode {image.mode})")
    converted = image.convert(_MODES[layout.channels])
    if converted.size != (layout.width, layout.height):
        converted = converted.resize((layout.width, layout.height), Resampling.BILINEAR)
    return np.asarray(converted, np.uint8).reshape(layout.height, layout.width, layout.channels)


def _unreadable(path: Path, why: str) -> MatchError:
    return UsageError(
        code="MATCH-U047",
        what="an image cannot be read",
        where=str(path),
        why=why.strip().splitlines()[0][:300],
        help=("remove the file from the folder, or save it again as a PNG file of 8 bits",),
    )


def _per_channel(spec: TensorSpec, layout: Layout, option: str, numbers: tuple[float, ...]) -> NDArray[np.float64]:
    if len(numbers) not in (0, 1, layout.channels):
        example = ",".join(["0.5"] * layout.channels)
        why = f"--{option} has {len(numbers)} numbers, the input has {layout.channels} channels"
        _unfit(spec, why, f"give one number, or one for each channel: --{option} {example}")
    return np.asarray(numbers or (0.0,), np.float64)


def _numbers(option: str, text: str | None) -> tuple[float, ...]:
    if text is None:
        return ()
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = (math.nan,)
    if not all(map(math.isfinite, found)) or (option == "--std" and min(found) <= 0):
        kind = "positive numbers" if option == "--std" else "numbers"
        raise UsageError(
            code="MATCH-U048",
            what="the images do not fit the input",
            where=f"option {option}",
            why=f"{text!r} is not {kind} with commas between them",
            help=(f"{option} 0.5,0.5,0.5 (in units of 0 to 1, one number for each channel)",),
        )
    return found


def _unfit(spec: TensorSpec, why: str, *help_: str) -> NoReturn:
    advice = help_ or (f"give arrays: an .npy file of shape {['samples', *spec.shape]}".replace("'", ""),)
    raise UsageError("MATCH-U048", "the images do not fit the input", f"input {spec.name!r}", why, advice)
