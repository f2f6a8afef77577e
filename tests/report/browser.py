"""Headless Chromium for the tests of the page and for its pictures (Debian: chromium, chromium-driver)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium.webdriver import ActionChains, Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

MISSING = "no Chromium on this machine: apt-get install chromium chromium-driver"
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # tests may run as root in a container
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)


def has_chromium() -> bool:
    """Whether the browser and its driver are installed; an error in CI where they are not."""
    found = shutil.which("chromium") is not None and shutil.which("chromedriver") is not None
    if not found and os.environ.get("CI"):
        raise RuntimeError(MISSING)
    return found


@dataclass(frozen=True)
class Page:
    """A page in the browser; all elements are found by id or by CSS."""

    driver: Chrome

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file, and forget what was logged before."""
        self.driver.get("about:blank")  # a fragment alone does not load a page again
        self.logged(), self.requests()
        self.driver.get(f"{path.as_uri()}{fragment}")
        self._wait().until(lambda _: self.run("return performance.getEntriesByName('interactive').length"))

    def resize(self, width: int, height: int) -> None:
        """Make what is seen of a page so large, in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def theme(self, name: str) -> None:
        """What the system prefers: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        # Pages learn it when they are drawn next.
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def logged(self) -> list[str]:
        """What the console got since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call] # selenium has no type here

    def requests(self) -> list[str]:
        """Addresses asked for since the last call."""
        entries = self.driver.get_log("performance")  # type: ignore[no-untyped-call] # as above
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def run(self, script: str, *arguments: object) -> Any:
        """The value of a script that returns one."""
        return self.driver.execute_script(script, *arguments)

    def go(self, fragment: str) -> None:
        """Follow a link within the page, and wait until the page has heard of it."""
        self.driver.execute_async_script(
            "const [fragment, done] = arguments;"
            "window.addEventListener('hashchange', () => setTimeout(done), {once: true});"
            "window.location.hash = fragment;",
            fragment,
        )

    def all(self, css: str) -> list[WebElement]:
        """Elements in document order."""
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        """The only such element, once the page has it: some events, such as ``toggle``, come after the key."""
        (element,) = self._wait().until(lambda _: self.all(css))
        return element

    def click(self, name: str) -> None:
        """Press what has this id."""
        self.driver.find_element(By.ID, name).click()

    def choose(self, name: str, value: str) -> None:
        """Take an option of a select."""
        Select(self.driver.find_element(By.ID, name)).select_by_value(value)

    def write(self, name: str, text: str) -> None:
        """Replace what stands in an input."""
        field = self.driver.find_element(By.ID, name)
        field.clear()
        field.send_keys(text or " \b")

    def texts(self, css: str) -> list[str]:
        """Text of elements, of SVG too."""
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((element) => element.textContent)", css
        )
        return found

    def data(self, css: str, name: str) -> list[str]:
        """An attribute ``data-NAME`` of elements."""
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.dataset[arguments[1]])"
        found: list[str] = self.run(script, css, name)
        return found

    def hover(self, element: WebElement) -> str:
        """What the tip says of an element."""
        ActionChains(self.driver, duration=0).move_to_element(element).perform()
        return self.texts("#tip:not([hidden])")[0]

    def wheel(self, css: str, pixels: int) -> None:
        """Turn the wheel over the middle of an element."""
        origin = ScrollOrigin.from_element(self.one(css))
        ActionChains(self.driver, duration=0).scroll_from_origin(origin, 0, pixels).perform()

    def drag(self, css: str, right: int, down: int = 0) -> None:
        """Press in the middle of an element, move, and let go."""
        actions = ActionChains(self.driver, duration=10)
        actions.move_to_element(self.one(css)).click_and_hold().move_by_offset(right, down).release().perform()

    def keys(self, text: str) -> None:
        """Press keys with nothing in focus."""
        self.run("document.activeElement.blur()")
        self.press(text)

    def press(self, text: str) -> None:
        """Press keys where the focus is."""
        ActionChains(self.driver, duration=0).send_keys(text).perform()

    def _wait(self) -> WebDriverWait[Chrome]:
        return WebDriverWait(self.driver, 20, poll_frequency=0.02)

    def focus(self) -> str:
        """The id, else the text, of what has the focus."""
        found: str = self.run("const e = document.activeElement; return e.id || e.textContent")
        return found


@contextmanager
def chromium(width: int = 1300, height: int = 900) -> Iterator[Page]:
    """A browser with an empty profile that resolves no name."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"
    for argument in (*_ARGUMENTS, rules, f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))
    try:
        yield Page(driver)
    finally:
        driver.quit()
