"""What docs/ita.md says of the passes holds: their names in running order, their bounds, the presets."""

from __future__ import annotations

import re

from match_core.plugin.facade import Plugins
from match_ita.constants import values
from match_ita.passes import gelu_choice, linear, linear_relu, linear_scale, split
from match_ita.passes.attention_numbers import ERROR_MAX
from match_ita.presets import DEFAULT_PRESET, PRESETS

from tests.all_passes import target_passes
from tests.docs.pages import DOCS, text_of

PAGE = DOCS / "ita.md"


def _bounds() -> dict[str, str]:
    """The last column of the table of passes, by pass."""
    table = text_of(PAGE).split("<!-- ita passes -->\n")[1].split("<!-- end -->")[0]
    return dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", table, flags=re.MULTILINE))


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+) LSB", text)]


def test_the_passes_are_named_in_running_order(plugins: Plugins) -> None:
    assert list(_bounds()) == [item.name for item in target_passes(plugins, "ita")]


def test_bounds_are_those_of_the_passes(plugins: Plugins) -> None:
    shown = {name: _numbers(text) for name, text in _bounds().items()}
    assert shown["ita_attention"] == [ERROR_MAX]
    assert shown["ita_gelu"] == [gelu_choice.DIFFERENCE_MAX, gelu_choice.RMS_MAX]
    assert shown["ita_relu"] == [linear_relu.DIFFERENCE_MAX]
    assert shown["ita_split"] == [split.RMS_MAX]
    assert shown["ita_linear"] == [linear.DIFFERENCE_MAX, linear_scale.RMS_MAX]
    exact = [item.name for item in target_passes(plugins, "ita") if item.exact]
    assert [name for name, text in _bounds().items() if text == "exact"] == exact


def test_presets_are_described() -> None:
    text = text_of(PAGE)
    for name in PRESETS:
        figures = values(name)
        default = " (default)" if name == DEFAULT_PRESET else ""
        softmax = f"shift {figures['softmax_shift']}, numerator {figures['softmax_numerator'] // 256} * 256"
        assert f"| `{name}`{default} | {softmax} | {figures['contexts']} |" in text


def test_the_parts_of_l1_are_those_of_the_target() -> None:
    figures = values()
    ita, data = figures["l1_ita_bytes"], figures["l1_data_bytes"]
    assert f"ITA has {ita:,} bytes" in text_of(PAGE)
    assert f"have the other {data - ita:,} bytes" in text_of(PAGE)
