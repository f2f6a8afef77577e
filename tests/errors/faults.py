"""A distribution on the path whose plugin cannot be imported."""

from __future__ import annotations

from pathlib import Path

#: The name of the target that the package would define.
BROKEN = "broken"


def broken_plugin(folder: Path) -> Path:
    """Write module and dist-info below ``folder / "site"``, which is to be put on PYTHONPATH."""
    site = folder / "site"
    info = site / "match_broken-0.9.dist-info"
    info.mkdir(parents=True)
    (site / "match_broken.py").write_text('raise RuntimeError("this chip was never built")\n', encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: match-broken\nVersion: 0.9\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[match.plugins]\n{BROKEN} = match_broken\n", encoding="utf-8")
    return site
