"""``python -m tests.report.speed [report.html ...]``: bytes of pages, and milliseconds until they can be used, in
headless Chromium; without arguments, of a generated network of 200 layers."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from match_report.render import write_report

from tests.report.browser import MISSING, Page, chromium, has_chromium
from tests.report.documents import deep_report

TIMES = """
const [page] = performance.getEntriesByType("navigation"), [mark] = performance.getEntriesByName("interactive");
return [page.domInteractive, mark.startTime];
"""


def measure(page: Page, report: Path) -> str:
    """The best of five times, from the start of loading: the document is parsed; every control can be used."""
    times = []
    for _ in range(5):
        page.open(report)
        times.append(page.run(TIMES))
    parsed, usable = (min(values) for values in zip(*times, strict=True))
    return f"{report}: {report.stat().st_size:,} bytes, parsed in {parsed:.0f} ms, usable in {usable:.0f} ms"


def main(paths: list[str]) -> int:
    """Print one line per page; 1 where there is no browser."""
    if not has_chromium():
        sys.stderr.write(f"{MISSING}\n")
        return 1
    with tempfile.TemporaryDirectory() as folder, chromium() as page:
        if not paths:
            write_report(deep_report(), Path(folder))
            paths = [f"{folder}/report.html"]
        for path in paths:
            sys.stdout.write(f"{measure(page, Path(path).resolve())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
