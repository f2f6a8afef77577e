"""ImageDecoder: files of every kind against the pixels they were made from, damaged ones under sanitizers, and whole
programs."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import SANITIZERS, Array, Case
from match_core.run.compiler import SANITIZE, STRICT
from match_host.headers.image import image_headers, image_work
from onnx.backend.test.case.node import _image_decoder_data as standard

from tests.host.image_files import Image, bmp, png, pnm, tiff

#: Reads files from standard input and writes their pixels; each file lies in a block of its own size.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "match_image_file.h"
int main(void)
{
    uint32_t head[4];
    while (fread(head, sizeof head, 1, stdin) == 1) {
        uint8_t *const data = malloc(head[0] > 0 ? head[0] : 1), *const rgb = malloc(3 * head[1] * head[2]);
        uint8_t *const work = malloc(head[3]);
        if (data == NULL || rgb == NULL || work == NULL || fread(data, 1, head[0], stdin) != head[0]) {
            return 1;
        }
        memset(work, 165, head[3]);
        const match_image_t image = {data, head[0], head[1], head[2], rgb, work};
        match_image_decode(&image);
        fwrite(rgb, 3, head[1] * head[2], stdout);
        free(data);
        free(rgb);
        free(work);
    }
    return 0;
}
"""
Decode = Callable[[list[tuple[bytes, int, int]]], list[Image]]


@pytest.fixture(scope="module")
def decode(tmp_path_factory: pytest.TempPathFactory) -> Decode:
    """Pixels of files with the stated heights and widths."""
    folder = tmp_path_factory.mktemp("images")
    for header in image_headers():
        (folder / header.name).write_text(header.text)
    (folder / "main.c").write_text(MAIN)
    subprocess.run(["cc", *STRICT, *SANITIZE, "-O0", "main.c", "-o", "decode"], cwd=folder, check=True)

    def run(files: list[tuple[bytes, int, int]]) -> list[Image]:
        given = b"".join(struct.pack("<4I", len(c), h, w, image_work(h, w)) + c for c, h, w in files)
        done = subprocess.run([folder / "decode"], input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        pixels, found = np.frombuffer(done.stdout, np.uint8), []
        for _, height, width in files:
            found.append(pixels[: 3 * height * width].reshape(height, width, 3))
            pixels = pixels[3 * height * width :]
        return found

    return run


def picture(height: int, width: int, seed: int = 0) -> Image:
    """Areas of one colour and noise."""
    random = np.random.default_rng(seed)
    image = random.integers(0, 256, (height, width, 3)).astype(np.uint8)
    image[: height // 2, : width // 2] = random.integers(0, 256, 3)
    image[-1] = 77
    return image


@pytest.mark.parametrize("size", [(1, 1), (7, 13), (40, 33)])
def test_lossless_files(size: tuple[int, int], decode: Decode) -> None:
    image = picture(*size)
    alpha = np.concatenate([image, image[:, :, :1]], 2)
    files = [
        *(bmp(image, down) for down in (False, True)),
        *(pnm(image, text) for text in (False, True)),
        *(png(image, level, chunk) for level in (0, 1, 9) for chunk in (7, 1 << 20)),
        png(alpha),
        *(tiff(image, compression, big) for compression in (1, 8, 32773) for big in (False, True)),
    ]
    for number, found in enumerate(decode([(content, *size) for content in files])):
        np.testing.assert_array_equal(found, image, err_msg=f"file {number}")
    grey = image[:, :, :1]
    for found in decode([(content, *size) for content in (png(grey), tiff(grey))]):
        np.testing.assert_array_equal(found, np.repeat(grey, 3, 2))


def suite() -> dict[str, standard.ImageDecoderData]:
    """The files that ONNX's tests have, with their pixels in red, green and blue."""
    return {
        name: value
        for name, value in vars(standard).items()
        if name.startswith("image_decoder_decode_") and name.endswith("_rgb")
    }


def test_the_files_of_the_standard(decode: Decode) -> None:
    files = suite()
    assert {name.split("_")[3] for name in files} == {"bmp", "jpeg", "jpeg2k", "png", "pnm", "tiff", "webp"}
    for found, value in zip(decode([(v.data.tobytes(), 32, 32) for v in files.values()]), files.values(), strict=True):
        np.testing.assert_array_equal(found, value.output)


def test_damaged_files(decode: Decode) -> None:
    """No read or write leaves its array, and the decoder ends; a file of another size becomes zeros."""
    random = np.random.default_rng(3)
    contents = [value.data.tobytes() for value in suite().values()]
    contents += [tiff(picture(32, 32), 32773), png(picture(32, 32), chunk=50)]
    damaged = []
    for content in contents:
        for count in (1, 2, 5, 20) * 12:
            changed = np.frombuffer(content, np.uint8).copy()
            reach = min(len(content), 250 if random.random() < 0.6 else len(content))
            changed[random.integers(0, reach, count)] = random.integers(0, 256, count)
            length = random.integers(0, len(content)) if random.random() < 0.3 else len(content)
            damaged.append((changed[:length].tobytes(), 32, 32))
    assert len(decode(damaged)) == len(damaged)
    jp2 = bytearray(next(content for content in contents if content[4:8] == b"jP  "))
    large = 800  # more blocks of 4x4 than there is room for
    for at in (jp2.index(b"ihdr") + 4, jp2.index(b"\xff\x51") + 6, jp2.index(b"\xff\x51") + 22):
        jp2[at : at + 8] = struct.pack(">II", large, large)
    style = jp2.index(b"\xff\x52") + 9
    jp2[style : style + 3] = bytes(3)
    assert not decode([(bytes(jp2), large, large)])[0].any()
    for content in contents:
        (wrong, short) = decode([(content, 32, 31), (content[:20], 32, 32)])
        assert not wrong.any()
        assert not short.any()


def test_programs(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    image = picture(9, 6)
    content = np.frombuffer(png(image), np.uint8)
    grey = (image.astype(np.int64) @ [19595, 38470, 7471] + 32768) >> 16
    wanted = {"RGB": image, "BGR": image[:, :, ::-1], "Grayscale": grey.astype(np.uint8)[:, :, None]}
    nodes = [onnx.helper.make_node("ImageDecoder", ["x"], [order], pixel_format=order) for order in wanted]
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.UINT8, shape)
        for name, shape in (("x", content.shape), *((order, pixels.shape) for order, pixels in wanted.items()))
    ]
    graph = onnx.helper.make_graph(nodes, "files", ends[:1], ends[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
    ((found, broken),) = run_cases([Case(model, [{"x": content}, {"x": np.zeros_like(content)}])], (*SANITIZERS, "-O0"))
    for order, pixels in wanted.items():
        np.testing.assert_array_equal(found[order], pixels)
        assert not broken[order].any()
