"""Twins of several packages in one program: headers and clocks of each, and what cannot be together."""

from __future__ import annotations

import pytest
from match_core.emit.api import PlatformApi, RuntimeFile, TwinApi, UnitApi
from match_core.errors import PluginError
from match_core.twin.merge import merge


def api(package: str, clocks: tuple[str, ...], header: str = "one", runtime: str = "") -> UnitApi:
    headers = (RuntimeFile("sdk.h", header), RuntimeFile(f"{package}.h", package))
    twin = TwinApi(headers, (RuntimeFile(f"{package}_twin.c", package),), clocks, {f"l1_{package}": "x"})
    shipped = (RuntimeFile(f"{package}_run.c", "code"),) if not runtime else (RuntimeFile("run.c", runtime),)
    return UnitApi(PlatformApi(), None, {}, runtime=shipped, twin=twin)


HOST = UnitApi(PlatformApi(), None, {})


def test_units_of_one_package_share_their_twin() -> None:
    merged = merge({"host": HOST, "a": api("red", ("host", "core")), "b": api("red", ("host", "core", "dma"))}, "net")
    assert merged.twin.clocks == ("host", "core", "dma")
    assert [file.name for file in merged.twin.headers] == ["red.h", "sdk.h"]
    assert (merged.own, merged.readers) == ({}, {})


def test_each_package_sees_its_own_sdk_and_its_own_clocks() -> None:
    red, blue = api("red", ("host", "core", "dma"), "red's"), api("blue", ("host", "dma", "array"), "blue's")
    merged = merge({"host": HOST, "a": red, "b": blue}, "net")
    assert merged.twin.clocks == ("host", "core", "a_dma", "b_dma", "array")
    assert [file.name for file in merged.twin.headers] == ["blue.h", "red.h"]
    assert {unit: {file.name: file.text for file in files}["sdk.h"] for unit, files in merged.own.items()} == {
        "a": "red's",
        "b": "blue's",
    }
    numbers = {file.name: file.text for file in merged.own["b"]}["match_twin_clocks.h"]
    defined = [line for line in numbers.splitlines() if line.startswith("#define")]
    assert defined == [f"#define MATCH_TWIN_CLOCK_{name}" for name in ("HOST 0u", "DMA 3u", "ARRAY 4u")]
    assert merged.readers["blue_run.c"] == merged.readers["blue_twin.c"] == merged.readers["net_b.c"] == "b"
    assert merged.readers["net_a.c"] == "a"


def test_c_files_of_one_name_with_different_text_are_refused() -> None:
    red = api("red", ("host",))
    other = UnitApi(PlatformApi(), None, {}, twin=TwinApi(sources=(RuntimeFile("red_twin.c", "other"),)))
    with pytest.raises(PluginError) as caught:
        merge({"a": red, "b": other}, "net")
    assert (caught.value.code, caught.value.where) == ("MATCH-H007", "C file red_twin.c")
