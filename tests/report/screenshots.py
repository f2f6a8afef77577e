"""``python -m tests.report.screenshots``: compile the demo network, run it on the twin, and take the pictures of its
report that docs/report.md shows (docs/images)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_report.read import read_report
from match_report.twin_run import with_measured

from tests.conftest import ROOT
from tests.report.browser import MISSING, Page, chromium, has_chromium
from tests.report.documents import write_page

IMAGES = ROOT / "docs" / "images"
MODEL = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
WIDTH = 1100
#: View -> height of the picture, id of the layer that is chosen (None: none).
VIEWS: dict[str, tuple[int, int | None]] = {
    "overview": (640, None),
    "timeline": (620, None),
    "memory": (560, None),
    "network": (620, 6),
    "layers": (680, None),
    "refusals": (360, None),
}


def take(page: Page, report: Path, view: str) -> Path:
    """The picture of one view."""
    height, chosen = VIEWS[view]
    page.resize(WIDTH, height)
    page.open(report, f"#{view}")
    if view == "timeline":
        page.choose("timeline-source", "both")
    if chosen is not None:
        page.click("tab-layers")
        page.one(f"#layers-table tr[data-layer='{chosen}']").click()
        page.click(f"details-{view}")
    target = IMAGES / f"report-{view}.png"
    page.driver.save_screenshot(str(target))
    return target


def main() -> int:
    """Take all pictures; 1 where there is no browser."""
    if not has_chromium():
        sys.stderr.write(f"{MISSING}\n")
        return 1
    plugins = Plugins.load()
    with tempfile.TemporaryDirectory() as folder, chromium() as page:
        program = Path(folder) / "program"
        compile_model(CompileRequest(MODEL, "gap9", program), plugins)
        measured = with_measured(read_report(program), program, None, plugins)
        report = write_page(measured, Path(folder) / "report.html")
        IMAGES.mkdir(exist_ok=True)
        for view in VIEWS:
            sys.stdout.write(f"{take(page, report, view).relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
