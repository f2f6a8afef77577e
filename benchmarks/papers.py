"""Figures of the papers beside ours: ``make paper`` writes docs/papers.md.

Our figures are computed when this runs. Exit code 1 if one differs from the published one by more than 20 % and no
sentence says why.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from match_core.plugin.facade import Plugins

from benchmarks import paper_byoc, paper_ita, paper_match, paper_matcha
from benchmarks.paper_rows import Section, faults, page
from benchmarks.runs import MODELS, told
from benchmarks.tables import ROOT

PAGE = ROOT / "docs" / "papers.md"
INTRODUCTION = """# The papers' figures beside ours

`make paper` computes our figures and writes this page. It shows every figure of four papers that can be compared with
one of ours: MATCH (IEEE TCAD 2025, arXiv 2410.08855), MATCHA (arXiv 2604.09124), ITA in its cluster (IEEE Design & Test
42:5, 2025) and BYOC (arXiv 2105.03215). The papers' figures are those that the texts, abstracts and tables in our
sources state. Pictures without numbers are left out; each section says so.

**No figure of ours is from a chip**, and each row says where both figures come from:

- **measured on the simulator**: cycles of the open simulator GVSoC, which we did not write.
- **on the twin**: the emitted program ran, its outputs were checked, and its cycles are charged by our own figures.
- **modelled**: the compiler's prediction; the host has nothing else.
- **counted**: read from files.

A row that differs from the published figure by more than 20 %, in either direction, has a note that says why.
"""

SECTIONS: Mapping[str, Callable[[Plugins], Section]] = {
    "gap9": paper_match.gap9,
    "gap9-layers": lambda plugins: paper_match.gap9_layers(),
    "diana": paper_match.diana,
    "carfield_matcha": partial(paper_matcha.matcha, "carfield_matcha"),
    "carfield": partial(paper_matcha.matcha, "carfield"),
    "ita-tests": paper_ita.peaks,
    "ita-networks": paper_ita.networks,
    "byoc": paper_byoc.byoc,
}


def main(arguments: Sequence[str]) -> int:
    """Write the page; with ``--section`` print sections and write nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", choices=tuple(SECTIONS), action="append", help="print this one; may be repeated")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir():
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    plugins, sections = Plugins.load(), []
    for name in options.section or SECTIONS:
        sections.append(SECTIONS[name](plugins))
        told(f"{name}: {len(sections[-1].rows)} rows")
    if options.section:
        sys.stdout.write("\n".join(section.markdown() for section in sections))
    else:
        PAGE.write_text(page(INTRODUCTION, sections), encoding="utf-8")
    found = faults(sections)
    sys.stderr.write("".join(f"{fault}\n" for fault in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
