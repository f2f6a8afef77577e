"""The paper of BYOC (arXiv 2105.03215): what a package costs to write, and what a library gets of a network."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

from benchmarks.dnnl import STORED, models, offloaded
from benchmarks.paper_rows import Row, Section
from benchmarks.tables import ROOT

#: Packages of a chip or a library.
PACKAGES = ("match-dnnl", "match-gap9", "match-carfield", "match-ita", "match-diana")
#: The compiler's side of a package, by suffix, and what begins a comment.
COMPILER = {".py": "#", ".mako": "##"}
WORDS = "a few thousand"
VENDORS = "integrations of several vendors in TVM"
#: The detector has operators that the library lacks.
NETWORKS = (*STORED, "detector_320")


def lines_of_code(package: str) -> int:
    """Lines of a package's Python and templates that are neither empty nor only a comment. Not the C: the chip's
    runtime and the twin are no code of the compiler."""
    sources = (ROOT / "plugins" / package / "src").rglob("*")
    return sum(
        bool(line.strip()) and not line.strip().startswith(COMPILER[path.suffix])
        for path in sources
        if path.suffix in COMPILER
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def byoc(plugins: Plugins) -> Section:
    """Lines of code by package; operators that go to oneDNN by network."""
    lines = (
        Row(f"{package}, lines", lines_of_code(package), "counted", None, VENDORS, "abstract", ",d", words=WORDS)
        for package in PACKAGES
    )
    return Section(
        "BYOC: lines of code, and what is offloaded",
        "make paper",
        (*lines, *_offloaded(plugins)),
        ("its figures of offloaded operators and of lines by vendor: none of our sources states them.",),
        "Lines of Python and templates of a package, without empty lines and comments. Offloaded: the share of "
        "operators that run on oneDNN when every region that it supports goes there (`--regions largest`). What the "
        "compiler chooses by cost is in [match-dnnl](../plugins/match-dnnl/README.md#measured).",
    )


def _offloaded(plugins: Plugins) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="match-paper-") as work:
        for name, path in models(NETWORKS, Path(work)):
            request = CompileRequest(path, "dnnl", regions="largest")
            found = offloaded(compile_model(request, plugins).compilation)
            share, what = found.nodes / found.nodes_total, f"{name}, operators on oneDNN"
            yield Row(what, share, "counted", None, VENDORS, "evaluation", ".0%", words="no source")
