"""``python -m match_core.testing PACKAGE [PROJECT]``: all cases, one JSON object a line for each outcome."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from match_core.testing.findings import ask
from match_core.testing.levels import PACKAGE_CASES, TARGET_CASES
from match_core.testing.packages import capabilities_of
from match_core.testing.subject import subjects_of


def main(package: str, project: str = "") -> None:
    """Ask all cases of an installed package. Where it does not load, nothing is asked of its targets."""
    stdout, sys.stdout = sys.stdout, sys.stderr  # what libraries and packages print is no result
    subject, *targets = subjects_of(capabilities_of(package), project=Path(project) if project else None)
    pairs = [(case, subject) for case in PACKAGE_CASES]
    pairs += [(case, target) for target in targets for case in TARGET_CASES]
    for case, about in pairs:
        stdout.write(json.dumps(ask(case, about).as_json()) + "\n")
        stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
