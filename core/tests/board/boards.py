"""Two packages of one unit each, and a board that joins them."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

from match_core import Constant, Hardware, Link, Memory, Soc, Unit, hookimpl
from match_core.board.document import parse_board
from match_core.board.target import add_board
from match_core.contract.board import Board
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins

from tests.base_packages import base_plugins

#: Both packages call their memories l1 and l2; one has a store.
BOARD = """
[soc]
name = "pair"
description = "two chips in one"
home = "l2"
clock = { from = "red" }

[[units]]
name = "host"

[[units]]
name = "red_core"
soc = "red"
package = "match-red"

[[units]]
name = "blue_core"
soc = "blue"
package = "match-blue"

[[memories]]
name = "l2"
from = "red"

[[memories]]
name = "l1_red"
from = "red.l1"

[[memories]]
name = "l1_blue"
from = "blue.l1"

[[links]]
name = "red_dma"
from = "red.dma"

[[links]]
name = "blue_dma"
from = "blue.dma"
setup_cycles = 7
source = "the board's designer"
"""


def chip(name: str, **fields: Any) -> Soc:
    """A Soc of the core's host and one unit."""
    given: dict[str, Any] = {
        "memories": (Memory("l1", 1, 4096), Memory("l2", 2, 65536), Memory("l3", 3, 1 << 20)),
        "links": (Link("dma", "l1", "l2", 8.0), Link("far", "l2", "l3", 1.0)),
        "notes": (f"{name} was never built",),
        "clock_hz": Constant("clock_hz", 1e8, "Hz", "made up"),
        **fields,
    }
    return Soc(name, f"the chip {name}", "host", ("host", f"{name}_core"), home="l2", **given)


def package(name: str, *socs: Soc, units: tuple[str, ...] = ()) -> Found:
    """A package that defines Socs and units with a memory l1."""

    def match_hardware() -> Hardware:
        return Hardware(tuple(Unit(unit, "a unit", "l1", private=(("constant", "l1"),)) for unit in units), socs)

    module: ModuleType | SimpleNamespace = SimpleNamespace(match_contract=1, match_hardware=hookimpl(match_hardware))
    return Found(name, f"match-{name}", "1.0", lambda: module)


def plugins(*found: Found) -> Plugins:
    """The two packages, or others."""
    red = package("red", chip("red", store="l3", presets=("slow", "fast"), preset="slow"), units=("red_core",))
    blue = package("blue", chip("blue", host_machine="scalar"), units=("blue_core",))
    return base_plugins(*(found or (red, blue)))


def composed(text: str = BOARD, *found: Found) -> Board:
    """The board of a text."""
    return add_board(plugins(*found), parse_board(text, "pair.toml"))
