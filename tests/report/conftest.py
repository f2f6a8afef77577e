"""One browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.report.browser import Page, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Page]:
    with chromium() as page:
        yield page


@pytest.fixture
def wide(browser: Page) -> Iterator[Page]:
    """The browser; afterwards its window and theme are as before."""
    yield browser
    browser.resize(1300, 900)
    browser.theme("light")
