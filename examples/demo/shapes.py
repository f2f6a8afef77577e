"""Procedural 32x32 RGB pictures of ten classes of shapes, the data set of the demo model.

A seed fixes a data set. Random are position, size, rotation, the colours, a background gradient, a
distracting line across the picture and the noise. Numpy only.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Images: TypeAlias = NDArray[np.uint8]
"""Pictures as (count, 3, 32, 32), channel order RGB."""
Labels: TypeAlias = NDArray[np.int64]

CLASSES = (
    "disc", "ring", "square", "triangle", "hexagon", "cross", "star", "crescent", "stripes", "checkerboard",
)  # fmt: skip

SIDE_PX = 32
SUPERSAMPLING = 3  # samples per pixel and axis: smooth edges carry the outline's sub-pixel position
COLOUR_LEVELS = 16  # per channel: keeps the committed test pictures small after compression

RADIUS_PX = (5.0, 12.0)
MIN_CONTRAST = 0.20  # smallest distance between the two colours, as a share of the RGB cube's edge
GRADIENT = 0.15  # largest change of the background from one side of the picture to the other
NOISE_SIGMA = (0.03, 0.16)
LINE_PROBABILITY = 0.5


def make_dataset(count: int, seed: int) -> tuple[Images, Labels]:
    """Draw `count` pictures, the classes in turn: (count, 3, 32, 32) and class indices (count,)."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count, dtype=np.int64) % len(CLASSES)
    images = np.stack([draw(CLASSES[label], rng) for label in labels])
    return images, labels


def draw(name: str, rng: np.random.Generator) -> Images:
    """Draw one picture of class `name` as (3, 32, 32)."""
    x, y = _sample_grid()
    radius = rng.uniform(*RADIUS_PX)
    # At least three quarters of the radius stay inside the picture on every side.
    margin = 0.75 * radius
    centre_x, centre_y = rng.uniform(margin, SIDE_PX - margin, size=2)
    angle = rng.uniform(0.0, 2.0 * np.pi)
    u = ((x - centre_x) * np.cos(angle) + (y - centre_y) * np.sin(angle)) / radius
    v = ((y - centre_y) * np.cos(angle) - (x - centre_x) * np.sin(angle)) / radius
    shape_coverage = _to_pixels(_inside(name, u, v))

    background_colour, shape_colour, line_colour = _colours(rng)
    slope_x, slope_y = rng.uniform(-GRADIENT, GRADIENT, size=2)
    ramp = (_to_pixels(x) / SIDE_PX - 0.5) * slope_x + (_to_pixels(y) / SIDE_PX - 0.5) * slope_y
    picture = background_colour[:, None, None] + ramp[None]
    picture = _blend(picture, _line_coverage(rng, x, y), line_colour)
    picture = _blend(picture, shape_coverage, shape_colour)
    picture = picture + rng.normal(0.0, rng.uniform(*NOISE_SIGMA), size=picture.shape)
    level = np.clip(np.rint(picture * (COLOUR_LEVELS - 1)), 0, COLOUR_LEVELS - 1)
    return np.rint(level * (255.0 / (COLOUR_LEVELS - 1))).astype(np.uint8)


def _inside(name: str, u: FloatArray, v: FloatArray) -> Mask:
    """Which samples belong to the shape; `u`, `v` are coordinates in which the shape has about radius 1."""
    r: FloatArray = np.hypot(u, v)
    inside: Mask
    match name:
        case "disc":
            inside = r < 0.95
        case "ring":
            inside = (r < 1.0) & (r > 0.55)
        case "square":
            inside = np.maximum(np.abs(u), np.abs(v)) < 0.84
        case "triangle":
            inside = _polygon(u, v, corners=3, circumradius=1.2)
        case "hexagon":
            inside = _polygon(u, v, corners=6, circumradius=1.05)
        case "cross":
            inside = (np.minimum(np.abs(u), np.abs(v)) < 0.3) & (np.maximum(np.abs(u), np.abs(v)) < 1.0)
        case "star":
            inside = _star(u, v, tips=5, tip_radius=1.15, notch_radius=0.5)
        case "crescent":
            inside = (r < 1.0) & (np.hypot(u - 0.5, v) > 0.8)
        case "stripes":
            inside = (r < 1.1) & (np.mod(u, 0.7) < 0.35)
        case "checkerboard":
            inside = (r < 1.1) & ((np.mod(u, 0.9) < 0.45) ^ (np.mod(v, 0.9) < 0.45))
        case _:
            raise ValueError(f"no shape is named {name!r}; there are {', '.join(CLASSES)}")
    return inside


def _polygon(u: FloatArray, v: FloatArray, corners: int, circumradius: float) -> Mask:
    """Regular polygon: seen from its own sector, a point is inside if it is nearer than the sector's edge."""
    sector = 2 * np.pi / corners
    angle = np.mod(np.arctan2(v, u), sector) - sector / 2
    inside: Mask = np.hypot(u, v) * np.cos(angle) < circumradius * np.cos(sector / 2)
    return inside


def _star(u: FloatArray, v: FloatArray, tips: int, tip_radius: float, notch_radius: float) -> Mask:
    """Star: folded into half a sector, the outline is one straight line from a notch to a tip."""
    half_sector = np.pi / tips
    angle = np.abs(np.mod(np.arctan2(v, u), 2 * half_sector) - half_sector)  # 0 at a notch, half_sector at a tip
    x, y = np.hypot(u, v) * np.cos(angle), np.hypot(u, v) * np.sin(angle)
    tip_x, tip_y = tip_radius * np.cos(half_sector), tip_radius * np.sin(half_sector)
    inside: Mask = (x - notch_radius) * tip_y - y * (tip_x - notch_radius) < 0.0
    return inside


def _colours(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Three RGB colours in [0, 1]; the second differs from the first by at least MIN_CONTRAST."""
    background = rng.uniform(0.0, 1.0, size=3)
    shape = rng.uniform(0.0, 1.0, size=3)
    while np.linalg.norm(shape - background) < MIN_CONTRAST:
        shape = rng.uniform(0.0, 1.0, size=3)
    return background, shape, rng.uniform(0.0, 1.0, size=3)


def _line_coverage(rng: np.random.Generator, x: FloatArray, y: FloatArray) -> FloatArray:
    """A straight line behind the shape, one to two pixels wide, absent in half of the pictures."""
    angle = rng.uniform(0.0, np.pi)
    through_x, through_y = rng.uniform(4.0, SIDE_PX - 4.0, size=2)
    half_width_px = rng.uniform(0.5, 1.0)
    distance = np.abs((x - through_x) * np.sin(angle) - (y - through_y) * np.cos(angle))
    drawn = rng.uniform() < LINE_PROBABILITY
    return _to_pixels((distance < half_width_px) & drawn)


def _blend(picture: FloatArray, coverage: FloatArray, colour: FloatArray) -> FloatArray:
    return picture * (1.0 - coverage)[None] + colour[:, None, None] * coverage[None]


def _sample_grid() -> tuple[FloatArray, FloatArray]:
    """Centres of all samples in pixel units, each (32 * SUPERSAMPLING, 32 * SUPERSAMPLING)."""
    position = (np.arange(SIDE_PX * SUPERSAMPLING) + 0.5) / SUPERSAMPLING
    x, y = np.meshgrid(position, position)
    return x, y


def _to_pixels(samples: Mask | FloatArray) -> FloatArray:
    """Average the samples of each pixel: (96, 96) -> (32, 32)."""
    blocks = samples.astype(np.float64).reshape(SIDE_PX, SUPERSAMPLING, SIDE_PX, SUPERSAMPLING)
    pixels: FloatArray = blocks.mean(axis=(1, 3))
    return pixels
