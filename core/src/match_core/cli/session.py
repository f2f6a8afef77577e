"""What every verb does around its library call: plugins loaded, library prints kept off stdout, faults told
once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from match_core.cli.terminal import Terminal, library_output
from match_core.errors import PluginError

if TYPE_CHECKING:
    from match_core.plugin.host import Plugins


@contextmanager
def plugin_session(terminal: Terminal) -> Iterator[Plugins]:
    """Load the plugins, run the body, then warn of every fault that was met, except the one that ended the
    body."""
    from match_core.plugin.host import Plugins

    with library_output():
        plugins = Plugins.load()
        told = ""
        try:
            yield plugins
        except PluginError as error:
            told = error.why
            raise
        finally:
            for fault in plugins.faults:
                if fault.cause != told:
                    terminal.warning(str(fault))
