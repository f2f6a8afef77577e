"""The page in headless Chromium: it opens offline, every control does what it says, names do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.errors.models import HOSTILE
from tests.report.browser import MISSING, Page, has_chromium
from tests.report.documents import MARKUP, large_report, renamed, small_report, write_page

pytestmark = pytest.mark.skipif(not has_chromium(), reason=MISSING)
VIEWS = ("overview", "timeline", "memory", "network", "layers", "refusals")
LOAD_MS = "return performance.timing.loadEventEnd - performance.timing.navigationStart"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(small_report(), tmp_path_factory.mktemp("small") / "report.html")


@pytest.fixture
def page(browser: Page, small: Path) -> Iterator[Page]:
    """The small report, just opened; nothing may be written to the console."""
    browser.open(small)
    yield browser
    assert browser.logged() == []


def span(page: Page, plot: str) -> tuple[int, int]:
    """Cycles in view."""
    return int(page.data(plot, "from")[0]), int(page.data(plot, "to")[0])


def test_it_opens_without_a_network(browser: Page, small: Path) -> None:
    browser.open(small)
    for view in VIEWS:
        browser.click(f"tab-{view}")
    assert browser.requests() == [small.as_uri()]
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    assert browser.logged() == []
    assert browser.driver.title == "small on chip"


def test_a_large_report_opens_in_two_seconds_and_draws_what_is_in_view(browser: Page, tmp_path: Path) -> None:
    browser.open(write_page(large_report(), tmp_path / "report.html"))
    assert browser.run(LOAD_MS) < 2000
    browser.click("tab-timeline")
    assert 0 < len(browser.data("#timeline-plot .mark", "mark")) < 9000, "30,000 spans are drawn together"
    browser.click("tab-network")
    assert 5 < len(browser.data("#network-plot .node", "node")) < 200, "of 2,000 nodes"
    browser.click("network-all")
    assert len(browser.data("#network-plot .node", "node")) == 2002
    assert browser.texts("#network-plot .label") == [], "names would not be readable"
    assert browser.logged() == []


@pytest.mark.parametrize("view", VIEWS)
def test_tabs_and_addresses_open_views(view: str, browser: Page, small: Path) -> None:
    for step in ("tab", "address"):
        browser.open(small, "" if step == "tab" else f"#{view}")
        if step == "tab":
            browser.click(f"tab-{view}")
        shown = [element.get_attribute("id") for element in browser.all("main > section") if element.is_displayed()]
        assert shown == [f"view-{view}"]
        assert browser.one("nav [aria-selected=true]").get_attribute("id") == f"tab-{view}"


def test_the_overview_tells_cycles_bottleneck_and_longest_layers(page: Page) -> None:
    text = page.one("#view-overview").text
    assert "0.010 ms\n1,000 cycles at 100 MHz (an estimate)" in text
    assert "on the twin; the model is 9.1 % below\n0.011 ms\n1,100 cycles" in text
    assert "1 of 2 found: 2 of 5 operators, 1,500 of 2,000 multiply-accumulates" in text
    assert "the concurrent program takes 76.9 % of them" in text
    assert page.texts("#view-overview table .hot") == ["array", "80.0 %, busiest", "array", "54.5 %, busiest"]
    busiest = "array, busy 80.0 % of the time, mostly waiting for copies over dma and flash"
    assert page.texts("#bottleneck h2") == [f"Bottleneck: {busiest}"]
    page.all("#longest .link")[0].click()
    assert page.texts("#details h2") == ["dense"]


def test_the_overview_breaks_down_what_regions_and_units_run(page: Page, browser: Page, tmp_path: Path) -> None:
    rows = page.texts("#offload-regions tbody tr")
    assert rows == [
        "convarray164,0001.0 KiB464 bytes512 bytes400400",
        "densearray12,0001.0 KiB464 bytes512 bytes400480",
    ]
    assert [row[:4] for row in page.texts("#offload-units tbody tr")] == ["arra", "core", "host"]
    assert "cycles, twin" in page.one("#offload-units").text
    browser.open(write_page({**small_report(), "regions": []}, tmp_path / "report.html"))
    assert not browser.all("#offload")


@pytest.mark.parametrize("plot", ["timeline", "memory"])
def test_zoom_and_pan(plot: str, page: Page) -> None:
    page.click(f"tab-{plot}")
    drawing = f"#{plot}-plot"
    whole = span(page, drawing)
    page.click(f"{plot}-in")
    start, end = span(page, drawing)
    assert end - start == pytest.approx((whole[1] - whole[0]) / 2, abs=2)
    page.click(f"{plot}-right")
    assert span(page, drawing)[0] > start
    page.click(f"{plot}-left")
    assert span(page, drawing) == (start, end)
    page.click(f"{plot}-out")
    assert span(page, drawing) == whole
    page.wheel(drawing, -100)
    start, end = span(page, drawing)
    assert end - start < whole[1]
    page.drag(drawing, 40)
    assert span(page, drawing)[0] < start
    page.drag(drawing, -40)
    assert span(page, drawing)[0] == pytest.approx(start, abs=3)
    page.wheel(drawing, 100)
    page.click(f"{plot}-all")
    assert span(page, drawing) == whole
    assert not page.all("#details:not([hidden])"), "dragging chooses nothing"


def test_keys_zoom_and_pan_the_open_view(page: Page) -> None:
    page.click("tab-timeline")
    whole = span(page, "#timeline-plot")
    page.keys("+")
    start, end = span(page, "#timeline-plot")
    assert end - start < whole[1]
    page.keys(Keys.ARROW_RIGHT)
    assert span(page, "#timeline-plot")[0] > start
    page.keys(Keys.ARROW_LEFT)
    assert span(page, "#timeline-plot") == (start, end)
    page.keys("-")
    assert span(page, "#timeline-plot") == whole
    page.keys("++0")
    assert span(page, "#timeline-plot") == whole
    page.keys("+")
    page.click("tab-memory")
    assert span(page, "#memory-plot") == (0, 1000), "a view that is not open stays"


def test_the_timeline_switches_between_modelled_and_twin(page: Page) -> None:
    page.click("tab-timeline")
    assert page.texts("#timeline-plot .hot") == ["array", "54.5 %, busiest"]
    assert span(page, "#timeline-plot") == (0, 1100)
    page.choose("timeline-source", "modelled")
    assert page.texts("#timeline-plot .hot") == ["array", "80.0 %, busiest"]
    busy = page.texts("#timeline-plot .lane-busy")
    assert busy == ["20.0 % busy", "30.0 % busy", "80.0 %, busiest", "40.0 % busy", "45.0 % busy"]
    page.choose("timeline-source", "both")
    assert len(page.texts("#timeline-plot .lane-busy")) == 12
    assert {"modelled: 1,000 cycles", "twin: 1,100 cycles"} <= set(page.texts("#timeline-plot text"))


def test_waits_have_no_words_and_are_thin(page: Page) -> None:
    page.click("tab-timeline")
    assert not [text for text in page.texts("#timeline-plot .label") if "wait" in text]
    assert [text for text in page.texts("#timeline-plot .label") if "kernel of" in text]
    waits = [mark for mark in page.all("#timeline-plot .mark") if mark.get_attribute("height") == "6"]
    assert len(waits) == 2
    assert page.hover(waits[0]).startswith("wait for array\n880 cycles, 210 to 1,090")


def test_a_line_tells_the_cycle_below_the_pointer(page: Page) -> None:
    page.click("tab-timeline")
    assert page.one("#timeline-plot .cursor").get_attribute("visibility") == "hidden"
    page.hover(page.all("#timeline-plot .mark[data-layer='2']")[0])
    assert page.one("#timeline-plot .cursor").get_attribute("visibility") == "visible"
    words = page.texts("#timeline-plot .cursor text")[0]
    cycle = int(words.removeprefix("cycle ").split(" ")[0].replace(",", ""))
    assert cycle == pytest.approx((210 + 510) / 2, abs=3) and "ms)" in words


def test_a_layer_is_chosen_in_all_views(page: Page) -> None:
    page.click("tab-layers")
    page.one("#layers-table tr[data-layer='1']").click()
    details = page.one("#details").text
    assert "64,000" not in details and "320" not in details  # not the table's row again
    assert "400 cycles (200 to 600): compute 300, transfer 100" in details
    assert "400 cycles; model error against the twin: 0.0 %" in details
    assert "array 350, dma 50" in details and "K 0 to 11" in details
    assert page.texts("#details tbody tr:last-child td")[:3] == ["host", "host_conv", "4,010"]
    for view in ("timeline", "memory", "network", "layers"):
        page.click(f"tab-{view}")
        marked = set(page.data(f"#view-{view} .chosen", "layer"))
        assert "1" in marked, view
    assert page.data("#layers-table .related", "layer") == ["2"], "the other share"
    assert set(page.data("#timeline-plot .related", "layer")) == {"2"}
    assert page.data("#roofline .chosen", "layer") == ["1"]
    page.keys(Keys.ESCAPE)
    assert not page.one("#details").is_displayed()
    for view in ("timeline", "memory", "network", "layers"):
        page.click(f"tab-{view}")
        assert page.data(f"#view-{view} .chosen", "layer") == [], view


@pytest.mark.parametrize("view", ["timeline", "memory", "network", "layers"])
def test_details_lead_to_every_view(view: str, page: Page) -> None:
    page.click("tab-layers")
    page.one("#layers-table tr[data-layer='4']").click()
    page.click(f"details-{view}")
    assert page.one(f"#view-{view}").is_displayed()
    assert page.data(f"#view-{view} .chosen", "layer")
    if view == "timeline":
        assert span(page, "#timeline-plot") == (380, 1100), "zoomed to it"
    page.click("details-close")
    assert not page.one("#details").is_displayed()


def test_marks_of_drawings_choose_their_layer(page: Page) -> None:
    page.click("tab-timeline")
    page.all("#timeline-plot .mark[data-layer='2']")[0].click()
    assert "core, as core_conv" in page.one("#details").text
    page.click("tab-network")
    page.one("#network-plot .node[data-layer='4']").click()
    assert page.texts("#details h2") == ["dense"]
    page.click("tab-memory")
    page.all("#memory-plot .mark[data-layer='0']")[0].click()
    assert page.texts("#details h2") == ["quantise"]
    page.click("tab-layers")
    page.one("#roofline [data-layer='4']").click()
    assert page.texts("#details h2") == ["dense"]


def test_rectangles_tell_tensor_node_unit_and_lifetime(page: Page) -> None:
    page.click("tab-memory")
    boxes = page.all("#memory-plot .mark")
    assert len(boxes) == 3
    tip = page.hover(boxes[0])
    assert tip.startswith("image_tensor\n2,048 bytes at 0\nalive in cycles 0 to 600\nactivation image")
    assert "made by quantise on host" in tip and "ONNX nodes: quantise" in tip and "swap: image to" in tip
    assert page.texts("#memory-plot .hot") == ["peak 4,096 bytes alive"]
    facts = page.one("#memory-facts").text
    assert "16,384 bytes of 65,536 used: 6,144 for buffers" in facts and "8,192 for constants" in facts
    assert "2,048 for inputs and outputs" in facts and "from cycle 200 to 600" in facts
    bands = page.all("#memory-plot .band")
    assert [page.hover(band) for band in bands] == [
        "arena: 6,144 of 65,536 bytes (9.4 %)",
        "constants: 8,192 of 65,536 bytes (12.5 %)",
        "caller's: 2,048 of 65,536 bytes (3.1 %)",
    ]


def test_every_memory_can_be_looked_at(page: Page) -> None:
    page.click("tab-memory")
    page.choose("memory-level", "l1")
    boxes = page.all("#memory-plot .mark")
    assert len(boxes) == 6 and "buffer 2 of 2 of conv" in page.hover(boxes[2])
    page.choose("memory-level", "l3")
    assert "image_stored_tensor" in page.hover(page.one("#memory-plot .mark"))


def test_the_network_zooms_pans_and_hides_what_only_converts(page: Page) -> None:
    page.click("tab-network")
    assert page.one("#network-count").text == "4 of 8 nodes"
    assert set(page.texts("#network-plot .label")) == {"input image", "Conv conv", "Gemm dense", "output scores"}
    page.click("network-brief")
    assert page.one("#network-count").text == "8 of 8 nodes"
    assert page.one("#network-plot .node[data-node='3']").get_attribute("fill") == "#7fbf7b", "the unit of most work"
    assert "folded, or" in page.hover(page.one("#network-plot .node[data-node='1']"))
    assert page.hover(page.all("#network-plot .edge")[0]) == "t0: int8 1 x 8"

    def state() -> tuple[float, float, float]:
        return tuple(float(page.data("#network-plot", name)[0]) for name in ("x", "y", "scale"))  # type: ignore[return-value]

    before = state()
    page.click("network-in")
    assert state()[2] == pytest.approx(before[2] * 1.4, abs=0.01)
    page.click("network-out")
    assert state() == pytest.approx(before, abs=1.1)
    page.wheel("#network-plot", -100)
    assert state()[2] > before[2]
    moved = state()
    page.drag("#network-plot", 120, 40)
    assert state()[0] < moved[0] and state()[1] < moved[1]
    page.keys(Keys.ARROW_DOWN)
    page.keys("-+0")
    assert state()[2] == 1.0
    page.one("#network-plot .node[data-node='5']").click()
    page.drag("#network-plot", 0, -300)
    away = state()
    page.click("network-find")
    assert state() != away and page.data("#network-plot .chosen", "layer") == ["4"]


def test_layers_are_sorted_and_filtered(page: Page) -> None:
    page.click("tab-layers")

    def shown() -> list[str]:
        return page.data("#layers-table tbody tr", "layer")

    assert shown() == ["0", "1", "2", "4"]
    page.click("sort-twin_cycles")
    assert shown() == ["4", "1", "2", "0"]
    page.click("sort-twin_cycles")
    assert shown() == ["0", "2", "1", "4"]
    page.click("sort-rate")
    assert shown() == ["1", "2", "4", "0"], "a layer without MACs comes last"
    page.click("sort-rate")
    assert shown() == ["4", "2", "1", "0"]
    page.click("sort-title")
    assert shown() == ["1", "2", "4", "0"]
    page.write("layers-filter", "CONV")
    assert shown() == ["1", "2"] and page.one("#layers-count").text == "2 of 4 layers"
    page.choose("layers-unit", "core")
    assert shown() == ["2"]
    page.write("layers-filter", "")
    assert shown() == ["2"]
    page.choose("layers-unit", "")
    assert len(shown()) == 4
    assert "the cycles that the twin counted" in page.one("#layers-note").text


def test_the_roofline_shows_roofs_and_tells_positions(page: Page) -> None:
    page.click("tab-layers")
    texts = page.texts("#roofline text")
    assert {"array: 213.33 MAC/cycle", "core: 53.33 MAC/cycle"} <= set(texts)
    assert {"dma: 8.00 bytes/cycle", "flash: 1.00 bytes/cycle"} <= set(texts)
    tip = page.hover(page.one("#roofline [data-layer='4']"))
    assert "4.17 MAC/cycle, 1.00 MAC/byte" in tip and "52.1 % of the limit of dma" in tip


def test_refusals_are_filtered(page: Page) -> None:
    page.click("tab-refusals")
    assert page.texts("#refusals-list .name") == ["conv", "dense"], "the node with the most cycles comes first"
    assert not page.all("#refusals-list table"), "closed"
    page.write("refusals-filter", "3 X 3")
    assert page.texts("#refusals-list .name") == ["dense"]
    assert page.one("#refusals-list table").is_displayed(), "the only match is open"
    assert page.texts("#refusals-list tbody td") == ["array", "conv", "the kernel is 3 x 3", "1 x 1"]
    assert page.one("#refusals-count").text == "1 of 2 nodes, 2 refused places in all"
    page.one("#refusals-list .links .link").click()
    assert page.texts("#details h2") == ["dense"]
    page.click("refusals-close")
    assert not page.one("#refusals-list table").is_displayed()


def test_a_report_without_a_twin(browser: Page, tmp_path: Path) -> None:
    browser.open(write_page({**small_report(), "measured": None}, tmp_path / "report.html"), "#timeline")
    assert [option.text for option in browser.all("#timeline-source option")] == ["modelled"]
    browser.click("tab-layers")
    assert not browser.all("#sort-twin_cycles")
    assert "run match report with --twin" in browser.one("#layers-note").text
    browser.one("#layers-table tr[data-layer='1']").click()
    assert "twin" not in browser.one("#details").text
    assert browser.logged() == []


def test_names_are_text_in_every_view(browser: Page, tmp_path: Path) -> None:
    """Names that are markup, in every place a model file can put one."""
    browser.open(write_page(renamed(small_report(), lambda name: f"{MARKUP}{name}"), tmp_path / "report.html"))
    for view in VIEWS:
        browser.click(f"tab-{view}")
    browser.click("tab-network")
    assert MARKUP in browser.hover(browser.all("#network-plot .node")[1])
    browser.click("tab-layers")
    browser.one("#layers-table tr[data-layer='1']").click()
    assert MARKUP in browser.texts("#details h2")[0]
    assert browser.run("return document.injected === undefined")
    assert len(browser.all("script")) == 3 and not browser.all("img")
    assert browser.logged() == []


def test_names_of_a_hostile_model_are_text(browser: Page, tmp_path: Path) -> None:
    """Ends of comments and quotes, control characters, names of thousands of characters: the page stays usable."""
    names = cycle(HOSTILE)
    browser.open(write_page(renamed(small_report(), lambda _: next(names)), tmp_path / "report.html"))
    for view in VIEWS:
        browser.click(f"tab-{view}")
    browser.click("tab-layers")
    browser.one("#layers-table tr[data-layer='1']").click()
    assert browser.texts("#details h2")[0] in HOSTILE
    wide = browser.run("return document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, "no name makes the page wider than the window"
    assert browser.logged() == []


def test_the_policy_stops_scripts_that_are_put_in(page: Page) -> None:
    page.run("document.body.append(Object.assign(document.createElement('script'), {text: 'document.injected = 1'}))")
    page.run(
        "document.body.insertAdjacentHTML('beforeend', arguments[0])", "<img src=x onerror='document.injected = 1'>"
    )
    page.run("return fetch('http://localhost:9/').catch(() => 0)")
    assert page.run("return document.injected === undefined")
    blocked = page.logged()
    assert len(blocked) >= 3 and all("Content Security Policy" in message for message in blocked)
