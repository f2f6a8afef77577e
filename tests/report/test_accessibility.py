"""The page for everybody: a checker finds nothing, the keyboard reaches everything, narrow windows hold it."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from match_report.diff import diff_programs
from match_report.read import read_report
from match_report.render import write_report
from match_report.view.comparison import comparison
from selenium.webdriver.common.keys import Keys

from tests.errors.models import HOSTILE
from tests.report.browser import MISSING, Page, has_chromium
from tests.report.documents import renamed, small_report, write_page, write_programs

pytestmark = pytest.mark.skipif(not has_chromium(), reason=MISSING)
VIEWS = ("overview", "timeline", "memory", "network", "layers", "refusals", "compare")
RULES = """
const done = arguments[0];
axe.run({resultTypes: ["violations"]}).then((found) => done(found.violations.map((rule) =>
  `${rule.impact} ${rule.id}: ${rule.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`)));
"""
#: Words of drawings, which the checker leaves out: those that are hard to read (WCAG 1.4.3), with their contrast.
FAINT = """
const light = (colour) => {
  const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255);
  const [r, g, b] = parts.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
  const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
};
const below = (text) => {
  const mark = text.previousElementSibling, svg = text.closest("svg"), tint = svg.querySelector(".bottleneck, .peak");
  const within = text.matches(".label:not(.on-faded, .on-page)") && mark && mark.tagName === "rect";
  if (within) return getComputedStyle(mark).fill;
  return tint && text.matches(".hot") ? getComputedStyle(tint).fill : getComputedStyle(svg).backgroundColor;
};
return [...document.querySelectorAll("svg text")]
  .filter((text) => text.getClientRects().length && text.textContent)
  .map((text) => [text.textContent, contrast(getComputedStyle(text).fill, below(text)), getComputedStyle(text).stroke])
  .filter(([, part, stroke]) => part < 4.5 || stroke !== "none");
"""
WIDER = "return document.documentElement.scrollWidth - window.innerWidth"


@cache
def checker() -> str:
    """The script of axe-core; the checks are skipped where it is not installed, except in CI."""
    if find_spec("axe_playwright_python") is None:
        if os.environ.get("CI"):
            raise RuntimeError("pip install -r requirements-dev.txt")
        pytest.skip("axe-core is not installed: pip install -r requirements-dev.txt")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def everything(folder: Path) -> Path:
    """The page of a report with all views, measurements and files."""
    before, after = write_programs(folder)
    compared = comparison(read_report(before), read_report(after), diff_programs(before, after))
    report: dict[str, Any] = small_report()
    report["fallbacks"] = [
        {"cause": "rule", "cycles": 200, "share": 0.2, "unit": "array", "onnx_names": ["quantise"]}
        | {"rule": "values are 8-bit", "value": "they are float32", "help": ["match explain small.onnx quantise"]}
    ]
    write_report(report, folder, compared)
    return folder / "report.html"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return everything(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (400, "dark")])
def test_a_checker_finds_nothing(width: int, theme: str, wide: Page, whole: Path) -> None:
    wide.resize(width, 900)
    wide.theme(theme)
    wide.open(whole)
    wide.run(checker())
    for view in VIEWS:
        wide.click(f"tab-{view}")
        if view == "refusals":
            wide.click("refusals-open")
        if view == "layers":
            wide.one("#layers-table tr[data-layer='1']").click()
        assert wide.driver.execute_async_script(RULES) == [], view  # type: ignore[no-untyped-call] # selenium has no type here
        assert wide.run(FAINT) == [], view
        wide.click("details-close") if view == "layers" else None
    assert wide.logged() == []


def test_the_checks_find_something(wide: Page, whole: Path) -> None:
    """A page that is broken on purpose: a button without a name, words in the colour of the page."""
    wide.open(whole, "#timeline")
    wide.run("document.getElementById('timeline-find').textContent = ''")
    wide.run("document.getElementById('timeline-find').title = ''")
    wide.run("document.querySelector('#timeline-plot .soft').style.fill = '#cccccc'")
    wide.run(checker())
    (found,) = wide.driver.execute_async_script(RULES)  # type: ignore[no-untyped-call] # as above
    assert found.startswith("critical button-name")
    assert len(wide.run(FAINT)) == 1


@pytest.mark.parametrize("names", ["plain", "hostile"])
def test_a_narrow_window_holds_every_view(names: str, wide: Page, whole: Path, tmp_path: Path) -> None:
    words = cycle(HOSTILE)
    page = (
        whole if names == "plain" else write_page(renamed(small_report(), lambda _: next(words)), tmp_path / "r.html")
    )
    wide.resize(400, 800)
    wide.open(page)
    for tab in wide.all("nav [role=tab]"):
        tab.click()
        assert wide.run(WIDER) <= 0, tab.text
    wide.click("tab-layers")
    wide.one("#layers-table tr[data-layer='1'] button").click()
    assert wide.run(WIDER) <= 0
    assert wide.logged() == []


def test_the_keyboard_alone(browser: Page, whole: Path) -> None:
    browser.open(whole)
    browser.press(Keys.TAB)
    assert browser.focus() == "Skip to the report"
    browser.press(Keys.TAB + Keys.TAB)
    assert browser.focus() == "tab-overview", "after the button for dark mode"
    browser.press(Keys.ARROW_LEFT)
    assert browser.focus() == "tab-compare" and browser.one("#view-compare").is_displayed()
    browser.press(Keys.HOME + Keys.ARROW_RIGHT)
    assert browser.focus() == "tab-timeline" and browser.one("#view-timeline").is_displayed()
    browser.press("n")
    assert browser.texts("#details h2") == ["quantise"], "the first layer"
    browser.press("np" + Keys.ESCAPE)
    assert not browser.one("#details").is_displayed()
    browser.click("tab-layers")
    browser.run("document.getElementById('sort-macs').focus()")
    browser.press(Keys.ENTER)
    assert browser.data("#layers-table tbody tr", "layer") == ["1", "2", "4", "0"] and browser.focus() == "sort-macs"
    browser.run("document.querySelector('#layers-table tbody .link').focus()")
    browser.press(Keys.ENTER)
    assert browser.texts("#details h2") == ["conv"]
    browser.run("document.getElementById('details-close').focus()")
    browser.press(Keys.ENTER)
    assert browser.focus() == "conv", "the layer's link has the focus again"
    browser.go("#memory")
    assert browser.one("#view-memory").is_displayed(), "a link to a view, on the open page"
    browser.go("#views")
    assert browser.one("#view-memory").is_displayed(), "the link that skips the head"
    browser.click("tab-refusals")
    browser.run("document.querySelector('#refusals-list summary').focus()")
    browser.press(Keys.ENTER)
    assert browser.one("#refusals-list details[open] table").is_displayed()
    assert browser.logged() == []


def test_the_theme_follows_the_system_until_it_is_chosen(wide: Page, whole: Path) -> None:
    def back() -> str:
        return str(wide.run("return getComputedStyle(document.body).backgroundColor"))

    wide.theme("dark")
    wide.open(whole)
    dark = back()
    assert wide.one("#theme").text == "Light mode"
    wide.theme("light")
    assert back() == "rgb(255, 255, 255)" != dark and wide.one("#theme").text == "Dark mode"
    wide.click("theme")
    assert back() == dark
    wide.open(whole)
    assert back() == dark, "the choice lasts"
    wide.click("theme")
    assert back() == "rgb(255, 255, 255)"
    wide.run("localStorage.clear()")
    assert wide.logged() == []


def test_the_theme_works_without_storage(wide: Page, whole: Path) -> None:
    """Browsers may forbid storage to files: nothing is written to the console, and the button still works."""
    script = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
    added = wide.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        wide.open(whole)
        wide.click("theme")
        assert wide.one("#theme").text == "Light mode"
    finally:
        wide.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert wide.logged() == []
