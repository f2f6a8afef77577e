"""``python -m tests.report.screenshots``: compile the demo network, run it on the twin, compare it with a program that
does not use NE16, and take the pictures of its report that docs/report.md shows (docs/images)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_report.diff import diff_programs
from match_report.read import read_report
from match_report.render import write_report
from match_report.twin_run import with_measured
from match_report.view.comparison import comparison

from tests.conftest import ROOT
from tests.report.browser import MISSING, Page, chromium, has_chromium

IMAGES = ROOT / "docs" / "images"
MODEL = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
WIDTH = 1100
#: View -> height of the picture, id of the layer that is chosen (None: none).
VIEWS: dict[str, tuple[int, int | None]] = {
    "overview": (1000, None),
    "timeline": (720, None),
    "memory": (680, None),
    "network": (680, 6),
    "layers": (860, None),
    "refusals": (620, None),
    "compare": (860, None),
}
#: Further pictures: view, width, height, theme.
MORE = {"dark": ("timeline", WIDTH, 720, "dark"), "narrow": ("overview", 400, 820, "light")}


def take(page: Page, report: Path, view: str) -> Path:
    """The picture of one view."""
    height, chosen = VIEWS[view]
    page.resize(WIDTH, height)
    page.open(report, f"#{view}")
    if view == "refusals":
        page.all("#refusals-list summary")[0].click()
    if view == "timeline":
        page.choose("timeline-source", "both")
    if chosen is not None:
        page.click("tab-layers")
        page.one(f"#layers-table tr[data-layer='{chosen}']").click()
        page.click(f"details-{view}")
    target = IMAGES / f"report-{view}.png"
    page.driver.save_screenshot(str(target))
    return target


def take_more(page: Page, report: Path, name: str) -> Path:
    """A picture of another window or theme."""
    view, width, height, theme = MORE[name]
    page.resize(width, height)
    page.theme(theme)
    page.open(report, f"#{view}")
    target = IMAGES / f"report-{name}.png"
    page.driver.save_screenshot(str(target))
    return target


def main() -> int:
    """Take all pictures; 1 where there is no browser."""
    if not has_chromium():
        sys.stderr.write(f"{MISSING}\n")
        return 1
    plugins = Plugins.load()
    with tempfile.TemporaryDirectory() as folder, chromium() as page:
        before, after = Path(folder) / "before", Path(folder) / "after"
        compile_model(CompileRequest(MODEL, "gap9", before, without_units=("ne16",)), plugins)
        compile_model(CompileRequest(MODEL, "gap9", after), plugins)
        compared = comparison(read_report(before), read_report(after), diff_programs(before, after))
        write_report(with_measured(read_report(after), after, None, plugins), Path(folder), compared)
        report = Path(folder) / "report.html"
        IMAGES.mkdir(exist_ok=True)
        pictures = [*(take(page, report, view) for view in VIEWS), *(take_more(page, report, name) for name in MORE)]
        for picture in pictures:
            sys.stdout.write(f"{picture.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
