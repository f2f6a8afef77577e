"""What docs/diana.md says holds: passes in running order, stored forms, limits, formulas, figures."""

from __future__ import annotations

import re

import pytest
from match_core.plugin.facade import Plugins
from match_diana.analog import fit as analog_fit
from match_diana.analog import limits as analog_limits
from match_diana.analog.limits import Window
from match_diana.constants import constants, values
from match_diana.digital import limits as digital_limits
from match_diana.forms import FORMS
from match_diana.passes.analog_estimate import analog_cycles, conversion_cycles, digital_cycles
from match_quant.powers import scales
from match_quant.powers.shift import _TOLERANCE

from tests.all_passes import target_passes
from tests.conftest import ROOT
from tests.docs.pages import DOCS, text_of

PAGE = DOCS / "diana.md"
PACKAGE = ROOT / "plugins" / "match-diana" / "src" / "match_diana"
#: Axes of an image and of a vector, as the table of forms names them.
AXES = {4: "NCHW", 2: "NC"}


def _table(marker: str) -> str:
    return text_of(PAGE).split(f"<!-- {marker} -->\n")[1].split("<!-- end -->")[0]


def _says(sentence: str) -> None:
    """The page has the sentence, wherever its lines are broken."""
    assert sentence in " ".join(text_of(PAGE).split()), sentence


def test_the_passes_are_named_in_running_order(plugins: Plugins) -> None:
    named = re.findall(r"^\| `(\w+)` \|", _table("diana passes"), flags=re.MULTILINE)
    assert named == [item.name for item in target_passes(plugins, "diana")]


def test_exact_passes_say_so(plugins: Plugins) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", _table("diana passes"), flags=re.MULTILINE))
    exact = {item.name for item in target_passes(plugins, "diana") if item.exact}
    assert {name for name, text in rows.items() if text == "the same"} == exact


def test_the_passes_that_cannot_be_left_out_are_named(plugins: Plugins) -> None:
    fixed = [item.name for item in target_passes(plugins, "diana") if not item.optional]
    _says(f"All but {' and '.join(f'`{name}`' for name in fixed)} can be left out")


def test_the_forms_are_those_of_the_target(plugins: Plugins) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (.*?) \|", _table("diana forms"), flags=re.MULTILINE)
    shown = {name: (shape, padding) for name, shape, padding in rows}
    assert list(shown) == [form.name for form in FORMS] == [form.name for form in plugins.soc("diana").forms]
    for form in FORMS:
        shape, padding = shown[form.name]
        axes = AXES[form.rank]
        assert padding == ", ".join(f"{axes[axis]} to {multiple}" for axis, multiple in form.pad)
        split = "" if form.split is None else str(form.split[1])
        assert re.findall(r"\d+", shape) == ([split, split] if split else [])
        assert form.reversed_group == 4


def test_memories_are_those_of_the_target(plugins: Plugins) -> None:
    shown = dict(re.findall(r"^\| `(\w+)` \| (\d+) KiB \|", text_of(PAGE), flags=re.MULTILINE))
    assert {name: int(size) * 1024 for name, size in shown.items()} == {
        memory.name: memory.size_bytes for memory in plugins.soc("diana").memories
    }


def test_limits_of_the_digital_array() -> None:
    _says(f"| kernel sides | {', '.join(map(str, digital_limits.KERNEL_SIDES))}, also mixed |")
    _says(f"| stride, dilation | {' or '.join(map(str, digital_limits.STRIDES))}, the same both ways; 1 |")
    _says(f"shift 0 to {digital_limits.SHIFT_MAX}, one for a layer")
    figures = values()
    _says(f"kernels with sides beyond {max(digital_limits.KERNEL_SIDES)}")
    _says(f"C * FY * FX + {figures['row_load_cycles']} * C * FY + {figures['tile_overhead_cycles']}")
    _says(f"C + {figures['row_load_cycles']} * C + {figures['tile_overhead_cycles']}")
    _says(f"elements: {1 + figures['row_load_cycles'] + figures['tile_overhead_cycles']} weights")
    _says(f"{figures['dma_chunk_cycles']} + bytes / {figures['dma_bytes_per_cycle']}, at every call")
    _says(f"{figures['dma_chunk_cycles']} cycles for each contiguous piece and a cycle for each")
    _says(
        f"{figures['encode_cycles']} to encode the instruction, {figures['register_cycles']} for each of 11 register "
        f"accesses (sums 9), {figures['job_load_cycles']} until it is loaded"
    )


def test_limits_of_the_analog_array() -> None:
    limits, figures = analog_limits, values()
    _says(f"x = clip(x, {limits.INPUT_MIN}, {limits.INPUT_MAX})")
    _says(f"clip(floor(acc[g] / gain), {limits.SUM_MIN}, {limits.SUM_MAX})")
    _says(f"/ 2^shift), {limits.OUTPUT_MIN}, {limits.OUTPUT_MAX})")
    _says(f"{limits.ROWS} rows for inputs and {limits.COLUMNS} columns for outputs")
    _says(f"at most {limits.CHANNELS_MAX} input channels (DORY's limit), in multiples of {limits.CHANNEL_BLOCK}")
    _says(f"Up to {limits.GROUPS_MAX} groups are added")
    most = max(taps for taps in range(1, limits.ROWS) if limits.group_channels(taps))
    _says(f"groups have {limits.group_channels(9)} channels; a kernel has at most {most} taps")
    _says(f"{analog_fit._SAMPLES} sums for each output channel")
    _says(f"must be at most {analog_fit.ERROR_MAX:g} steps of 7 bits")
    _says(f"{figures['analog_row_load_cycles']} for each row (C * FY * FX)")
    _says(f"{figures['analog_activation_tenth_cycles'] / 10} for each group of pixels")
    host = 11 * figures["register_cycles"]
    _says(f"{figures['encode_cycles']} + {host} + {figures['job_load_cycles']} for the host and the instruction")


def test_numbers_of_the_passes() -> None:
    kinds = (scales.CENTRAL, scales.RECTIFIED, scales.WHOLE)
    low, high = min(kind.low for kind in kinds), max(kind.high for kind in kinds)
    _says(f"by {100 * (low - 1):+.0f} % to {100 * (high - 1):+.0f} %")
    _says(f"2^{_TOLERANCE.hex().split('p')[1]} of one power of two")
    one = (1, 1, 16, 64)
    least, most = (conversion_cycles(one, columns_stay=stay) / 1024 for stay in (True, False))
    _says(f"{least:g} to {most:g} modelled cycles for a byte")


def test_the_comparison_of_the_arrays() -> None:
    layer = Window(c=64, k=64, fy=3, fx=3, stride=1, iy=16, ix=16, oy=16, ox=16)
    digital, analog = digital_cycles(layer, 1), analog_cycles(layer)
    assert round(digital / analog) == 7
    _says("A layer 3x3 of 64 by 64 channels takes a seventh of the digital array's cycles on 16x16 pixels")
    ratio = conversion_cycles((1, 64, 16, 16), columns_stay=False) / (digital - analog)
    _says(f"takes {ratio:.1f} times what that saves")


def test_the_figures_are_those_of_the_package(request: pytest.FixtureRequest) -> None:
    """The table of figures is current; ``--update-golden`` rewrites it."""
    lines = ["| figure | value | unit | source |", "|---|--:|---|---|"]
    for item in constants():
        estimate = "estimate: " if item.estimate else ""
        lines.append(f"| `{item.name}` | {int(item.value):,} | {item.unit} | {estimate}{item.source} |")
    wanted = "\n".join(lines) + "\n"
    if request.config.getoption("--update-golden"):
        before, rest = text_of(PAGE).split("<!-- diana figures -->\n")
        after = rest.split("<!-- end -->", 1)[1]
        PAGE.write_text(f"{before}<!-- diana figures -->\n{wanted}<!-- end -->{after}", encoding="utf-8")
        return
    assert _table("diana figures") == wanted


def test_the_published_names_that_programs_use_are_listed() -> None:
    """Those of the headers that the twin has in the place of the published ones; accesses to registers are one name."""
    runtime = "".join(path.read_text(encoding="utf-8") for path in sorted((PACKAGE / "runtime").glob("*.c")))
    runtime = re.sub(r"/\*.*?\*/", "", runtime, flags=re.DOTALL)
    headers = ("kernels.h", "utils.h", "encoders_instruction_memory.h", "dory.h", "hwme_digital.h", "hwme_analog.h")
    known = {
        name
        for header in headers
        for name in re.findall(r"(\w+)(?:\(|\[)", (PACKAGE / "twin" / "include" / header).read_text(encoding="utf-8"))
    }
    used = {name for name in re.findall(r"\w+", runtime) if name in known and not name.startswith("hwme_")}
    section = text_of(DOCS / "deploy-diana.md").split("\n## What a program uses\n")[1].split("\n\nThe inner parts")[0]
    assert set(re.findall(r"`(\w+)`", section)) == used - {"padding"}
