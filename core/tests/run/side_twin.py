"""The program of side_program.py on the twin: units, copies and swaps of twin_unit.c."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from match_core.contract.unit_api import RuntimeFile, TwinApi, UnitApi
from match_core.emit.manifest import NAME

from core.tests.emit import side_program

HERE = Path(__file__).resolve().parent
CLOCKS = ("host", "array", "other", "dma", "link")
STORE_HEADER = """#include <stdint.h>
uint32_t fake_load_store(const uint8_t *data, uint32_t bytes);
"""


def twin_apis() -> dict[str, UnitApi]:
    """The units of the program with their twin instead of their own C."""
    twin = TwinApi(
        headers=(RuntimeFile("twin_store.h", STORE_HEADER),),
        sources=(RuntimeFile("twin_unit.c", (HERE / "twin_unit.c").read_text(encoding="utf-8")),),
        clocks=CLOCKS,
        load_store="fake_load_store({data}, {bytes})",
    )
    apis = side_program.apis(side_program.chain()[0])
    return {name: replace(api, twin=twin) if name == side_program.UNITS[0] else api for name, api in apis.items()}


def write_program(folder: Path) -> dict[str, Any]:
    """The files of the program without its fake units; the manifest."""
    folder.mkdir()
    for file in side_program.emit("side"):
        if file.name not in ("fake_unit.c", "fake_queues.c"):
            (folder / file.name).parent.mkdir(exist_ok=True)
            (folder / file.name).write_bytes(file.content)
    document: dict[str, Any] = json.loads((folder / NAME).read_text(encoding="utf-8"))
    return document
