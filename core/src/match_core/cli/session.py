"""What verbs do around library calls: load plugins, keep libraries' output away from stdout, report faults once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from match_core.cli.terminal import Terminal, library_output
from match_core.contract.errors import PluginError

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins


@contextmanager
def plugin_session(terminal: Terminal) -> Iterator[Plugins]:
    """Load the plugins, run the body, then warn in a line of each package with faults, unless one ended the body."""
    from match_core.plugin.facade import Plugins
    from match_core.plugin.records import by_package

    with library_output():
        plugins = Plugins.load()
        reported = ""
        try:
            yield plugins
        except PluginError as error:
            reported = error.why
            raise
        finally:
            for first, *others in by_package(plugins.faults):
                if not reported or not any(reported in fault.cause for fault in (first, *others)):
                    terminal.warning(first.line(others))
