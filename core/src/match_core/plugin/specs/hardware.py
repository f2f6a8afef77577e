# mypy: disable-error-code="empty-body"
"""Which units and systems on chip exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.hardware import Hardware


@hookspec
def match_hardware() -> Hardware:
    """Declare the units and the systems on chip that this package defines.

    Called: once per process, when a target is first requested or listed.

    Arguments: none.

    Returns: a Hardware. Its units need not be used by its own Socs, and a Soc may name units of other
        packages. Names are lower-case C identifiers; they appear in file names, in symbols and on the command
        line.

    Several answers: merged by name. Two packages that define the same unit or Soc name clash: the name is
        withdrawn, and requesting a target that requires it is an error that names both.

    Nobody answers: there is no target to compile for.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_hardware() -> Hardware:
            return Hardware(units=(MYNPU,), socs=(MYCHIP,))
    """
