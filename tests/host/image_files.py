"""Writers of image files for tests: BMP, PNM, PNG and TIFF, without a library for images."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]


def bmp(image: Image, down: bool = False) -> bytes:
    """24 bits; ``down``: rows from the top."""
    height, width, _ = image.shape
    rows = image[:, :, ::-1] if down else image[::-1, :, ::-1]
    content = b"".join(row.tobytes() + bytes(-3 * width % 4) for row in rows)
    header = struct.pack("<IiiHHIIiiII", 40, width, -height if down else height, 1, 24, 0, len(content), 0, 0, 0, 0)
    return struct.pack("<2sIII", b"BM", 54 + len(content), 0, 54) + header + content


def pnm(image: Image, text: bool = False) -> bytes:
    """P6 or, as text, P3; a comment in the header."""
    height, width, _ = image.shape
    head = f"P{3 if text else 6}\n# made by a test\n{width} {height}\n255\n".encode()
    return head + (" ".join(map(str, image.reshape(-1))).encode() if text else image.tobytes())


def png(image: Image, level: int = 9, chunk: int = 1 << 30) -> bytes:
    """Rows with all five filters in turn; the data in chunks of this size."""
    height, width, channels = image.shape
    step, rows = channels, [np.zeros(width * channels, np.int64), *image.reshape(height, -1).astype(np.int64)]
    content = b""
    for y, (above, row) in enumerate(pairwise(rows)):
        a, c = (np.concatenate([np.zeros(step, np.int64), line[:-step]]) for line in (row, above))
        p = a + above - c
        pa, pb, pc = abs(p - a), abs(p - above), abs(p - c)
        guess = (0, a, above, (a + above) // 2, np.where((pa <= pb) & (pa <= pc), a, np.where(pb <= pc, above, c)))
        content += bytes([y % 5]) + ((row - guess[y % 5]) & 255).astype(np.uint8).tobytes()
    packed = zlib.compress(content, level)
    parts = [packed[at : at + chunk] for at in range(0, len(packed), chunk)]
    colour = {1: 0, 3: 2, 4: 6}[channels]
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)), *((b"IDAT", p) for p in parts)]
    body = b"".join(
        struct.pack(">I", len(p)) + k + p + struct.pack(">I", zlib.crc32(k + p)) for k, p in (*chunks, (b"IEND", b""))
    )
    return b"\x89PNG\r\n\x1a\n" + body


def tiff(image: Image, compression: int = 1, big: bool = False, rows: int = 5) -> bytes:
    """RGB or grey, in strips of so many rows; compression 1 (none), 8 (Deflate) or 32773 (PackBits)."""
    height, width, channels = image.shape
    order = ">" if big else "<"
    strips = [_packed(image[y : y + rows].tobytes(), compression) for y in range(0, height, rows)]
    starts = np.cumsum([8, *map(len, strips)])
    tables = int(starts[-1])
    bits = struct.pack(f"{order}{channels}H", *[8] * channels)
    places = struct.pack(f"{order}{len(strips)}I", *map(int, starts[:-1]))
    sizes = struct.pack(f"{order}{len(strips)}I", *map(len, strips))
    extra = tables, tables + len(bits), tables + len(bits) + len(places)
    entries = [
        (256, 4, 1, width),
        (257, 4, 1, height),
        (258, 3, channels, extra[0] if channels > 2 else 8),
        (259, 3, 1, compression),
        (262, 3, 1, 2 if channels == 3 else 1),
        (273, 4, len(strips), extra[1] if len(strips) > 1 else int(starts[0])),
        (277, 3, 1, channels),
        (278, 4, 1, rows),
        (279, 4, len(strips), extra[2] if len(strips) > 1 else len(strips[0])),
    ]
    folder = struct.pack(f"{order}H", len(entries))
    for tag, kind, count, value in entries:
        word = struct.pack(f"{order}HH", value, 0) if kind == 3 and count == 1 else struct.pack(f"{order}I", value)
        folder += struct.pack(f"{order}HHI", tag, kind, count) + word
    content = b"".join(strips) + bits + places + sizes
    head = struct.pack(f"{order}2sHI", b"MM" if big else b"II", 42, 8 + len(content))
    return head + content + folder + bytes(4)


def _packed(content: bytes, compression: int) -> bytes:
    if compression == 8:
        return zlib.compress(content)
    if compression == 1:
        return content
    packed = b""
    for at in range(0, len(content), 100):  # literal runs, and a repeated byte where a run of it is whole
        part = content[at : at + 100]
        packed += (
            bytes([257 - len(part), part[0]]) if len(set(part)) == 1 < len(part) else bytes([len(part) - 1]) + part
        )
    return packed
