"""``match_image_*.h``: decoders of image files in portable C."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from match_core.contract.unit_api import RuntimeFile

#: The header that reads any kind of file, and those that it includes.
IMAGE_HEADERS = (
    "match_image_file.h",
    *(f"match_image{part}.h" for part in ("", "_jp2", "_jpeg", "_packed", "_vp8_tables", "_webp")),
)


@lru_cache(maxsize=1)
def image_headers() -> tuple[RuntimeFile, ...]:
    """The headers as files that ship with a program."""
    folder = Path(__file__).parent
    return tuple(RuntimeFile(name, (folder / name).read_text(encoding="utf-8")) for name in IMAGE_HEADERS)


def image_work(height: int, width: int) -> int:
    """Bytes of working memory for an image of this size: of the kind of file that needs most."""
    across, down = -(-width // 16), -(-height // 16)
    jpeg = 3 * (32 * -(-width // 32)) * (32 * -(-height // 32))
    png = (8 * width + 1) * height
    blocks = (width // 8 + 2) * (height // 8 + 2)
    jp2 = 12 * height * width + 4 * (height + width) + 8192 + (3 * 12 + 4 * 16) * blocks + 512
    webp = (16 * across + 1) * (16 * down + 1) + 2 * (8 * across + 1) * (8 * down + 1)
    webp += 1056 + 13 * across + across * down
    return max(jpeg, png, jp2, webp)
