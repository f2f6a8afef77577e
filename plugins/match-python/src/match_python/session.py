"""What every function does around its library call: load the plugins, and warn of those with faults."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from match_core.contract.observe import NullObserver

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins


class PluginWarning(UserWarning):
    """A package of match is not used, or only in part, because it has a fault."""


class Notes(NullObserver):
    """Collects what stages report in words."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        """One line, such as the range of images."""
        self.texts.append(text)


@contextmanager
def plugin_session() -> Iterator[Plugins]:
    """Load the plugins, run the body, then warn in one line of every package with faults. What libraries print goes to
    stderr."""
    from match_core.plugin.facade import Plugins
    from match_core.plugin.records import by_package

    with contextlib.redirect_stdout(sys.stderr):
        plugins = Plugins.load()
        yield plugins
    for first, *others in by_package(plugins.faults):
        warnings.warn(first.line(others), PluginWarning, stacklevel=4)
