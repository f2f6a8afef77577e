"""Twins of several packages in one program: headers and clocks of each, and what cannot be together."""

from __future__ import annotations

import pytest
from match_core.contract.errors import PluginError
from match_core.contract.unit_api import PlatformApi, RuntimeFile, TwinApi, UnitApi
from match_core.run.merge import merge


def api(
    package: str, clocks: tuple[str, ...], header: str = "one", runtime: str = "", defines: tuple[str, ...] = ()
) -> UnitApi:
    headers = (RuntimeFile("sdk.h", header), RuntimeFile(f"{package}.h", package))
    sources = (RuntimeFile(f"{package}_twin.c", package),)
    twin = TwinApi(headers, sources, clocks, {f"l1_{package}": "x"}, defines=defines)
    shipped = (RuntimeFile(f"{package}_run.c", "code"),) if not runtime else (RuntimeFile("run.c", runtime),)
    return UnitApi(PlatformApi(), None, {}, runtime=shipped, twin=twin)


HOST = UnitApi(PlatformApi(), None, {})


def test_units_of_one_package_share_their_twin() -> None:
    merged = merge({"host": HOST, "a": api("red", ("host", "core")), "b": api("red", ("host", "core", "dma"))}, "net")
    assert merged.twin.clocks == ("host", "core", "dma")
    assert [file.name for file in merged.twin.headers] == ["match_twin_clocks.h", "red.h", "sdk.h"]
    numbers = merged.twin.headers[0].text.splitlines()[1:]
    assert numbers == [f"#define MATCH_TWIN_CLOCK_{name}" for name in ("HOST 0u", "CORE 1u", "DMA 2u")]
    assert (merged.own, merged.readers) == ({}, {})


def test_each_package_sees_its_own_sdk_and_its_own_clocks() -> None:
    red, blue = api("red", ("host", "core", "dma"), "red's"), api("blue", ("host", "dma", "array"), "blue's")
    merged = merge({"host": HOST, "a": red, "b": blue}, "net")
    assert merged.twin.clocks == ("host", "core", "a_dma", "b_dma", "array")
    assert [file.name for file in merged.twin.headers] == ["blue.h", "red.h"]
    assert {unit: {file.name: file.text for file in own.headers}["sdk.h"] for unit, own in merged.own.items()} == {
        "a": "red's",
        "b": "blue's",
    }
    numbers = {file.name: file.text for file in merged.own["b"].headers}["match_twin_clocks.h"]
    defined = [line for line in numbers.splitlines() if line.startswith("#define")]
    assert defined == [f"#define MATCH_TWIN_CLOCK_{name}" for name in ("HOST 0u", "DMA 3u", "ARRAY 4u")]
    assert merged.readers["blue_run.c"] == merged.readers["blue_twin.c"] == merged.readers["net_b.c"] == "b"
    assert merged.readers["net_a.c"] == "a"


def test_macros_of_one_package_do_not_reach_the_sources_of_another() -> None:
    """Files of nobody see those that mean the same everywhere."""
    red = api("red", ("host",), defines=("SIDE=8u", "RED=1u"))
    blue = api("blue", ("host",), defines=("SIDE=16u", "BLUE=1u"))
    merged = merge({"host": HOST, "a": red, "b": blue}, "net")
    assert {unit: own.defines for unit, own in merged.own.items()} == {
        "a": ("SIDE=8u", "RED=1u"),
        "b": ("SIDE=16u", "BLUE=1u"),
    }
    assert merged.twin.defines == ("RED=1u", "BLUE=1u")
    assert merge({"host": HOST, "a": red}, "net").twin.defines == ("SIDE=8u", "RED=1u")


def test_c_files_of_one_name_with_different_text_are_refused() -> None:
    red = api("red", ("host",))
    other = UnitApi(PlatformApi(), None, {}, twin=TwinApi(sources=(RuntimeFile("red_twin.c", "other"),)))
    with pytest.raises(PluginError) as caught:
        merge({"a": red, "b": other}, "net")
    assert (caught.value.code, caught.value.where) == ("MATCH-H007", "C file red_twin.c")
