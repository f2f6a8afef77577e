"""From a board file to a Soc: what is taken over, what is renamed, and every refusal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from match_core import Form, MemoryPart, TransferCycles, TransferShape
from match_core.board.target import target_soc
from match_core.contract.errors import MatchError, PluginError, UsageError
from match_core.contract.unit_api import PlatformApi, TwinApi, UnitApi
from match_core.plugin.discovery import Found
from match_core.plugin.renamed import renamed_api, renamed_cost
from match_host.cost import HostCostModel

from core.tests.board.boards import BOARD, chip, composed, package, plugins


def test_units_work_in_the_boards_memories() -> None:
    board = composed()
    assert [(unit.name, unit.memory, unit.private) for unit in board.units[1:]] == [
        ("red_core", "l1_red", (("constant", "l1_red"),)),
        ("blue_core", "l1_blue", (("constant", "l1_blue"),)),
    ]
    assert board.packages == {"host": {}, "red_core": {"l1_red": "l1"}, "blue_core": {"l1_blue": "l1"}}


def test_memories_and_links_are_taken_over_with_what_the_board_changes() -> None:
    soc = composed().soc
    assert [(memory.name, memory.size_bytes) for memory in soc.memories] == [
        ("l2", 65536),
        ("l1_red", 4096),
        ("l1_blue", 4096),
    ]
    red, blue = soc.links
    assert (red.name, red.near, red.far, red.setup_cycles) == ("red_dma", "l1_red", "l2", 0)
    assert (blue.name, blue.near, blue.far, blue.setup_cycles) == ("blue_dma", "l1_blue", "l2", 7)
    assert (soc.host_machine, soc.presets, soc.preset) == ("scalar", ("slow", "fast"), "")
    assert soc.clock_hz is not None
    assert soc.signalling is None


def test_what_the_packages_say_of_their_chips_is_repeated() -> None:
    notes = composed().soc.notes
    assert {"red: red was never built", "blue: blue was never built"} <= set(notes)
    assert "Link blue_dma: the board's designer" in notes
    slow = package("blue", chip("blue", clock_hz=None), units=("blue_core",))
    red = package("red", chip("red"), units=("red_core",))
    assert not any("counted in one clock" in note for note in composed(BOARD, red, slow).soc.notes)


def test_a_chip_of_one_memory_needs_no_links() -> None:
    units, memories = BOARD.partition("[[units]]")[0], '[[memories]]\nname = "l2"\nfrom = "red"\n'
    board = composed(f'{units}[[units]]\nname = "host"\n\n{memories}')
    assert board.soc.links == () and [memory.name for memory in board.soc.memories] == ["l2"]


def test_a_unit_of_no_chip_reads_constants_where_the_store_is_mapped() -> None:
    """The chip that the store comes from tells that it is mapped; the file tells the processor, if no chip does."""
    chips = package("red", chip("red", mapped=True, store="l3", processor="red-1"), units=("red_core",))
    head = BOARD.partition("[[units]]")[0].replace('home = "l2"', 'home = "l2"\nstore = "l3"')
    text = (
        f'{head}[[units]]\nname = "host"\n[[memories]]\nname = "l2"\nfrom = "red"\n[[memories]]\nname = "l3"\nfrom = "'
    )
    link = '[[links]]\nname = "far"\nfrom = "red"\n'
    soc = composed(f'{text}red"\n{link}', chips).soc
    assert (soc.mapped, soc.processor) == (True, "")
    named = f'{text}red"\n{link}'.replace("[soc]", '[soc]\nprocessor = "cortex-m85"')
    assert composed(named, chips).soc.processor == "cortex-m85"
    plain = package("red", chip("red", store="l3"), units=("red_core",))
    assert not composed(f'{text}red"\n{link}', plain).soc.mapped


def test_memories_and_links_of_the_boards_own() -> None:
    own = BOARD.replace('from = "blue.l1"', 'level = 1\nsize_bytes = 2048\nsource = "drawn"')
    own = own.replace('from = "blue.dma"', 'near = "l1_blue"\nfar = "l2"\nbytes_per_cycle = 4')
    own = own.replace('package = "match-blue"', 'memories = { l1 = "l1_blue" }')
    board = composed(own)
    memory, link = board.soc.memory("l1_blue"), board.soc.links[1]
    assert (memory.size_bytes, memory.source) == (2048, "drawn")
    assert (link.bytes_per_cycle, link.setup_cycles) == (4, 7)
    assert board.packages["blue_core"] == {"l1_blue": "l1"}


CHANGES = {
    "unknown unit": ("blue_core", "blue_cor", "MATCH-U061"),
    "another package": ('"match-blue"', '"match-green"', "MATCH-U061"),
    "a Soc without the unit": ('soc = "blue"', 'soc = "red"', "MATCH-U061"),
    "an unknown Soc": ('soc = "blue"', 'soc = "green"', "MATCH-U061"),
    "a unit twice": ('name = "blue_core"', 'name = "red_core"', "MATCH-U061"),
    "no host": ('name = "host"', 'name = "red_core"', "MATCH-U061"),
    "another host": ('home = "l2"', 'home = "l2"\nhost = "fc"', "MATCH-U061"),
    "unknown home": ('home = "l2"', 'home = "l9"', "MATCH-U062"),
    "unknown store": ('home = "l2"', 'home = "l2"\nstore = "l3"', "MATCH-U062"),
    "a memory of an unknown Soc": ('"blue.l1"', '"green.l1"', "MATCH-U062"),
    "an unknown memory": ('"blue.l1"', '"blue.l0"', "MATCH-U062"),
    "a memory twice": ('name = "l1_blue"', 'name = "l1_red"', "MATCH-U062"),
    "a memory without size": ('from = "blue.l1"', "level = 1", "MATCH-U062"),
    "a memory without source": ('from = "blue.l1"', "level = 1\nsize_bytes = 64", "MATCH-U062"),
    "a changed memory without source": ('from = "blue.l1"', 'from = "blue.l1"\nsize_bytes = 64', "MATCH-U062"),
    "an alignment that is none": (
        'from = "blue.l1"',
        'from = "blue.l1"\nalignment_bytes = 3\nsource = "s"',
        "MATCH-U062",
    ),
    "a larger local memory": ('from = "blue.l1"', 'from = "blue.l1"\nsize_bytes = 9999\nsource = "s"', "MATCH-U062"),
    "an unknown link": ('"blue.dma"', '"blue.dmb"', "MATCH-U062"),
    "a link without source": ('source = "the board\'s designer"', "", "MATCH-U062"),
    "a link that ends nowhere": ('from = "blue.dma"', 'from = "blue.dma"\nfar = "l7"', "MATCH-U062"),
    "a link without ends": ('from = "blue.dma"', "bytes_per_cycle = 3", "MATCH-U062"),
    "a name of no memory": ('package = "match-blue"', 'memories = { l0 = "l2" }', "MATCH-U062"),
    "no link home": ('from = "blue.dma"', 'from = "blue.dma"\nfar = "l1_red"', "MATCH-U063"),
    "a name that is a target": ('name = "pair"', 'name = "red"', "MATCH-U064"),
    "a clock of nobody": ('clock = { from = "red" }', 'clock = { from = "green" }', "MATCH-U064"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_cannot_be(change: str) -> None:
    before, after, code = CHANGES[change]
    assert before in BOARD
    with pytest.raises(UsageError) as caught:
        composed(BOARD.replace(before, after))
    assert caught.value.code == code
    assert caught.value.help


def test_a_store_that_a_unit_cannot_reach() -> None:
    text = BOARD.replace('home = "l2"', 'home = "l2"\nstore = "l3"') + '[[memories]]\nname = "l3"\nfrom = "red"\n'
    with pytest.raises(UsageError) as caught:
        composed(text)
    assert (caught.value.code, "blue_core" in caught.value.why) == ("MATCH-U063", True)


def test_a_unit_without_its_memory() -> None:
    text = BOARD.replace('"blue.l1"', '"blue.l3"').replace('"blue.dma"', '"blue.dma"\nnear = "l1_red"')
    with pytest.raises(UsageError) as caught:
        composed(text)
    assert caught.value.code == "MATCH-U063"
    assert caught.value.why == "it uses 'l1'; the board has l2, l1_red, l1_blue"


def test_a_unit_name_of_two_packages() -> None:
    red = package("red", chip("red"), units=("red_core", "blue_core"))
    blue = package("blue", chip("blue"), units=("blue_core",))
    with pytest.raises(PluginError) as caught:
        composed(BOARD, red, blue)
    assert caught.value.code == "MATCH-H007"


def test_a_board_is_a_target_by_its_file_and_then_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(BOARD, encoding="utf-8")
    known = plugins()
    with pytest.raises(MatchError):
        known.soc("pair")
    assert target_soc(known, str(path)) == known.soc("pair") == composed().soc
    assert known.units_of(known.soc("pair"))[2].memory == "l1_blue"
    assert known.board_of(known.soc("red")) is None


SIGNALS = """
[soc.signalling]
post_cycles = 5
wake_cycles = 4
notify_cycles = 3
task_cycles = 2
source = "guessed"
estimate = true
"""


def _beside(text: str = BOARD) -> str:
    return text.replace("[[units]]", SIGNALS + "\n[[units]]", 1)


def test_units_of_a_board_may_run_side_by_side() -> None:
    signalling = composed(_beside()).soc.signalling
    assert signalling is not None
    assert (signalling.kind, signalling.post_cycles, signalling.session_cycles) == ("poll", 5, 0)
    assert "Signals between units (an estimate): guessed" in composed(_beside()).soc.notes


def _two(parts: tuple[MemoryPart, ...]) -> Found:
    """A package of two units that share a memory."""
    soc = replace(chip("blue", parts=parts), units=("host", "blue_core", "other"))
    return package("blue", soc, units=("blue_core", "other"))


RED = package("red", chip("red"), units=("red_core",))
OTHER = BOARD + '[[units]]\nname = "other"\nsoc = "blue"\n'


def test_parts_of_a_shared_memory_are_taken_over() -> None:
    parts = (MemoryPart("blue_core", "l1", 0, 1024), MemoryPart("other", "l1", 1024, 3072))
    board = composed(_beside(OTHER), RED, _two(parts))
    assert [(part.unit, part.memory, part.offset_bytes) for part in board.soc.parts] == [
        ("blue_core", "l1_blue", 0),
        ("other", "l1_blue", 1024),
    ]


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (MemoryPart("blue_core", "l1", 0, 1024),),
        (MemoryPart("blue_core", "l1", 0, 1024), MemoryPart("other", "l1", 512, 1024)),
        (MemoryPart("blue_core", "l1", 0, 1024), MemoryPart("other", "l1", 1024, 9999)),
    ],
)
def test_units_side_by_side_need_parts_that_lie_apart(parts: tuple[MemoryPart, ...]) -> None:
    composed(OTHER, RED, _two(parts))  # one after another they may share it
    with pytest.raises(UsageError) as caught:
        composed(_beside(OTHER), RED, _two(parts))
    assert caught.value.code == "MATCH-U063"


def test_stored_forms_and_units_side_by_side_exclude_each_other() -> None:
    blue = package("blue", chip("blue", forms=(Form("bricks", 2),)), units=("blue_core",))
    assert [form.name for form in composed(BOARD, RED, blue).soc.forms] == ["bricks"]
    with pytest.raises(UsageError) as caught:
        composed(_beside(), RED, blue)
    assert caught.value.code == "MATCH-U064"


class _Named(HostCostModel):
    """Tells the memories that it is asked about."""

    def transfer_cycles(self, workload: object, transfer: TransferShape) -> TransferCycles:
        raise LookupError(transfer.near, transfer.far)


def test_packages_are_asked_in_their_own_names() -> None:
    one = np.ones(1, np.int64)
    model = renamed_cost(_Named(), {"l1_blue": "l1"})
    with pytest.raises(LookupError) as caught:
        model.transfer_cycles(None, TransferShape("in", one, one, one, far="l2", near="l1_blue"))  # type: ignore[arg-type] # not looked at
    assert caught.value.args == ("l1", "l2")
    api = UnitApi(PlatformApi(), None, {}, twin=TwinApi(arenas={"l1": "place({bytes})", "l3": "far({bytes})"}))
    assert dict(renamed_api(api, {"l1_blue": "l1"}).twin.arenas) == {
        "l1_blue": "place({bytes})",
        "l3": "far({bytes})",
    }
