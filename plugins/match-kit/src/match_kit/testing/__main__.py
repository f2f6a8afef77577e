"""``python -m match_kit.testing PACKAGE [PROJECT]``: run all cases, print one JSON object per line and outcome."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from match_kit.testing.findings import ask
from match_kit.testing.levels import PACKAGE_CASES, TARGET_CASES
from match_kit.testing.packages import capabilities_of
from match_kit.testing.subject import subjects_of


def main(package: str, project: str = "") -> None:
    """Run all cases on an installed package. If it does not load, the cases of its targets do not run."""
    stdout, sys.stdout = sys.stdout, sys.stderr  # output of libraries and packages is not a result
    subject, *targets = subjects_of(capabilities_of(package), project=Path(project) if project else None)
    pairs = [(case, subject) for case in PACKAGE_CASES]
    pairs += [(case, target) for target in targets for case in TARGET_CASES]
    for case, about in pairs:
        stdout.write(json.dumps(ask(case, about).as_json()) + "\n")
        stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
