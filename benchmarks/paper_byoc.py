"""The paper of BYOC (arXiv 2105.03215): what a package costs to write, and what a library gets of a network."""

from __future__ import annotations

from match_core.pipeline import CompileRequest, build_program
from match_core.plugin.facade import Plugins

from benchmarks.dnnl import STORED, offloaded
from benchmarks.paper_rows import Row, Section
from benchmarks.runs import MODELS
from benchmarks.tables import ROOT

#: Packages of a chip or a library.
PACKAGES = ("match-dnnl", "match-gap9", "match-carfield", "match-ita", "match-diana")
WORDS = "a few thousand"
PLATFORM = "stacks of several vendors"


def lines_of_code(package: str) -> int:
    """Lines of a package's sources that are neither empty nor only a comment; the tests, the simulated twin's C
    and the runtime of the chip are not compiler code and count too, since a vendor writes them."""
    sources = (ROOT / "plugins" / package / "src").rglob("*")
    kinds = {".py": "#", ".c": "//", ".h": "//", ".mako": "##"}
    chosen = (path for path in sources if path.suffix in kinds)
    return sum(
        bool(line.strip()) and not line.strip().startswith(kinds[path.suffix])
        for path in chosen
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def byoc(plugins: Plugins) -> Section:
    """Lines of code by package; operators and products that go to oneDNN by network."""
    rows = [
        Row(f"{package}, lines of code", lines_of_code(package), "counted", None, PLATFORM, "abstract", ",d", words=WORDS)
        for package in PACKAGES
    ]
    return Section(
        "BYOC: lines of code",
        "make paper",
        tuple(rows),
        (
            "the breakdown of what is offloaded, and lines by vendor: their figures are in no source that we have. What "
            "oneDNN gets of our networks is in [match-dnnl](../plugins/match-dnnl/README.md#measured).",
        ),
        "Sources of a package without empty lines and comments: rules, costs, code templates, the chip's runtime, the twin.",
    )
