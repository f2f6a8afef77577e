"""Where there is no browser: tests of the page are skipped, but in CI that is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.browser import has_chromium


def test_a_missing_browser_is_an_error_in_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    assert not has_chromium()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(RuntimeError, match="apt-get install chromium chromium-driver"):
        has_chromium()
